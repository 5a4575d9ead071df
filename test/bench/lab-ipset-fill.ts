import { cidr, ip } from '../builders/net.ts';
import { service, slice, sliceEndpoint } from '../builders/objects.ts';
import { netnsHost } from '../lab/netns-host.ts';
import { pass, proxierOn } from './bench-node.ts';
import { atMost, inTurn, type LabBench, ratioFigures } from './lab-bench.ts';
import { bareMs, busyMs, FreshNamespaces, inside, scriptFile, timeHost, writesOf } from './lab-host.ts';

/** One Service for many source ranges: each is an entry of a set. */
export const labIpsetFill: LabBench = {
  name: 'lab-ipset-fill',
  title: 'a set filled, against a bare `ipset restore` of the same text',
  size: 65_000,
  run: async (size) => {
    const namespaces = new FreshNamespaces('bench-ipset');
    const { text } = await fill(namespaces.make(), size);
    const file = scriptFile(text);
    const computing: number[] = [];
    const times = await inTurn(
      PAIRS,
      async () => {
        const { fillMs, computeMs } = await fill(namespaces.make(), size);
        computing.push(computeMs);
        return fillMs;
      },
      () => bareMs([...inside(namespaces.make()), 'ipset', '-exist', 'restore'], file),
    );
    namespaces.deleteAll();
    return [
      ...ratioFigures({ ours: 'filled', bare: 'bare restore' }, times, atMost(1.1)),
      { what: 'computed and rendered before, by the clock', unit: 'ms', samples: computing },
    ];
  },
};

const PAIRS = 7;

/** A first pass. `computeMs`: its time without tools, compiling and reading texts included. */
async function fill(
  namespace: string,
  size: number,
): Promise<{ readonly fillMs: number; readonly computeMs: number; readonly text: string }> {
  const host = timeHost(netnsHost(namespace));
  const proxier = proxierOn(host);
  proxier.record.service(undefined, restrictedService(size));
  proxier.record.slice(undefined, slice({ endpoints: [sliceEndpoint('10.180.0.1')] }));
  const startMs = performance.now();
  await pass(proxier, 'full');
  const passMs = performance.now() - startMs;
  const spans = host.takeSpans();
  const fills = writesOf(spans).filter(({ call }) => call.tool === 'ipset');
  const text = fills.map(({ call }) => call.input).join('');
  return { fillMs: busyMs(fills), computeMs: passMs - busyMs(spans), text };
}

function restrictedService(ranges: number): ReturnType<typeof service> {
  return service({
    type: 'LoadBalancer',
    loadBalancerVIPs: [ip('203.0.113.1')],
    loadBalancerSourceRanges: Array.from({ length: ranges }, (_, index) =>
      cidr(`11.${index >> 8}.${index & 255}.0/24`),
    ),
  });
}
