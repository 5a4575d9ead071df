import { hostname } from 'node:os';
import type { Logger } from 'pino';
import type { ProxyConfig } from './config/proxy-config.ts';
import type { ClusterNode } from './model/node-view.ts';
import type { CancelTimer, Clock } from './queue/clock.ts';

/** The name of the Node that this machine is. */
export function ownNodeName({ hostnameOverride }: Pick<ProxyConfig, 'hostnameOverride'>): string {
  return hostnameOverride ?? hostname().trim().toLowerCase();
}

export interface OwnNodeOptions {
  readonly clock: Clock;
  readonly nodeName: string;
  /** Whether local traffic is told by the Node's Pod ranges, so that nothing can be programmed without them. */
  readonly needsPodRanges: boolean;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Called once: enough is known of the Node. */
  readonly ready: () => void;
  /** Called at most once, and not after `ready`: the Node has not come. One line for a person. */
  readonly gaveUp: (message: string) => void;
}

/**
 * Holds the first pass back until the API server knows the own Node, so that nothing is programmed for another address or range than the
 * right one. While the API server cannot be asked there is no limit; from its first answer on there are 30 s, or 5 minutes where Pod
 * ranges are needed. A Node that has no address by then is served all the same.
 *
 * Source: kubernetes/kubernetes cmd/kube-proxy/app/server.go, pkg/proxy/node.go (1.34)
 */
export class OwnNode {
  readonly #options: OwnNodeOptions;
  #node: ClusterNode | undefined;
  #state: 'unlisted' | 'waiting' | 'done' = 'unlisted';
  #cancelTimer: CancelTimer = () => {};

  constructor(options: OwnNodeOptions) {
    this.#options = options;
  }

  /** The Node as the API has it now. */
  seen(node: ClusterNode): void {
    this.#node = node;
    if (this.#state === 'waiting' && this.#missing() === undefined) this.#finish();
  }

  /** The API server has answered every first list. */
  listed(): void {
    if (this.#state !== 'unlisted') return;
    const missing = this.#missing();
    if (missing === undefined) {
      this.#finish();
      return;
    }
    this.#state = 'waiting';
    const { clock, nodeName, needsPodRanges, log } = this.#options;
    const limitMs = needsPodRanges ? POD_RANGES_LIMIT_MS : LIMIT_MS;
    log.info({ node: nodeName, missing: describe(missing), seconds: limitMs / 1000 }, 'waiting for the own Node');
    this.#cancelTimer = clock.after(LIMIT_MS, () => this.#expire(LIMIT_MS));
  }

  stop(): void {
    this.#state = 'done';
    this.#cancelTimer();
  }

  #missing(): Missing | undefined {
    if (this.#node === undefined) return 'node';
    if (this.#options.needsPodRanges && this.#node.podCIDRs.length === 0) return 'pod-ranges';
    return this.#node.addresses.length === 0 ? 'addresses' : undefined;
  }

  /** Addresses are waited for as long as in every mode, Pod ranges longer. */
  #expire(afterMs: number): void {
    const missing = this.#missing();
    const { clock, nodeName, needsPodRanges, log, gaveUp } = this.#options;
    if (missing === undefined || missing === 'addresses') {
      log.warn({ node: nodeName }, 'own Node has no address; it is served without one');
      this.#finish();
      return;
    }
    if (needsPodRanges && afterMs < POD_RANGES_LIMIT_MS) {
      const restMs = POD_RANGES_LIMIT_MS - afterMs;
      this.#cancelTimer = clock.after(restMs, () => this.#expire(POD_RANGES_LIMIT_MS));
      return;
    }
    this.stop();
    const seconds = afterMs / 1000;
    if (missing === 'node')
      gaveUp(`Node "${nodeName}" is not known to the API server after ${seconds} s; ${NAME_HINT}`);
    else
      gaveUp(
        `Node "${nodeName}" has no Pod range after ${seconds} s, which detectLocalMode NodeCIDR needs; ${RANGE_HINT}`,
      );
  }

  #finish(): void {
    this.stop();
    this.#options.ready();
  }
}

type Missing = 'node' | 'pod-ranges' | 'addresses';

function describe(missing: Missing): string {
  return { node: 'the Node itself', 'pod-ranges': 'its Pod ranges', addresses: 'its addresses' }[missing];
}

const LIMIT_MS = 30_000;
const POD_RANGES_LIMIT_MS = 300_000;

const NAME_HINT = 'the name is the host name unless --hostname-override or hostnameOverride gives another';
const RANGE_HINT = 'is --allocate-node-cidrs of kube-controller-manager on?';
