import { execa } from 'execa';
import type { Host } from '../../src/apply/host.ts';
import type { ToolCall } from '../../src/apply/tool.ts';
import { behavioursOf, type Case, loadCases } from '../kernel/cases.ts';
import { type CaseKernel, runCase } from '../kernel/run-case.ts';
import { requireLab } from './in-lab.ts';
import { parseAddresses, parseSets } from './kernel-state.ts';
import { netnsHost } from './netns-host.ts';

const NAMESPACE = 'case';

describe('test/lab/cases', () => {
  before(requireLab);
  afterEach(() => execa('ip', ['netns', 'delete', NAMESPACE]));

  for (const { path, content } of loadCases().filter(({ content: { kernel } }) => kernel !== 'memory')) {
    for (const behaviour of behavioursOf(content)) {
      it(`in the real kernel: ${path}, ${behaviour}`, async () => {
        await makeNode(content);
        await runCase(content, realCaseKernel(), behaviour);
      });
    }
  }
});

async function makeNode({ node }: Case): Promise<void> {
  const links = Object.entries(node.addresses);
  const lines = [
    ...links.filter(([link]) => link !== 'lo').map(([link]) => `link add ${link} type dummy`),
    ...links.map(([link]) => `link set ${link} up`),
    ...links.flatMap(([link, addresses]) => addresses.map((address) => `address replace ${address} dev ${link}`)),
  ];
  await execa('ip', ['netns', 'add', NAMESPACE]);
  await execa('ip', ['-n', NAMESPACE, '-batch', '-'], { input: ['link set lo up', ...lines].join('\n') });
}

function realCaseKernel(): CaseKernel {
  const calls: ToolCall[] = [];
  const inside = netnsHost(NAMESPACE);
  const host: Host = {
    ...inside,
    runTool: (call) => {
      calls.push(call);
      return inside.runTool(call);
    },
  };
  return {
    repeatAfter: 'the last step',
    host,
    dump: async () => {
      const [ipvs = '', dummy = '', sets = '', ...tables] = await printAll();
      const addresses = parseAddresses(dummy).map((address) => address.slice(0, address.indexOf('/')));
      return { ipvs: ipvs.split('\n').filter(Boolean), dummy: addresses, sets: parseSets(sets), tables };
    },
    takeWrites: () => calls.splice(0).flatMap(({ tool, input }) => (input === undefined ? [] : [tool])),
  };
}

const PRINTS = ['ipvsadm -Sn', 'ip -oneline address show kube-ipvs0', 'ipset save', 'iptables-save', 'ip6tables-save'];

/** What each command prints inside the namespace; one process that starts them all is quicker than one for each. */
async function printAll(): Promise<readonly string[]> {
  const end = '\u0001';
  const script = PRINTS.map((command) => `${command} || exit 1; printf '${end}'`).join('; ');
  const { stdout } = await execa('nsenter', [`--net=/run/netns/${NAMESPACE}`, 'sh', '-c', script]);
  return stdout.split(end).slice(0, PRINTS.length);
}
