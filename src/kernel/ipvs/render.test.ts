import { expect } from 'chai';
import { ipvs, real, server } from '../../../test/builders/kernel-states.ts';
import { ip, port } from '../../../test/builders/net.ts';
import type { IpvsStep } from './diff.ts';
import { renderIpvsState, renderIpvsStep, renderIpvsSteps } from './render.ts';
import type { VirtualServer } from './state.ts';

describe('kernel/ipvs/render', () => {
  it('writes a whole state as sorted lines, each server before its real servers', () => {
    const state = ipvs(
      server([], { protocol: 'SCTP', address: ip('10.96.0.16') }),
      server([real('fd00:180::1')], { address: ip('fd00::1') }),
      server([real('10.180.0.2'), real('10.180.0.1', { weight: 0 })], {
        address: ip('10.96.0.12'),
        persistenceSeconds: 10800,
      }),
      server([], {
        protocol: 'UDP',
        address: ip('10.96.0.11'),
        scheduler: 'mh',
        schedulerFlags: ['mh-port', 'mh-fallback'],
      }),
    );
    expect(renderIpvsState(state)).to.equal(
      `-A --sctp-service 10.96.0.16:80 -s rr
-A -t 10.96.0.12:80 -s rr -p 10800
-A -t [fd00::1]:80 -s rr
-A -u 10.96.0.11:80 -s mh -b mh-port,mh-fallback
-a -t 10.96.0.12:80 -r 10.180.0.1:8080 -m -w 0
-a -t 10.96.0.12:80 -r 10.180.0.2:8080 -m -w 1
-a -t [fd00::1]:80 -r [fd00:180::1]:8080 -m -w 1
`,
    );
  });

  it('writes nothing for nothing', () => {
    expect(renderIpvsState(new Map())).to.equal('');
    expect(renderIpvsSteps([])).to.equal('');
  });

  const services: readonly (readonly [string, Partial<VirtualServer>])[] = [
    ['-t 172.20.1.1:80', {}],
    ['-u 172.20.1.1:80', { protocol: 'UDP' }],
    ['--sctp-service 172.20.1.1:80', { protocol: 'SCTP' }],
    ['-t [fd00::1]:80', { address: ip('fd00::1') }],
    ['-u [fd00::1]:80', { protocol: 'UDP', address: ip('fd00::1') }],
    ['--sctp-service [fd00::1]:80', { protocol: 'SCTP', address: ip('fd00::1') }],
  ];
  const covered = new Set<string>();
  for (const [flags, given] of services) {
    const isIpv6 = flags.includes('[');
    const of = server([], { ...given, persistenceSeconds: 60 });
    const behind = real(isIpv6 ? 'fd00:180::1' : '10.180.0.1', { port: port(8443), weight: 3 });
    const backend = isIpv6 ? '[fd00:180::1]:8443' : '10.180.0.1:8443';
    const steps: readonly (readonly [IpvsStep, string])[] = [
      [{ kind: 'add-virtual-server', server: of }, `-A ${flags} -s rr -p 60`],
      [{ kind: 'edit-virtual-server', server: of }, `-E ${flags} -s rr -p 60`],
      [{ kind: 'delete-virtual-server', server: of }, `-D ${flags}`],
      [{ kind: 'add-real-server', server: of, real: behind }, `-a ${flags} -r ${backend} -m -w 3`],
      [{ kind: 'edit-real-server', server: of, real: behind }, `-e ${flags} -r ${backend} -m -w 3`],
      [{ kind: 'delete-real-server', server: of, real: behind }, `-d ${flags} -r ${backend}`],
    ];
    for (const [step, line] of steps) {
      it(`writes ${step.kind} of ${flags}`, () => {
        covered.add(`${step.kind} ${of.protocol} ${isIpv6 ? 'IPv6' : 'IPv4'}`);
        expect(renderIpvsStep(step)).to.equal(line);
      });
    }
  }

  it('has been seen to write six kinds of step for three protocols in both families', () =>
    expect(covered.size).to.equal(36));

  it('writes steps one a line, in their order', () => {
    const of = server();
    expect(
      renderIpvsSteps([
        { kind: 'delete-virtual-server', server: of },
        { kind: 'add-virtual-server', server: of },
      ]),
    ).to.equal('-D -t 172.20.1.1:80\n-A -t 172.20.1.1:80 -s rr\n');
  });

  it('leaves out scheduler flags that a reading did not tell', () => {
    const step: IpvsStep = {
      kind: 'edit-virtual-server',
      server: server([], { scheduler: 'sh', schedulerFlags: undefined }),
    };
    expect(renderIpvsStep(step)).to.equal('-E -t 172.20.1.1:80 -s sh');
  });

  const forwardings = { masquerade: '-m', route: '-g', tunnel: '-i', local: '-g', bypass: '-g' } as const;
  for (const [forwarding, flag] of Object.entries(forwardings)) {
    it(`asks for forwarding by ${forwarding} with ${flag}`, () => {
      const behind = real('10.180.0.1', { forwarding: forwarding as keyof typeof forwardings });
      expect(renderIpvsStep({ kind: 'edit-real-server', server: server(), real: behind })).to.equal(
        `-e -t 172.20.1.1:80 -r 10.180.0.1:8080 ${flag} -w 1`,
      );
    });
  }
});
