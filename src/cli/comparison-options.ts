import type { Argv, Options } from 'yargs';
import { RECORD_FORMS } from './format-record.ts';

/** Adds examples to the help of a command: its words, and what they give. */
export function withExamples<T>(command: Argv<T>, examples: readonly (readonly [string, string])[]): Argv<T> {
  return examples.reduce<Argv<T>>((argv, [words, text]) => argv.example(`$0 ${words}`, text), command);
}

export const OBJECT_OPTIONS: Readonly<Record<string, Options>> = {
  filename: {
    alias: 'f',
    type: 'string',
    requiresArg: true,
    describe: 'file, folder or - with Services, EndpointSlices and Nodes, in place of the API server',
    group: 'Input:',
  },
  node: { type: 'string', requiresArg: true, describe: 'name of the Node that this is about', group: 'Input:' },
  'node-addresses': {
    type: 'string',
    requiresArg: true,
    group: 'Input:',
    describe: "the node's addresses by interface, in place of those of this machine, e.g. eth0=192.168.0.10/24",
  },
};

export const RENDER_EXAMPLES = [
  ['render -f cluster.yaml --node NAME', 'with what kubectl get svc,endpointslices,nodes -A -o yaml prints'],
  ['render -f - --node NAME -o ipvs', 'objects from standard input; lines for ipvsadm -R'],
] as const;

export const CLEANUP_EXAMPLES = [
  ['cleanup --dry-run', 'what would be removed'],
  ['cleanup --of iptables', 'what kube-proxy in iptables mode left'],
] as const;

export const REPLAY_EXAMPLES = [
  ['replay --generate slices=100,seconds=20', 'a trace that is made up'],
  ['replay trace.jsonl.gz --sync-period 5m', 'one of run --record, with another period'],
] as const;

export const DIFF_EXAMPLES = [
  ['diff', 'what the next full pass would change'],
  ['diff -o ipvs', 'the same as lines for ipvsadm -R, and nothing else'],
  ['diff -f cluster.yaml --node NAME', 'with what kubectl get svc,endpointslices,nodes -A -o yaml prints'],
  ['diff >/dev/null || echo differs or failed', 'in a script: status 0 as wanted, 3 differs, 1 failed'],
] as const;

export const EXPLAIN_TARGET = {
  type: 'string',
  describe: 'SERVICE, NAMESPACE/NAME[:PORT], or ADDRESS:PORT[/PROTOCOL]',
} as const;

export const EXPLAIN_EXAMPLES = [
  ['explain shop/cart', 'every virtual server of a Service, its endpoints, the rules that packets meet'],
  ['explain shop/cart:http', 'one port of it, by name or by number'],
  ['explain 10.96.0.10:53/UDP', 'who serves an address that clients dial'],
  ['explain cart -f cluster.yaml --node NAME', 'from files, for any node'],
] as const;

export const EXPLAIN_OPTIONS: Readonly<Record<string, Options>> = {
  kernel: {
    describe: 'tell whether the kernel of this node has it',
    defaultDescription: 'where it can be read, unless -f or --node is given',
    group: 'Input:',
  },
  output: {
    alias: 'o',
    choices: RECORD_FORMS,
    default: 'text',
    describe: 'form of what is printed',
    group: 'Output:',
  },
};
