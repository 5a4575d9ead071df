import { SET_DEFINITIONS, type SetType, setName } from '../kernel/ipset/definitions.ts';
import type { IpsetStep } from '../kernel/ipset/diff.ts';
import type { TableChange } from '../kernel/iptables/diff.ts';
import type { IpvsStep } from '../kernel/ipvs/diff.ts';
import { realServerKey, type VirtualServer, virtualServerKey } from '../kernel/ipvs/state.ts';
import type { Family } from '../net/family.ts';
import { familyOf, type IpAddress, parseIpAddress } from '../net/ip-address.ts';
import { parsePort } from '../net/port.ts';
import type { Plan, PlanPart } from './plan-sync.ts';
import type { Refused } from './refused.ts';

/** Something in a plan that the tools would refuse, or that leads nowhere. */
export interface Flaw {
  readonly message: string;
  /** What can be left out so that the rest may be done; `undefined` when nothing of the plan may. */
  readonly of: Refused | undefined;
}

/**
 * Checks everything that a plan would write before any of it is: types, ranges, families, and that rules name sets and chains which are
 * there. Nothing of what a tool stops at, dropping the rest of its script, gets to it. Costs what the plan writes.
 */
export function checkPlan(plan: Plan): readonly Flaw[] {
  return plan.parts.flatMap((part) => checkPart(part, plan));
}

function checkPart(part: PlanPart, plan: Plan): readonly Flaw[] {
  const { family } = plan;
  switch (part.tool) {
    case 'ipvs':
      return part.steps.flatMap((step) => checkIpvsStep(step, family));
    case 'address':
      return part.steps.flatMap((step) =>
        step.kind === 'create-interface' || isOf(step.address, family)
          ? []
          : [flaw(`address ${step.address} is not of ${family}`, { kind: 'address', address: step.address })],
      );
    case 'ipset':
      return part.steps.flatMap((step) => checkIpsetStep(step, family));
    default:
      return part.changes.flatMap((change) => checkTable(change, plan));
  }
}

/** What is wrong with one step; nothing for one that the tool takes. */
export function checkIpvsStep(step: IpvsStep, family: Family): readonly Flaw[] {
  const { server } = step;
  const key = virtualServerKey(server);
  const wrong = wrongServer(server, family);
  if (wrong) return [flaw(`virtual server ${key} ${wrong}`, { kind: 'virtual-server', server: key })];
  if (!('real' in step)) return [];
  const { address, port, weight } = step.real;
  const real = realServerKey(step.real);
  const isRight = isOf(address, family) && parsePort(port) !== undefined && isWhole(weight, MAX_WEIGHT);
  return isRight
    ? []
    : [
        flaw(`real server ${real} with weight ${weight} of ${key} cannot be`, {
          kind: 'real-server',
          server: key,
          real,
        }),
      ];
}

function wrongServer(server: VirtualServer, family: Family): string | undefined {
  const { address, port, scheduler, schedulerFlags = [], persistenceSeconds } = server;
  if (!isOf(address, family)) return `is not of ${family}`;
  if (parsePort(port) === undefined) return `has port ${port}`;
  if (!WORD.test(scheduler) || !schedulerFlags.every((flag) => WORD.test(flag)))
    return 'has a scheduler that is no word';
  return isWhole(persistenceSeconds, MAX_PERSISTENCE) ? undefined : `has persistence of ${persistenceSeconds} s`;
}

function checkIpsetStep(step: IpsetStep, family: Family): readonly Flaw[] {
  if (step.kind !== 'add-entry') return [];
  const type = TYPES[family].get(step.set.name) ?? step.set.type;
  const isRight = ENTRIES[type as SetType]?.(step.entry, family) ?? false;
  return isRight
    ? []
    : [
        flaw(`${step.entry} cannot be in set ${step.set.name}`, {
          kind: 'set-entry',
          set: step.set.name,
          entry: step.entry,
        }),
      ];
}

/** Rules that name a set or a chain which is not there make the tool refuse all rules of its script. */
function checkTable({ table, chains, jumps }: TableChange, { after, parts }: Plan): readonly Flaw[] {
  const present = after.tables[table];
  const isThere = (set: string) => after.sets.has(set) || isDestroyed(set, parts);
  const rules = [
    ...[...chains].flatMap(([chain, own]) => own.map((rule) => [chain, rule] as const)),
    ...jumps.map(({ from, rule }) => [from, rule] as const),
  ];
  return rules.flatMap(([chain, rule]) => [
    ...[...rule.matchAll(/--match-set (\S+) /g)]
      .filter(([, name = '']) => !isThere(name))
      .map(([, name]) =>
        flaw(`a rule of chain ${chain} in table ${table} names set ${name}, which is not there`, undefined),
      ),
    ...[...rule.matchAll(/ -[jg] (KUBE-\S+)/g)]
      .filter(([, name = '']) => !chains.has(name) && !present.has(name))
      .map(([, name]) =>
        flaw(`a rule of chain ${chain} in table ${table} leads to chain ${name}, which is not there`, undefined),
      ),
  ]);
}

/** Rules may name it until then. */
function isDestroyed(set: string, parts: readonly PlanPart[]): boolean {
  const steps = parts.flatMap((part) => (part.tool === 'ipset' ? part.steps : []));
  return steps.some((step) => step.kind === 'destroy-set' && step.name === set);
}

function flaw(message: string, of: Refused | undefined): Flaw {
  return { message, of };
}

function isOf(address: IpAddress, family: Family): boolean {
  return parseIpAddress(address) === address && familyOf(address) === family;
}

function isWhole(value: number, most: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= most;
}

const WORD = /^[a-z0-9-]+$/;
const MAX_WEIGHT = 65_535;
/** What `ipvsadm` takes, in seconds: 31 days. */
const MAX_PERSISTENCE = 31 * 24 * 60 * 60;

const TYPES: Readonly<Record<Family, ReadonlyMap<string, SetType>>> = { IPv4: typesOf('IPv4'), IPv6: typesOf('IPv6') };

function typesOf(family: Family): ReadonlyMap<string, SetType> {
  return new Map(SET_DEFINITIONS.map(({ id, type }) => [setName(id, family), type]));
}

const ENTRIES: Readonly<Record<SetType, (entry: string, family: Family) => boolean>> = {
  'bitmap:port': (entry) => parsePort(Number(entry)) !== undefined,
  'hash:ip': isAddress,
  'hash:ip,port': (entry, family) => isAddressPort(entry.split(','), family),
  'hash:ip,port,ip': (entry, family) => hasThird(entry, family, isAddress),
  'hash:ip,port,net': (entry, family) => hasThird(entry, family, isNetwork),
};

function isAddress(text: string, family: Family): boolean {
  const address = parseIpAddress(text);
  return address !== undefined && familyOf(address) === family;
}

function isAddressPort([address = '', port = '', ...rest]: readonly string[], family: Family): boolean {
  const [, number] = /^(?:tcp|udp|sctp):(\d+)$/.exec(port) ?? [];
  return rest.length === 0 && isAddress(address, family) && parsePort(Number(number)) !== undefined;
}

function hasThird(entry: string, family: Family, isRight: (text: string, family: Family) => boolean): boolean {
  const [address = '', port = '', third = '', ...rest] = entry.split(',');
  return rest.length === 0 && isAddressPort([address, port], family) && isRight(third, family);
}

/** `ipset` has no network of all addresses. */
function isNetwork(text: string, family: Family): boolean {
  const [address = '', length, ...rest] = text.split('/');
  const longest = family === 'IPv4' ? 32 : 128;
  const isLength = length === undefined || (/^\d+$/.test(length) && Number(length) >= 1 && Number(length) <= longest);
  return rest.length === 0 && isAddress(address, family) && isLength;
}
