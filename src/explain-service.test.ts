import { expect } from 'chai';
import { stringify } from 'yaml';
import { startingHost } from '../test/config/starting-host.ts';
import type { ExplainArguments } from './cli/arguments.ts';
import { explainService } from './explain-service.ts';

describe('explain-service', () => {
  const cart = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'shop', name: 'cart' },
    spec: { clusterIP: '172.20.1.1', ports: [{ name: 'http', port: 80 }], loadBalancerSourceRanges: ['x'] },
  };
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'shop', name: 'cart-1', labels: { 'kubernetes.io/service-name': 'cart' } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080 }],
    endpoints: [
      { addresses: ['10.180.0.1'], nodeName: 'node-a' },
      { addresses: ['127.0.0.1'], nodeName: 'node-b' },
    ],
  };
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' } };
  const db = { ...cart, metadata: { namespace: 'shop', name: 'db' }, spec: { clusterIP: 'None' } };
  const mesh = {
    ...cart,
    metadata: { namespace: 'shop', name: 'mesh', labels: { 'service.kubernetes.io/service-proxy-name': 'other' } },
    spec: { ...cart.spec, clusterIP: '172.20.3.3' },
  };
  const objects = [cart, db, mesh, slice, node].map((object) => stringify(object)).join('---\n');

  async function explain(target: string, given: Partial<ExplainArguments> = {}, host = startingHost()) {
    const messages: string[] = [];
    let output = '';
    const args = { flags: {}, target, files: ['-'], node: undefined, nodeAddresses: [] };
    const exitCode = await explainService(
      { ...args, kernel: 'no', form: 'text', ...given },
      '1.2.3',
      {
        output: async (text) => {
          output += text;
        },
        error: (line) => messages.push(line),
        input: async () => objects,
      },
      host,
    );
    return { output, messages, exitCode };
  }

  it('tells of a Service, with what is wrong with it and its slices', async () => {
    const { output, messages, exitCode } = await explain('cart');
    expect([messages, exitCode]).to.deep.equal([[], 0]);
    expect(output).to.include('Service shop/cart on node node-a\n');
    expect(output).to.include('      + 10.180.0.1:8080 on node-a (ready, serving, local): chosen\n');
    expect(output.split('  Warnings\n')[1]?.split('\n')).to.deep.equal([
      '    Service shop/cart: spec.loadBalancerSourceRanges[0]: "x" is not a CIDR; nobody is allowed because of it',
      '    EndpointSlice shop/cart-1: endpoints[1].addresses[0]: 127.0.0.1, an endpoint of Service shop/cart, is a loopback address: only the node itself reaches it',
      '',
    ]);
  });

  it('tells whether the kernel has it, when it is asked to', async () => {
    const { output } = await explain('cart', { kernel: 'required' });
    expect(output).to.include(
      '    Kernel: differs; a pass would do this\n      + entry 172.20.1.1,tcp:80 of set KUBE-CLUSTER-IP (shop/cart:http/TCP)\n',
    );
    expect((await explain('cart')).output).to.not.include('Kernel: ');
  });

  it('goes on without the kernel where it can do without, and says so', async () => {
    const { output, messages, exitCode } = await explain('cart', { kernel: 'if-possible' }, startingHost('absent'));
    expect(messages).to.deep.equal([
      'note: the kernel of this node is not compared: /proc/net/ip_vs: ENOENT; IPVS is not loaded, and nothing is programmed',
    ]);
    expect([output.includes('Kernel: '), exitCode]).to.deep.equal([false, 0]);
    expect(await explain('cart', { kernel: 'required' }, startingHost('absent'))).to.deep.equal({
      output: '',
      messages: ['error: /proc/net/ip_vs: ENOENT; IPVS is not loaded, and nothing is programmed'],
      exitCode: 1,
    });
  });

  it('warns of a Node that it knows nothing of, as nothing is local to it then', async () => {
    const { output, messages, exitCode } = await explain('cart', { node: 'node-b' });
    expect(messages).to.deep.equal([
      'warning: Node node-b: is not among the objects; its zone, pod ranges and addresses are not known; there is node-a',
    ]);
    expect([output.startsWith('Service shop/cart on node node-b\n'), exitCode]).to.deep.equal([true, 0]);
  });

  it('tells where the scheduler is set', async () => {
    const { output } = await explain('cart', { flags: { 'ipvs-scheduler': 'wrr' } });
    expect(output).to.include('      scheduler wrr (--ipvs-scheduler)\n');
    expect((await explain('cart')).output).to.include('      scheduler rr (the default; none is configured)\n');
  });

  const unknown = [
    {
      target: 'shop/crt',
      message: 'there is no Service shop/crt; did you mean shop/cart?',
    },
    {
      target: 'crt',
      message: 'there is no Service crt; did you mean shop/cart?',
    },
    {
      target: 'default/cart',
      message: 'there is no Service default/cart; did you mean shop/cart?',
    },
    { target: 'payments', message: 'there is no Service payments' },
    { target: 'cart:https', message: 'Service shop/cart has no port https; it has http 80/TCP' },
    {
      target: '10.180.0.1:8080',
      message: 'nobody serves 10.180.0.1:8080 on this node; it is an endpoint of shop/cart:http/TCP',
    },
    { target: '172.20.1.1:81', message: 'nobody serves 172.20.1.1:81 on this node; there is TCP 172.20.1.1:80' },
    {
      target: '172.20.1.2:80',
      message: 'nobody serves 172.20.1.2:80 on this node; did you mean TCP 172.20.1.1:80?',
    },
    { target: '[fd00::1]:9', message: 'nobody serves [fd00::1]:9 on this node' },
  ];
  for (const { target, message } of unknown) {
    it(`says of ${target} what it may be`, async () =>
      expect(await explain(target)).to.deep.equal({ output: '', messages: [`error: ${message}`], exitCode: 1 }));
  }

  const unserved = [
    { target: 'db', why: 'it is headless: clients dial its endpoints themselves' },
    {
      target: '172.20.3.3:80',
      why: 'its label service.kubernetes.io/service-proxy-name leaves it to another proxy, "other"',
    },
    {
      target: 'shop/mesh:http',
      why: 'its label service.kubernetes.io/service-proxy-name leaves it to another proxy, "other"',
    },
  ];
  for (const { target, why } of unserved) {
    it(`says of ${target} why it is not served`, async () => {
      const { output, messages, exitCode } = await explain(target);
      expect([messages, exitCode]).to.deep.equal([[], 0]);
      expect(output.split('\n').slice(2)).to.deep.equal([`  not served: ${why}`, '']);
    });
  }

  it('takes nothing else for a question', async () =>
    expect(await explain('a/b/c')).to.deep.equal({
      output: '',
      messages: ['error: "a/b/c" is neither a Service nor an address'],
      exitCode: 2,
    }));

  it('gives the same as records', async () => {
    const { output } = await explain('cart', { form: 'json' });
    const { services } = JSON.parse(output) as { readonly services: readonly { readonly ports: readonly object[] }[] };
    expect(services.map(({ ports }) => ports))
      .to.have.nested.property('[0][0].virtualServers[0].realServers')
      .with.length(2);
  });
});
