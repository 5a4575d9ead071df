import type { Family } from '../../../src/net/family.ts';
import { DEFAULT_DRAINING } from '../../../src/sync/proxier.ts';
import { readState } from '../../trace/states.ts';
import type { ObjectJson } from '../cluster-objects.ts';
import { programFromScratch } from '../kernel-text.ts';
import { memoryKernel } from '../memory-kernel.ts';
import { NodeUnderTest } from '../node-under-test.ts';
import { type PacketStep, type PacketWalkSketch, refusing } from './any-walk.ts';
import { NODE_LINKS } from './ground.ts';
import { LineByLine, type Looks } from './line-by-line.ts';
import { type Ends, Onlooker } from './onlooker.ts';

/** A node that is led from one cluster to another while somebody sends packets after every line of every script. */
export class PacketWalk {
  /** How often packets were sent. */
  moments = 0;
  /** What has gone wrong on purpose. */
  troubles = 0;
  readonly #node: NodeUnderTest;
  readonly #tools: LineByLine;

  constructor({ settings, closingMs }: Pick<PacketWalkSketch, 'settings' | 'closingMs'>) {
    const draining = { ...DEFAULT_DRAINING, closingMs };
    this.#node = new NodeUnderTest({ settings, draining, links: NODE_LINKS });
    this.#tools = new LineByLine(this.#node.kernel);
  }

  async change({ by, objects }: PacketStep): Promise<void> {
    if (by === 'restart') this.#node.restart();
    await this.#watch([objects], () => this.#node.apply(objects, by === 'full' ? 'full' : 'normal'));
  }

  /** A new process with settings of its own finds another cluster. */
  async changeSettings({ settings, objects }: PacketStep): Promise<void> {
    this.#node.restart(settings);
    await this.#watch([objects], () => this.#node.apply(objects));
  }

  /** The kernel refuses lines while the cluster changes, and changes again; then all goes well. */
  async changeRefused({ objects, later, refusal }: PacketStep): Promise<void> {
    const node = this.#node;
    const { refused } = this.#tools;
    let isRefused = refusing(refusal);
    const refusedHere: Looks['isRefused'] = (piece) => isRefused(piece);
    const changed = async () => {
      node.record(objects);
      await node.tryPass('normal');
      await node.tryPass('normal');
    };
    await this.#watch([objects], changed, refusedHere);
    await this.#watch(
      [objects, later],
      async () => {
        node.record(later);
        await node.tryPass('normal', () => false);
        await node.tryPass('normal');
        isRefused = () => false;
        await node.tryPass('normal');
        this.troubles += refused.size;
        refused.clear();
        await node.pass('normal');
      },
      refusedHere,
    );
  }

  /** The program dies on the way with its tools; another one finds the cluster as it is later. */
  async changeAndDie({ objects, later, piecesBeforeDeath }: PacketStep): Promise<void> {
    await this.#watch([objects, later], async () => {
      if (await this.#tools.dieAfter(piecesBeforeDeath, () => this.#node.apply(objects))) this.troubles += 1;
      this.#node.restart();
      await this.#node.apply(later);
    });
  }

  /** Every answer meanwhile has to be good for what stands now or for what one of the clusters comes to. */
  async #watch(
    clusters: readonly (readonly ObjectJson[])[],
    work: () => Promise<unknown>,
    isRefused: Looks['isRefused'] = () => false,
  ): Promise<void> {
    const tools = this.#tools;
    const ends = { IPv4: await this.#ends('IPv4', clusters), IPv6: await this.#ends('IPv6', clusters) };
    const onlooker = new Onlooker({ kernel: this.#node.kernel, ends, refused: tools.refused });
    tools.put({ after: (piece) => onlooker.look(piece), isRefused });
    try {
      await work();
    } finally {
      tools.put(undefined);
      this.moments += onlooker.moments;
    }
  }

  async #ends(family: Family, clusters: readonly (readonly ObjectJson[])[]): Promise<Ends> {
    const ends = [await readState(this.#node.kernel, family)];
    for (const objects of clusters) {
      const scratch = memoryKernel(NODE_LINKS);
      programFromScratch(scratch, objects, this.#node.settings);
      ends.push(await readState(scratch, family));
    }
    return ends;
  }
}
