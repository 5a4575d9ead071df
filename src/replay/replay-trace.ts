import type { Problem } from '../model/problem.ts';
import type { QueueSettings } from '../queue/settings.ts';
import type { Controller, PassCost } from './controller.ts';
import { EventFilter } from './event-filter.ts';
import { NaiveController } from './naive-controller.ts';
import { type PassTimes, PlainController } from './plain-controller.ts';
import { QueueController } from './queue-controller.ts';
import { SimulatedClock } from './simulated-clock.ts';
import type { TraceEvent } from './trace-event.ts';

export interface ReplaySettings extends PassTimes {
  readonly queue: QueueSettings;
  readonly cost: PassCost;
  /** `''` when no Node of the trace counts as the own one. */
  readonly nodeName: string;
  readonly otherNodes: 'watched' | 'ignored';
  /** Is told what is wrong with an object. */
  readonly problem: (problem: Problem) => void;
}

export interface Replayed {
  readonly controllers: readonly Controller[];
  readonly events: number;
  /** From the first event until each controller is at rest and the minimum between passes is over. */
  readonly durationMs: number;
}

/**
 * Runs a trace, given in pieces, through all controllers at once, on one simulated clock. Events before the second point in time make up
 * the first list; passes begin after them. Times must not go back. The trace is read once and never held.
 */
export async function replayTrace(
  trace: AsyncIterable<Iterable<TraceEvent>>,
  settings: ReplaySettings,
): Promise<Replayed> {
  const clock = new SimulatedClock();
  const filter = new EventFilter({ ...settings, thresholds: settings.queue.thresholds });
  const controllers = makeControllers(settings, clock, filter);
  let [events, startMs, isStarted] = [0, 0, false];
  const start = () => {
    isStarted = true;
    for (const controller of controllers) controller.start();
  };
  for await (const piece of trace) {
    for (const event of piece) {
      if (events === 0) {
        startMs = event.atMs;
        await clock.advanceTo(startMs);
      } else if (event.atMs > clock.nowMs()) {
        if (!isStarted) start();
        await clock.advanceTo(event.atMs);
      }
      events += 1;
      const verdict = filter.judge(event);
      for (const controller of controllers) controller.take(verdict, event.atMs);
    }
  }
  if (!isStarted) start();
  await settle(controllers, clock);
  const endMs = Math.max(...controllers.map(({ tally }) => tally.lastEndMs)) + settings.minSyncPeriodMs;
  return { controllers, events, durationMs: Math.max(endMs, clock.nowMs()) - startMs };
}

/** Goes on until each controller has been at rest, be it not all at once, and until the passes have ended that run by then. */
async function settle(controllers: readonly Controller[], clock: SimulatedClock): Promise<void> {
  const isBusy = (controller: Controller) => !controller.isSettled();
  for (let busy = controllers.filter(isBusy); busy.length > 0; busy = busy.filter(isBusy)) {
    if (!(await clock.advanceToNext())) throw new Error('a controller waits for nothing');
  }
  const runOut = async () => {
    while (await clock.advanceToNext());
  };
  await Promise.all([...controllers.map((controller) => controller.stop()), runOut()]);
}

function makeControllers(settings: ReplaySettings, clock: SimulatedClock, filter: EventFilter): readonly Controller[] {
  const { cost, minSyncPeriodMs, syncPeriodMs, queue } = settings;
  const common = { clock, cost, minSyncPeriodMs, syncPeriodMs, services: () => filter.services };
  return [
    new NaiveController(cost),
    new PlainController(common),
    new QueueController({ ...common, queue, record: filter.record }),
  ];
}
