import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import type { RunArguments } from '../../src/cli/arguments.ts';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { DEFAULTS } from '../../src/config/config-fixture.ts';
import { loadConfig } from '../../src/config/load.ts';

/** What other things the files of others make of the configuration, beside its defaults. */
const VENDORS: readonly (readonly [vendor: string, expected: object])[] = [
  ['kubeadm', { clientConnection: clientOf('/var/lib/kube-proxy/kubeconfig.conf'), clusterCIDRs: ['10.244.0.0/16'] }],
  [
    'kind',
    {
      clientConnection: clientOf('/var/lib/kube-proxy/kubeconfig.conf'),
      clusterCIDRs: ['10.244.0.0/16', 'fd00:10:244::/56'],
      conntrack: { ...DEFAULTS.conntrack, maxPerCore: 0, tcpEstablishedTimeoutMs: 0, tcpCloseWaitTimeoutMs: 0 },
    },
  ],
  [
    'k3s',
    {
      clientConnection: clientOf('/var/lib/rancher/k3s/agent/kubeproxy.kubeconfig'),
      clusterCIDRs: ['10.42.0.0/16'],
      conntrack: { ...DEFAULTS.conntrack, maxPerCore: 0, tcpEstablishedTimeoutMs: 0, tcpCloseWaitTimeoutMs: 0 },
      healthzBindAddress: { address: '127.0.0.1', port: 10256 },
      ipvs: { ...DEFAULTS.ipvs, scheduler: 'lc' },
      iptables: { ...DEFAULTS.iptables, masqueradeAll: true },
      minSyncPeriodMs: 1_000,
    },
  ],
  [
    'talos',
    {
      clientConnection: clientOf('/etc/kubernetes/kubeconfig'),
      clusterCIDRs: ['10.244.0.0/16'],
      conntrack: { ...DEFAULTS.conntrack, maxPerCore: 0 },
      ipvs: { ...DEFAULTS.ipvs, strictARP: true },
      minSyncPeriodMs: 1_000,
    },
  ],
  [
    'iptables-leftovers',
    {
      clientConnection: clientOf('/etc/kube-proxy/kubeconfig'),
      clusterCIDRs: ['10.42.0.0/16'],
      conntrack: { ...DEFAULTS.conntrack, maxPerCore: 0, tcpEstablishedTimeoutMs: 0, tcpCloseWaitTimeoutMs: 0 },
      healthzBindAddress: { address: '127.0.0.1', port: 10256 },
      logging: { format: undefined, verbosity: 2 },
      minSyncPeriodMs: 1_000,
      notices: [
        'fields of other modes have no effect here: iptables.localhostNodePorts, iptables.minSyncPeriod',
        'flag --logtostderr is deprecated: It has no effect.',
      ],
    },
  ],
];

describe('test/config/vendors', () => {
  for (const [vendor, expected] of VENDORS) {
    it(`accepts what ${vendor} gives kube-proxy, unchanged`, async () => {
      const { words, files } = readVendor(vendor);
      const { flags } = await understood(words);
      const text =
        files[
          String(flags.config ?? '')
            .split('/')
            .at(-1) ?? ''
        ];
      const loaded = loadConfig({ flags, ...(text === undefined ? {} : { file: { name: 'config.conf', text } }) });
      const ofAll = { ...DEFAULTS, hostnameOverride: 'worker-1', notices: [] };
      expect(loaded).to.deep.equal({ ok: true, value: { ...ofAll, ...expected } });
    });
  }
});

interface Vendor {
  /** The command line, without the name of the program. */
  readonly words: readonly string[];
  /** Files of the ConfigMap, by name. */
  readonly files: Readonly<Record<string, string>>;
}

function readVendor(vendor: string): Vendor {
  const text = readFileSync(join(import.meta.dirname, 'vendors', `${vendor}.yaml`), 'utf8');
  const objects = parseAllDocuments(text).map((document) => document.toJS());
  const [container] = objects.flatMap(({ spec }) => spec?.template.spec.containers ?? []);
  const words: string[] = [...(container.command?.slice(1) ?? []), ...(container.args ?? [])];
  return {
    words: words.map((word) => word.replace('$(NODE_NAME)', 'worker-1')),
    files: Object.assign({}, ...objects.flatMap(({ data }) => data ?? [])),
  };
}

/** The arguments that a command line has for the daemon; everything else fails the test. */
async function understood(words: readonly string[]): Promise<RunArguments> {
  const seen: RunArguments[] = [];
  const never = () => Promise.reject(new Error('another command was meant'));
  const errors: string[] = [];
  const terminal = { output: async () => {}, error: (line: string) => errors.push(line), input: async () => '' };
  const run = async (args: RunArguments) => {
    seen.push(args);
    return 0 as const;
  };
  expect(
    await runCommandLine(
      words,
      '1.2.3',
      {
        run,
        render: never,
        diff: never,
        explain: never,
        replay: never,
        cleanup: never,
        doctor: never,
        status: never,
        writeConfig: never,
      },
      terminal,
    ),
  ).to.equal(0);
  expect(errors).to.deep.equal([]);
  const [args] = seen;
  if (!args) throw new Error('no command was carried out');
  expect(args.mode).to.equal('daemon');
  return args;
}

function clientOf(kubeconfig: string) {
  return { ...DEFAULTS.clientConnection, kubeconfig };
}
