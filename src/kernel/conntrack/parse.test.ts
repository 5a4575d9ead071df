import { expect } from 'chai';
import { parseFlows } from './parse.ts';
import { flowEndKey } from './state.ts';

describe('kernel/conntrack/parse', () => {
  const flows: readonly (readonly [name: string, line: string, ends: string])[] = [
    [
      'a flow through a Service',
      'udp      17 119 src=192.168.0.200 dst=203.0.113.9 sport=40548 dport=80 src=10.180.2.11 dst=192.168.0.11 sport=8080 dport=40548 [ASSURED] mark=0 use=1',
      '203.0.113.9:80 < 10.180.2.11:8080',
    ],
    [
      'a flow without address translation that nobody has answered',
      'udp      17 29 src=10.180.1.12 dst=203.0.113.7 sport=51533 dport=80 [UNREPLIED] src=203.0.113.7 dst=10.180.1.12 sport=80 dport=51533 mark=0 use=1',
      '203.0.113.7:80 < 203.0.113.7:80',
    ],
    [
      'an IPv6 flow',
      'udp      17 99 src=fd00::1 dst=fd00:96::1 sport=4000 dport=53 [UNREPLIED] src=fd00:180::2 dst=fd00::1 sport=5353 dport=4000 mark=0 use=1',
      '[fd00:96::1]:53 < [fd00:180::2]:5353',
    ],
    [
      'a flow with counters and a mark',
      'udp      17 99 src=10.0.0.1 dst=10.96.0.1 sport=4000 dport=53 packets=7 bytes=900 [UNREPLIED] src=10.180.0.1 dst=10.0.0.1 sport=5353 dport=4000 packets=0 bytes=0 mark=16384 use=1',
      '10.96.0.1:53 < 10.180.0.1:5353',
    ],
    [
      'a flow in zones, with a helper, a security context and an age',
      'udp      17 99 src=10.0.0.1 dst=10.96.0.1 sport=4000 dport=53 zone-orig=7 src=10.180.0.1 dst=10.0.0.1 sport=5353 dport=4000 zone-reply=8 [ASSURED] mark=0 secctx=system_u:object_r:unlabeled_t:s0 zone=5 delta-time=12 helper=sip use=1 id=3082086345',
      '10.96.0.1:53 < 10.180.0.1:5353',
    ],
    [
      'an offloaded flow, which has no timeout',
      'udp      17 src=10.0.0.1 dst=10.96.0.1 sport=4000 dport=53 src=10.180.0.1 dst=10.0.0.1 sport=5353 dport=4000 [OFFLOAD] mark=0 use=3',
      '10.96.0.1:53 < 10.180.0.1:5353',
    ],
  ];
  for (const [name, line, ends] of flows) {
    it(`reads ${name}`, () => {
      const read = parseFlows(`${line}\n`)?.map(
        ({ to, answeredBy }) => `${flowEndKey(to)} < ${flowEndKey(answeredBy)}`,
      );
      expect(read).to.deep.equal([ends]);
    });
  }

  it('reads many lines in their order, and none from nothing', () => {
    const read = parseFlows(flows.map(([, line]) => `${line}\n`).join(''));
    expect(read?.map(({ to }) => flowEndKey(to))).to.deep.equal(flows.map(([, , ends]) => ends.split(' ')[0]));
    expect(parseFlows('')).to.deep.equal([]);
  });

  it('leaves out flows with port 0, which no Service has', () => {
    const line =
      'udp 17 9 src=10.0.0.1 dst=10.96.0.1 sport=4000 dport=0 src=10.96.0.1 dst=10.0.0.1 sport=0 dport=4000 use=1';
    expect(parseFlows(`${line}\n`)).to.deep.equal([]);
  });

  const others = [
    'tcp      6 99 ESTABLISHED src=10.0.0.3 dst=10.96.0.1 sport=4000 dport=53 src=10.180.0.2 dst=10.0.0.3 sport=5353 dport=4000 mark=0 use=1',
    'udp      17 99 src=10.0.0.1 dst=10.96.0.1 sport=4000 dport=53',
    'udp      17 99 src=10.0.0.1 dst=10.96.0 sport=4000 dport=53 src=10.180.0.1 dst=10.0.0.1 sport=5353 dport=4000 use=1',
    '<?xml version="1.0" encoding="utf-8"?>',
  ];
  for (const line of others) {
    it(`does not understand ${line.slice(0, 70)}`, () => expect(parseFlows(`${line}\n`)).to.equal(undefined));
  }
});
