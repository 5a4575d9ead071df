import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** A black-box vector: cluster objects in, kernel state out; see test/cases/README.md. */
export interface Case {
  readonly name: string;
  readonly summary: string;
  /** `memory`: what it writes has no form that other vectors do not put before a real kernel, which takes seconds for each. */
  readonly kernel?: 'memory';
  readonly node: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly podCIDRs?: readonly string[];
    readonly addresses: Readonly<Record<string, readonly string[]>>;
  };
  /** A fragment of KubeProxyConfiguration. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly steps: readonly CaseStep[];
}

export interface CaseStep {
  readonly apply?: readonly unknown[];
  readonly delete?: readonly { readonly kind: string; readonly namespace: string; readonly name: string }[];
  /** What holds under the behaviour of kube-proxy. */
  readonly expect: Expectation;
  /** What holds under behaviour `documented`, where that is something else. */
  readonly documented?: Expectation;
}

/** The two behaviours, as `--behaviour` takes them. */
export type CaseBehaviour = 'kube-proxy' | 'documented';

/** Behaviours under which a vector says something; vectors from elsewhere speak of kube-proxy only. */
export function behavioursOf({ steps }: Case): readonly CaseBehaviour[] {
  return steps.some(({ documented }) => documented) ? ['kube-proxy', 'documented'] : ['kube-proxy'];
}

/** Both, for the project's own vectors, whose expectations hold under both unless a second one stands beside the first. */
export const MEMORY_BEHAVIOURS: readonly CaseBehaviour[] =
  process.env.CASES_DIR === undefined ? ['kube-proxy', 'documented'] : ['kube-proxy'];

export interface Expectation {
  readonly ipvs: string;
  readonly dummy: readonly string[];
  /** Only the sets listed are checked. */
  readonly ipset?: Readonly<Record<string, readonly string[]>>;
  /** Parts of rules that must be there. */
  readonly iptables?: readonly { readonly table: string; readonly chain: string; readonly has: string }[];
  readonly healthChecks?: readonly {
    readonly port: number;
    readonly service: string;
    readonly localEndpoints: number;
  }[];
  /** Real servers that may be absent, or present with weight 0; from this step on. */
  readonly gracefullyRemoved?: readonly string[];
}

/** The vectors of the project, or those in the folder that `CASES_DIR` names, sorted by folder and file. */
export function loadCases(): readonly { readonly path: string; readonly content: Case }[] {
  const top = process.env.CASES_DIR ?? join(import.meta.dirname, '../cases');
  const files = readdirSync(top, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.yaml'))
    .sort();
  const cases = files
    .map((path) => ({ path, content: parse(readFileSync(join(top, path), 'utf8')) as Case }))
    .filter(({ path, content }) => {
      if (!Array.isArray(content.steps) && content.name !== undefined)
        throw new Error(`${path}: a vector without steps`);
      return Array.isArray(content.steps);
    });
  if (cases.length === 0) throw new Error(`no vectors in ${top}`);
  return cases;
}
