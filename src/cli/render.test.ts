import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import type { RenderArguments } from './arguments.ts';
import { render } from './render.ts';

describe('cli/render', () => {
  const cart = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'shop', name: 'cart' },
    spec: { type: 'NodePort', clusterIP: '172.20.1.1', ports: [{ name: 'http', port: 80, nodePort: 30080 }] },
  };
  const cartSlice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'shop', name: 'cart-1', labels: { 'kubernetes.io/service-name': 'cart' } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080 }],
    endpoints: [
      { addresses: ['10.180.0.1'], hints: { forZones: [{ name: 'zone-a' }] } },
      { addresses: ['10.180.0.2'], hints: { forZones: [{ name: 'zone-b' }] } },
    ],
  };
  const node = (name: string, zone: string, address: string) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'topology.kubernetes.io/zone': zone } },
    status: { addresses: [{ type: 'InternalIP', address }] },
  });
  const [a, b] = [node('node-a', 'zone-a', '192.168.0.10'), node('node-b', 'zone-b', '192.168.0.11')];

  async function rendered(objects: readonly unknown[] | string, given: Partial<RenderArguments> = {}) {
    const errors: string[] = [];
    let output = '';
    const text = typeof objects === 'string' ? objects : objects.map((object) => stringify(object)).join('---\n');
    const args: RenderArguments = {
      flags: {},
      files: ['-'],
      node: undefined,
      nodeAddresses: [],
      form: 'ipvs',
      ...given,
    };
    const exitCode = await render(args, {
      output: async (more) => {
        output += more;
      },
      error: (line) => errors.push(line),
      input: async () => text,
    });
    return {
      exitCode,
      output,
      errors: errors.filter((line) => !line.startsWith('note: ')),
      notes: errors.filter((line) => line.startsWith('note: passed')),
    };
  }

  it('prints what the only Node would have, its addresses being those of the Node object', async () => {
    expect(await rendered([cart, cartSlice, a])).to.deep.equal({
      exitCode: 0,
      output: `-A -t 172.20.1.1:80 -s rr
-A -t 192.168.0.10:30080 -s rr
-a -t 172.20.1.1:80 -r 10.180.0.1:8080 -m -w 1
-a -t 192.168.0.10:30080 -r 10.180.0.1:8080 -m -w 1
`,
      errors: [],
      notes: [],
    });
  });

  it('prints for the Node named, by option or by flag', async () => {
    const chosen = async (given: Partial<RenderArguments>) =>
      /192\.168\.0\.\d+/.exec((await rendered([cart, cartSlice, a, b], given)).output)?.[0];
    expect(await chosen({ node: 'node-b' })).to.equal('192.168.0.11');
    expect(await chosen({ flags: { 'hostname-override': 'node-a' } })).to.equal('192.168.0.10');
    expect(await chosen({ node: 'node-b', flags: { 'hostname-override': 'node-a' } })).to.equal('192.168.0.11');
  });

  it('serves node ports on the addresses given instead of those of the Node object', async () => {
    const { output } = await rendered([cart, a], { nodeAddresses: ['eth0=10.1.0.1/16', '10.2.0.1/16'] });
    expect(output).to.equal('-A -t 10.1.0.1:30080 -s rr\n-A -t 10.2.0.1:30080 -s rr\n-A -t 172.20.1.1:80 -s rr\n');
  });

  it('names the Nodes that there are, the nearest first, where the one asked for is not among them', async () => {
    const others = [node('worker-7', 'zone-a', '192.168.0.12'), b, a];
    const { errors, exitCode } = await rendered(others, { node: 'node-bb' });
    expect(errors[0]).to.match(
      /^warning: Node node-bb: is not among the objects; .* not known; there is node-b, node-a, worker-7$/,
    );
    expect(exitCode).to.equal(0);
  });

  it('warns of a Node that is not among the objects and of node ports that have no address', async () => {
    const { exitCode, output, errors } = await rendered([cart], { node: 'node-z' });
    expect([exitCode, output]).to.deep.equal([0, '-A -t 172.20.1.1:80 -s rr\n']);
    expect(errors).to.deep.equal([
      'warning: Node node-z: is not among the objects; its zone, pod ranges and addresses are not known',
      'warning: Node node-z: has no known address, so no node port is served; give --node-addresses',
    ]);
  });

  it('does not warn of node ports where there are none, or where any interface has an address', async () => {
    const plain = {
      ...cart,
      metadata: { namespace: 'shop', name: 'plain' },
      spec: { clusterIP: '172.20.1.2', ports: [{ port: 80 }] },
    };
    expect((await rendered([plain], { node: 'node-z' })).errors).to.have.lengthOf(1);
    expect((await rendered([plain, cart], { node: 'node-z' })).errors).to.have.lengthOf(2);
    expect(
      (await rendered([plain, cart], { node: 'node-z', nodeAddresses: ['eth0=10.1.0.1/16'] })).errors,
    ).to.have.lengthOf(1);
  });

  it('R58: neither binds nor serves the address of another Node among the objects, and warns', async () => {
    const shared = {
      ...cart,
      spec: { ...cart.spec, externalIPs: ['192.168.0.10', '192.168.0.11', '203.0.113.9'] },
    };
    const given = { node: 'node-a', form: 'ipvs' } as const;
    const { output, errors } = await rendered([shared, a, b], given);
    expect(output.match(/(?<=-A -t )[\d.]+(?=:80 )/g)).to.have.members(['172.20.1.1', '192.168.0.10', '203.0.113.9']);
    expect(errors).to.have.lengthOf(1);
    expect(errors[0]).to.match(/^warning: Service shop\/cart: .*192\.168\.0\.11/);
    const alone = await rendered([shared, a], given);
    expect([alone.output.includes('192.168.0.11:80'), alone.errors]).to.deep.equal([true, []]);
  });

  it('serves an address that another Node claims too when the own Node has it', async () => {
    const shared = { ...cart, spec: { ...cart.spec, externalIPs: ['192.168.0.10'] } };
    const { output, errors } = await rendered([shared, a, { ...b, status: a.status }], { node: 'node-a' });
    expect([output.includes('-A -t 192.168.0.10:80 '), errors]).to.deep.equal([true, []]);
  });

  it('takes the node for one whose iptables knows random ports', async () => {
    expect((await rendered([cart, a], { form: 'iptables' })).output).to.include('-j MASQUERADE --random-fully\n');
  });

  it('warns of what is wrong with an object and prints the rest', async () => {
    const bad = { ...cart, metadata: { name: 'bad' }, spec: { clusterIP: '172.20.1.2', ports: [{ port: 0 }] } };
    const { exitCode, output, errors } = await rendered([cart, bad, a]);
    expect(exitCode).to.equal(0);
    expect(output).to.include('-A -t 172.20.1.1:80');
    expect(errors).to.have.lengthOf(1);
    expect(errors[0]).to.match(/^warning: Service bad: spec\.ports\[0\]\.port: /);
  });

  it('ends with status 1 when a document cannot be read, and prints the others all the same', async () => {
    const { exitCode, output, errors } = await rendered(`${stringify(cart)}---\nkind: [\n---\n${stringify(a)}`);
    expect([exitCode, output.includes('-A -t 192.168.0.10:30080')]).to.deep.equal([1, true]);
    expect(errors).to.have.lengthOf(1);
    expect(errors[0]).to.match(/^error: standard input:\d+:\d+: .*; this document is left out$/);
  });

  it('warns where nothing was read, as of a pipe whose first command has failed', async () => {
    const warning = 'warning: no Service, EndpointSlice or Node was read';
    expect((await rendered('', { node: 'node-a' })).errors).to.include(warning);
    expect((await rendered([a], { node: 'node-a' })).errors).to.not.include(warning);
  });

  it('tells of kinds that it passes over', async () => {
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' } };
    expect((await rendered([pod, cart, pod, a])).notes).to.deep.equal(['note: passed over: 2 × v1 Pod']);
  });

  it('prints settings of the kernel and weights that only the second document of a file asks for', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'ipvs-proxier-render-')), 'config.yaml');
    writeFileSync(
      file,
      `apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: ipvs
ipvs: {scheduler: sh}
---
apiVersion: ipvs-proxier.dev/v1alpha1
kind: IPVSProxierConfiguration
weightPolicy: byCondition
schedulerFlags: [sh-port]
sloppyTCP: true
`,
    );
    const { output, errors } = await rendered([cart, cartSlice, a], { flags: { config: file }, form: 'script' });
    expect(errors).to.deep.equal([]);
    expect(output).to.include('net.ipv4.vs.sloppy_tcp=1\n');
    expect(output).to.include('-A -t 172.20.1.1:80 -s sh -b sh-port\n');
    expect(output).to.include('-a -t 172.20.1.1:80 -r 10.180.0.1:8080 -m -w 10\n');
  });

  const unusable: readonly (readonly [string, Partial<RenderArguments>, RegExp])[] = [
    ['addresses that are none', { nodeAddresses: ['eth0'] }, /^error: --node-addresses: "eth0" is not/],
    ['a flag that is wrong', { flags: { 'iptables-masquerade-bit': '99' } }, /^error: .*masquerade/i],
    [
      'a configuration file that is not there',
      { flags: { config: '/no/such/file.yaml' } },
      /^error: \/no\/such\/file\.yaml: no such file$/,
    ],
  ];
  for (const [name, given, message] of unusable) {
    it(`ends with status 2 and prints nothing for ${name}`, async () => {
      const { exitCode, output, errors } = await rendered([cart, a], given);
      expect([exitCode, output]).to.deep.equal([2, '']);
      expect(errors.join('\n')).to.match(message);
    });
  }
});
