import { KUBE_PROXY_SETS, SET_DEFINITIONS } from '../kernel/ipset/definitions.ts';
import { addressEntry } from '../kernel/ipset/state.ts';
import type { WantedTables } from '../kernel/iptables/state.ts';
import type { VirtualServer, VirtualServerKey } from '../kernel/ipvs/state.ts';
import type { ServicePortKey } from '../model/names.ts';
import type { NodeView } from '../model/node-view.ts';
import { describeProblem, type Problem } from '../model/problem.ts';
import { same } from '../model/same.ts';
import type { Family } from '../net/family.ts';
import type { IpAddress } from '../net/ip-address.ts';
import type { Tracked } from '../tracking/tracker.ts';
import { type ClaimChange, Claims } from './claims.ts';
import { CountedSet } from './counted-set.ts';
import type { Desired } from './desired.ts';
import { HealthChecks } from './health-checks.ts';
import { type NodeInputs, nodeInputs } from './node-inputs.ts';
import { byFrontend, type ClosedFrontend, filledSets, type RuleInputs } from './rule-inputs.ts';
import { wantedTables } from './rules.ts';
import { type FrontPart, type ServicePart, servicePart } from './service-part.ts';
import { SetContents } from './set-contents.ts';
import type { ProxySettings } from './settings.ts';
import { type Touched, Touches } from './touched.ts';
import { StaleFlows } from './udp-flows.ts';

/**
 * What is wanted of one family, kept from pass to pass: a change costs what it changes, not what there is. The same input leads to the
 * same state, whatever the way there.
 */
export class DesiredState {
  /** Flows that may be answered by somebody who may not any more. */
  readonly staleFlows = new StaleFlows();
  readonly #family: Family;
  readonly #settings: ProxySettings;
  readonly #parts = new Map<ServicePortKey, ServicePart>();
  readonly #claims = new Claims();
  readonly #servers = new Map<VirtualServerKey, VirtualServer>();
  readonly #bound = new CountedSet<IpAddress>();
  readonly #proxied = new CountedSet<IpAddress>();
  readonly #closed = new Map<VirtualServerKey, ClosedFrontend>();
  readonly #partProblems = new Map<ServicePortKey, readonly Problem[]>();
  readonly #healthChecks = new HealthChecks();
  readonly #touches = new Touches();
  readonly #sets: SetContents;
  #view: NodeView | undefined;
  #node: NodeInputs | undefined;
  #rules: RuleInputs | undefined;
  #tables: WantedTables | undefined;
  #current: Desired | undefined;
  /** Of {@link DesiredState.#closed}, in the order of the rules; `undefined` when it has to be made anew. */
  #closedList: readonly ClosedFrontend[] | undefined;

  constructor(family: Family, settings: ProxySettings) {
    this.#family = family;
    this.#settings = settings;
    const definitions = settings.behaviour === 'documented' ? SET_DEFINITIONS : KUBE_PROXY_SETS;
    this.#sets = new SetContents(family, { definitions, room: settings.setRoom }, (entry) =>
      this.#touches.entries.add(entry),
    );
  }

  /** What the last call of {@link update} gave; `undefined` before the first. */
  get current(): Desired | undefined {
    return this.#current;
  }

  /** What has come to be wanted, or has ceased to be, since the kernel was as wanted last; live. */
  get touched(): Touched {
    return this.#touches;
  }

  /** The kernel has become as wanted, but for what is remembered elsewhere. */
  settled(): void {
    this.#touches.clear();
  }

  /** Takes over what has changed of Services and the node. The maps in the answer are live: the next call changes them. */
  update(tracked: Tracked, view: NodeView): Desired {
    const { node, ports } = this.#takeNode(tracked, view);
    const exchanged = [...ports].map((key) => this.#exchange(key, tracked, node));
    for (const change of this.#claims.replace(exchanged)) this.#take(change);
    const { rules, tables } = this.#takeRules(node);
    this.#current = {
      kernel: {
        family: this.#family,
        ipvs: this.#servers,
        sets: this.#sets.states,
        dummy: { exists: true, addresses: this.#bound.values },
        tables,
      },
      healthChecks: this.#healthChecks.all(),
      problems: [...this.#claims.problems(), ...distinct([...this.#partProblems.values()].flat())],
      node,
      rules,
      parts: this.#parts,
      proxied: this.#proxied.values,
      owners: this.#claims.owners,
    };
    return this.#current;
  }

  /** The node, and the service ports to be computed: all of them when it has changed in a way that may concern any. */
  #takeNode(
    { ports, changedPorts }: Tracked,
    view: NodeView,
  ): { readonly node: NodeInputs; readonly ports: ReadonlySet<ServicePortKey> } {
    const [before, known] = [this.#node, this.#view];
    if (before && known && isSameView(known, view)) return { node: before, ports: changedPorts };
    const fresh = nodeInputs(view, this.#family, this.#settings);
    const node = before && same(before, fresh) ? before : fresh;
    this.#view = view;
    this.#node = node;
    if (before === node) return { node, ports: changedPorts };
    const { otherNodeAddresses } = node;
    if (!before || !same({ ...before, otherNodeAddresses }, node)) {
      return { node, ports: new Set([...ports.keys(), ...this.#parts.keys()]) };
    }
    const differing = before.otherNodeAddresses.symmetricDifference(otherNodeAddresses);
    const concerned = [...ports.values()].filter(({ externalIPs, loadBalancerVIPs }) =>
      [...externalIPs, ...loadBalancerVIPs].some((address) => differing.has(address)),
    );
    return { node, ports: changedPorts.union(new Set(concerned.map(({ key }) => key))) };
  }

  #exchange(
    key: ServicePortKey,
    { ports, endpoints }: Tracked,
    node: NodeInputs,
  ): { readonly old: ServicePart | undefined; readonly now: ServicePart | undefined } {
    const old = this.#parts.get(key);
    const port = ports.get(key);
    const now = port && servicePart(port, endpoints.get(key) ?? NO_ENDPOINTS, node, this.#settings);
    if (now) this.#parts.set(key, now);
    else this.#parts.delete(key);
    if (now && now.problems.length > 0) this.#partProblems.set(key, now.problems);
    else this.#partProblems.delete(key);
    for (const entry of now?.entries ?? []) this.#sets.add(entry);
    for (const entry of old?.entries ?? []) this.#sets.remove(entry);
    for (const address of now?.port.loadBalancerProxies ?? []) this.#proxied.add(address);
    for (const address of old?.port.loadBalancerProxies ?? []) this.#proxied.remove(address);
    this.#healthChecks.replace(key, old, now);
    this.staleFlows.replace(old, now);
    return { old, now };
  }

  #take({ key, owner, before, after }: ClaimChange): void {
    if (owner) this.#servers.set(key, owner.front.server);
    else this.#servers.delete(key);
    this.#touches.servers.add(key);
    for (const front of after) this.#add(front);
    for (const front of before) this.#remove(front);
    const closed = after.find(({ closedToNode }) => closedToNode)?.server;
    this.#close(key, closed);
    // What closes it holds no longer than the address is bound: whoever orders the steps has to know of both.
    if (closed && this.#touches.addresses.has(closed.address)) this.#touches.rules = true;
  }

  #add({ entries, bind, server: { address } }: FrontPart): void {
    for (const entry of entries) this.#sets.add(entry);
    if (!bind) return;
    this.#sets.add(['IPVS-IPS', addressEntry(address)]);
    if (this.#bound.add(address)) this.#touches.addresses.add(address);
  }

  #remove({ entries, bind, server: { address } }: FrontPart): void {
    for (const entry of entries) this.#sets.remove(entry);
    if (!bind) return;
    this.#sets.remove(['IPVS-IPS', addressEntry(address)]);
    if (this.#bound.remove(address)) this.#touches.addresses.add(address);
  }

  /** The list is made once for all that change in an update, and only when one comes or goes. */
  #close(key: VirtualServerKey, server: VirtualServer | undefined): void {
    if (this.#closed.has(key) === (server !== undefined)) return;
    if (server) this.#closed.set(key, { address: server.address, protocol: server.protocol, port: server.port });
    else this.#closed.delete(key);
    this.#closedList = undefined;
  }

  #takeRules(node: NodeInputs): { readonly rules: RuleInputs; readonly tables: WantedTables } {
    const { behaviour, masqueradeBit, masqueradeAll, randomFully } = this.#settings;
    this.#closedList ??= [...this.#closed.values()].sort(byFrontend);
    const fresh: RuleInputs = {
      family: this.#family,
      behaviour,
      filled: filledSets(this.#sets.states, this.#family),
      mark: 2 ** masqueradeBit,
      masqueradeAll,
      randomFully,
      detector: node.detector,
      ownPods: node.ownPods,
      closedToNode: this.#closedList,
    };
    if (this.#rules && this.#tables && same(this.#rules, fresh)) return { rules: this.#rules, tables: this.#tables };
    const tables = wantedTables(fresh);
    [this.#rules, this.#tables] = [fresh, tables];
    this.#touches.rules = true;
    return { rules: fresh, tables };
  }
}

const NO_ENDPOINTS: readonly never[] = [];

/** Views are made of parts that stay the same objects until they change. */
function isSameView(a: NodeView, b: NodeView): boolean {
  return (Object.keys(b) as (keyof NodeView)[]).every((field) => a[field] === b[field]);
}

/** Each once, though every port of a Service has it; sorted. */
function distinct(problems: readonly Problem[]): readonly Problem[] {
  const byText = new Map(problems.map((problem) => [describeProblem(problem), problem]));
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, problem]) => problem);
}
