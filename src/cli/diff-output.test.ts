import { expect } from 'chai';
import { parse } from 'yaml';
import { desiredFor } from '../../test/builders/desired.ts';
import { observedState, real } from '../../test/builders/kernel-states.ts';
import { ip } from '../../test/builders/net.ts';
import { endpoint, servicePort } from '../../test/builders/objects.ts';
import { compareNode } from '../explain/compare-node.ts';
import { type DiffReport, formatDiff } from './diff-output.ts';
import type { OUTPUT_FORMS } from './output.ts';

const SETTINGS = { behaviour: 'documented', excludeCIDRs: [], drainsDeleted: false } as const;

describe('cli/diff-output', () => {
  const desired = desiredFor([[servicePort(), [endpoint({ address: ip('10.180.0.1') })]]]);
  const programmed = compareNode(desired, observedState(), SETTINGS).plan.after;
  const report = (observed = programmed, settings: DiffReport['settings'] = []): DiffReport => ({
    families: [desired],
    comparisons: [compareNode(desired, observed, SETTINGS)],
    settings,
    warnings: [],
  });

  /** One real server has no weight, another one drains, the address is not bound, and somebody has bound one of his own. */
  function changed() {
    const [[key, server] = []] = programmed.ipvs;
    if (!key || !server) throw new Error('no virtual server');
    const realServers = [real('10.180.0.1', { weight: 0 }), real('10.180.0.2', { weight: 0, connections: 3 })];
    return report(
      {
        ...programmed,
        ipvs: new Map([[key, { ...server, realServers }]]),
        dummy: { exists: true, addresses: new Set([ip('192.0.2.77')]) },
      },
      [
        {
          action: 'change',
          tool: 'sysctl',
          family: undefined,
          thing: 'setting net.ipv4.ip_forward',
          services: [],
          why: '0 → 1',
        },
      ],
    );
  }

  it('is one line where nothing would change', () =>
    expect(formatDiff(report(), 'script')).to.equal('# nothing would change\n'));

  it('has a section for each kind, with the Service and the reason in each line', () =>
    expect(formatDiff(changed(), 'script')).to.equal(
      `# settings of the kernel
~ setting net.ipv4.ip_forward: 0 → 1

# virtual servers and real servers
~ real server 10.180.0.1:8080 of TCP 172.20.1.1:80 (shop/cart:http/TCP): weight 0 → 1

# addresses
+ address 172.20.1.1 on kube-ipvs0 (shop/cart:http/TCP)

# left alone
= real server 10.180.0.2:8080 of TCP 172.20.1.1:80: draining, 3 connections left
= address 192.0.2.77 on kube-ipvs0: foreign

# 1 to add, 2 to change, 0 to remove
`,
    ));

  it('has forms that can be piped into the tool they are named after, empty where there is nothing for it', () => {
    const text = (form: (typeof OUTPUT_FORMS)[number]) => formatDiff(changed(), form);
    expect(text('ipvs')).to.equal('-e -t 172.20.1.1:80 -r 10.180.0.1:8080 -m -w 1\n');
    expect(text('address')).to.equal('address replace 172.20.1.1/32 dev kube-ipvs0\n');
    expect([text('ipset'), text('iptables'), text('ip6tables')]).to.deep.equal(['', '', '']);
  });

  it('gives the same as records', () => {
    const fields = ['scripts', 'changes', 'leftAlone', 'healthChecks', 'warnings', 'state'];
    const json = JSON.parse(formatDiff(changed(), 'json')) as Readonly<Record<string, unknown>>;
    expect(Object.keys(json)).to.deep.equal(fields);
    expect(parse(formatDiff(changed(), 'yaml'))).to.deep.equal(json);
    expect(json.changes).to.deep.include({
      action: 'change',
      tool: 'ipvs',
      family: 'IPv4',
      thing: 'real server 10.180.0.1:8080 of TCP 172.20.1.1:80',
      services: ['shop/cart:http/TCP'],
      why: 'weight 0 → 1',
    });
    expect(json.scripts).to.have.property('ipvs', formatDiff(changed(), 'ipvs'));
  });
});
