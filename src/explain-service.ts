import { type Host, systemHost } from './apply/host.ts';
import { examineNode } from './apply/prepare-node.ts';
import type { ExplainArguments } from './cli/arguments.ts';
import type { ExitCode } from './cli/exit-code.ts';
import { formatExplanation } from './cli/explanation-output.ts';
import { parseNodeAddresses } from './cli/node-addresses.ts';
import { printNotices, readEffectiveConfig } from './cli/read-config.ts';
import { schedulerSource } from './cli/scheduler-source.ts';
import type { Terminal } from './cli/terminal.ts';
import { proxySettings } from './config/proxy-settings.ts';
import { suggest } from './config/suggest.ts';
import { compareFamilies } from './diff-node.ts';
import { explainService as explain } from './explain/explain-service.ts';
import { findTarget, type NotFound } from './explain/find-target.ts';
import { parseTarget } from './explain/target.ts';
import { gatherCluster } from './gather-cluster.ts';
import { describeProblem } from './model/problem.ts';
import { fail, type Result, succeed } from './model/result.ts';
import { FAMILIES } from './net/family.ts';
import { readNode, type SeenNode } from './read-node.ts';
import { computeOnce } from './sync/compute-once.ts';

/** Prints why a Service, or an address, is served as it is. Changes nothing. Status 1 when there is no such thing, or it cannot be told. */
export async function explainService(
  args: ExplainArguments,
  version: string,
  terminal: Terminal,
  host: Host = systemHost,
): Promise<ExitCode> {
  const target = parseTarget(args.target);
  if (!target) return giveUp(terminal, `${JSON.stringify(args.target)} is neither a Service nor an address`, 2);
  const read = await readEffectiveConfig(args.flags, terminal);
  const given = parseNodeAddresses(args.nodeAddresses);
  if (!given.ok) terminal.error(`error: ${given.error}`);
  if (!read || !given.ok) return 2;
  const { config } = read;
  printNotices(config, terminal);
  const seen = await lookAtNode(host, args.kernel);
  if (!seen.ok && args.kernel === 'required') return giveUp(terminal, seen.error);
  if (!seen.ok) terminal.error(`note: the kernel of this node is not compared: ${seen.error}`);
  const node = seen.ok ? seen.value : undefined;
  const interfaces = given.value.size > 0 ? given.value : (node?.interfaces ?? given.value);
  const others = target.kind === 'service' ? { name: target.name } : 'addressed';
  const gathered = await gatherCluster({ args, config, interfaces, others, version, terminal });
  if (!gathered.ok) return giveUp(terminal, gathered.error);
  const { services, slices, unselected, view, isPartial, warnings } = gathered.value;
  for (const warning of warnings.filter(({ object }) => object === `Node ${view.name}`)) {
    terminal.error(`warning: ${describeProblem(warning)}`);
  }
  const settings = proxySettings(config, node?.randomFully ?? true);
  const families = computeOnce({ services, slices }, view, node ? [...node.observed.keys()] : FAMILIES, settings);
  const found = findTarget(target, { services, unselected: unselected.map(({ service }) => service) }, families);
  if (!found.ok) return giveUp(terminal, describeNotFound(found.error));
  const inputs = {
    slices,
    unselected,
    nodeName: view.name,
    families,
    behaviour: config.behaviour,
    warnings: [...warnings, ...families.flatMap(({ problems }) => problems)],
    comparisons: node ? compareFamilies(families, node.observed, config) : [],
  };
  const explained = {
    node: view.name,
    schedulerFrom: schedulerSource(args.flags, read.file),
    services: found.value.map((service) => explain(service, target, inputs)),
  };
  await terminal.output(formatExplanation(explained, args.form));
  return isPartial ? 1 : 0;
}

type LookedAt = SeenNode & { readonly randomFully: boolean };

async function lookAtNode(
  host: Host,
  kernel: ExplainArguments['kernel'],
): Promise<Result<LookedAt | undefined, string>> {
  if (kernel === 'no') return succeed(undefined);
  const examined = await examineNode(host);
  if (!examined.ok) return fail(examined.error.join('; '));
  const { families, randomFully } = examined.value;
  const read = await readNode(host, families);
  return read.ok ? succeed({ ...read.value, randomFully }) : read;
}

/** One line with the nearest things that there are. */
function describeNotFound(error: NotFound): string {
  switch (error.kind) {
    case 'no-service': {
      const near = nearestService(error.name, error.candidates);
      const meant = near === undefined ? '' : `; did you mean ${near}?`;
      return `there is no Service ${error.name}${meant}`;
    }
    case 'several-services':
      return `several Services are called ${error.name}: ${error.candidates.join(', ')}`;
    case 'no-port':
      return `Service ${error.service} has no port ${error.port}; it has ${error.candidates.join(', ')}`;
    case 'no-frontend':
      return `nobody serves ${error.frontend} on this node${nearestFrontend(error)}`;
  }
}

const SHOWN = 10;

/** The same name in another namespace comes before a name that is only alike. */
function nearestService(name: string, candidates: readonly string[]): string | undefined {
  const own = (text: string) => text.slice(text.indexOf('/') + 1);
  const namesakes = candidates.filter((candidate) => own(candidate) === own(name));
  if (namesakes.length > 0) return namesakes.slice(0, SHOWN).join(', ');
  if (name.includes('/')) return suggest(name, candidates);
  const near = suggest(name, candidates.map(own));
  return candidates.find((candidate) => own(candidate) === near);
}

type NoFrontend = Extract<NotFound, { kind: 'no-frontend' }>;

/** What else the address may have been meant for. */
function nearestFrontend({ frontend, endpointOf, sameAddress, candidates }: NoFrontend): string {
  if (endpointOf.length > 0) return `; it is an endpoint of ${endpointOf.slice(0, SHOWN).join(', ')}`;
  if (sameAddress.length > 0) return `; there is ${sameAddress.slice(0, SHOWN).join(', ')}`;
  const dialled = (key: string) => key.slice(key.indexOf(' ') + 1);
  const near = suggest(frontend, candidates.map(dialled));
  return near === undefined ? '' : `; did you mean ${candidates.find((key) => dialled(key) === near)}?`;
}

function giveUp(terminal: Terminal, message: string, status: ExitCode = 1): ExitCode {
  terminal.error(`error: ${message}`);
  return status;
}
