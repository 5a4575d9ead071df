import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FAMILIES } from '../../src/net/family.ts';
import { type ApiServer, startApiServer } from '../apiserver/server.ts';
import type { Daemon } from './daemon.ts';
import { NAMESPACE, node, service, slice } from './objects.ts';
import { type Offer, sketchOf } from './offers.ts';
import { startProxier } from './proxier-daemon.ts';
import { type SharedLab, useLab } from './shared-lab.ts';
import { POD_PORT } from './standard-plan.ts';
import { podRanges } from './topology.ts';
import { waitFor } from './wait-for.ts';

/** The node that is programmed. */
export const NODE = 'node-a';

/** The shared lab with an API server, and daemons on one node, which the suite starts. */
export interface LoneNode extends SharedLab {
  readonly api: ApiServer;
  /** Writes Services with their slices; what was written before is replaced. */
  write(...offers: readonly Offer[]): void;
  remove(...offers: readonly Offer[]): void;
  start(flags?: readonly string[], env?: Readonly<Record<string, string>>): Daemon;
  /** Resolves when the daemon has said all of it, to the end of each line. */
  said(daemon: Daemon, ...texts: readonly string[]): Promise<void>;
}

const FLAGS = ['--cluster-cidr', '10.180.0.0/16,fd00:180::/32', '--ipvs-min-sync-period', '100ms', '-v', '2'];

/** Call in a `describe`, as `useLab`. Daemons that still run at the end are killed. */
export function useLoneNode(): () => LoneNode {
  const shared = useLab();
  const daemons: Daemon[] = [];
  let lone: LoneNode | undefined;
  before('an API server', async () => {
    const { lab } = shared();
    const api = await startApiServer({ addresses: ['192.168.0.1'], certificateAddresses: ['192.168.0.1'] });
    for (const host of lab.nodes) {
      const { name, addresses, zone } = host;
      api.apply(node(name, [addresses.IPv4, addresses.IPv6], zone, podRanges(host)));
    }
    const folder = mkdtempSync(join(tmpdir(), 'ipvs-proxier-lone-'));
    lone = {
      ...shared(),
      api,
      write: (...offers) => {
        for (const offer of offers) writeOffer(api, shared(), offer);
      },
      remove: (...offers) => {
        for (const { name } of offers) {
          api.delete({ kind: 'Service', namespace: NAMESPACE, name });
          for (const family of ['ipv4', 'ipv6']) {
            api.delete({ kind: 'EndpointSlice', namespace: NAMESPACE, name: `${name}-${family}` });
          }
        }
      },
      start: (flags = [], env = {}) => {
        const daemon = startProxier(lab, NODE, api.kubeconfig(), folder, [...FLAGS, ...flags], env);
        daemons.push(daemon);
        return daemon;
      },
      said: async (daemon, ...texts) => {
        const all = (log: string) => texts.every((text) => log.includes(text));
        const wholeLines = () => daemon.log().slice(0, daemon.log().lastIndexOf('\n') + 1);
        await waitFor(`${texts.join(', ')} in the log`, wholeLines, all, { timeoutMs: 240_000 });
      },
    };
  });
  after('the daemons and the API server', async () => {
    await Promise.all(daemons.map((daemon) => daemon.kill()));
    await lone?.api.stop();
  });
  return () => {
    if (lone === undefined) throw new Error('the node is there in hooks and tests only');
    return lone;
  };
}

function writeOffer(api: ApiServer, { lab }: SharedLab, offer: Offer): void {
  api.apply(service(sketchOf(offer)));
  for (const family of FAMILIES) {
    const pods = offer.pods.map((name) => lab.pod(name));
    const endpoints = pods.map((pod) => ({ address: pod.addresses[family], nodeName: pod.node ?? '' }));
    api.apply(slice(sketchOf(offer), POD_PORT, endpoints, family));
  }
}
