import { expect } from 'chai';
import type { Behaviour, ProxySettings } from '../../src/desired/settings.ts';
import { FAMILIES, type Family } from '../../src/net/family.ts';
import type { ObjectJson } from '../kernel/cluster-objects.ts';
import { NodeUnderTest } from '../kernel/node-under-test.ts';
import { type Asked, ask, askedOf, stickiness } from './ask.ts';
import type { TracedState } from './path.ts';
import { describeNode, linksOf, type NodeGiven, type NodeName } from './place.ts';
import { NODES, type Sketch } from './sketch.ts';
import { desiredStates, readState, settingsOf } from './states.ts';

/** What is expected under both behaviours, or under each. */
export type Answer = string | Readonly<Record<Behaviour, string>>;

/** One state of the cluster and what packets meet in it. */
export interface Step {
  readonly objects: readonly Sketch[];
  /** Questions as `ask` takes them. */
  readonly asks?: Readonly<Record<string, Answer>>;
  /** Frontends as `stickiness` takes them. */
  readonly sticky?: Readonly<Record<string, string>>;
  /** How many endpoints the health check of the only Service counts on a node. */
  readonly healthy?: Readonly<Partial<Record<NodeName, number>>>;
}

/** A row of a table: the cluster goes through the steps one after the other, and every node is made as given. */
export interface Row extends NodeGiven {
  readonly name: string;
  readonly steps: readonly Step[];
  readonly families?: readonly Family[];
  readonly settings?: Partial<ProxySettings>;
}

export const BEHAVIOURS: readonly Behaviour[] = ['kube-proxy', 'documented'];

/**
 * A test for each row, family and behaviour. Every step is asked of states made from nothing; in rows of several steps also of a kernel in
 * memory that node-a's proxier has led from step to step.
 */
export function testRows(rows: readonly Row[]): void {
  for (const row of rows) {
    for (const family of row.families ?? FAMILIES) {
      for (const behaviour of BEHAVIOURS) {
        it(`${row.name} (${family}, ${behaviour})`, () => testRow(row, family, behaviour));
      }
    }
  }
}

async function testRow({ steps, settings = {}, ...node }: Row, family: Family, behaviour: Behaviour) {
  const given = settingsOf({ ...settings, behaviour });
  const links = { ...linksOf('node-a'), ...node.moreLinks };
  const live = steps.length > 1 ? new NodeUnderTest({ links, settings: given }) : undefined;
  const describe = (name: NodeName) => describeNode(name, node);
  for (const [index, step] of steps.entries()) {
    const desired = desiredStates(step.objects, family, { ...node, settings: given });
    const computed = (name: NodeName): TracedState => desired(name).kernel;
    compare(step, behaviour, askedOf(family, computed, describe), `step ${index + 1}`);
    for (const [name, expected] of Object.entries(step.healthy ?? {})) {
      const counts = desired(name as NodeName).healthChecks.map(({ localEndpoints }) => localEndpoints);
      expect(counts, `step ${index + 1}: health check on ${name}`).to.deep.equal([expected]);
    }
    if (!live) continue;
    await live.apply([...NODES, ...step.objects.map((sketch): ObjectJson => sketch(family))]);
    const held = await readState(live.kernel, family);
    const stateOf = (name: NodeName) => (name === 'node-a' ? held : computed(name));
    compare(step, behaviour, askedOf(family, stateOf, describe), `step ${index + 1} in the kernel`);
  }
}

function compare({ asks = {}, sticky = {} }: Step, behaviour: Behaviour, asked: Asked, label: string): void {
  for (const [text, answer] of Object.entries(asks)) {
    const expected = typeof answer === 'string' ? answer : answer[behaviour];
    expect(ask(text, asked), `${label}: ${text}`).to.equal(expected);
  }
  for (const [text, expected] of Object.entries(sticky)) {
    expect(stickiness(text, asked), `${label}: ${text}`).to.equal(expected);
  }
}

/** `a1 sees a2 | b1 sees a2` for receivers `a1 b1`. */
export function sees(receivers: string, sender: string): string {
  return receivers
    .split(' ')
    .map((receiver) => `${receiver} sees ${sender}`)
    .join(' | ');
}
