import { eventsClient } from './kube/client-events.ts';
import type { ApiTransport } from './kube/client-transport.ts';
import type { Problem } from './model/problem.ts';
import { EventRecorder } from './observe/events.ts';
import type { ReportedEvent } from './observe/events-body.ts';
import { describeRefused } from './plan/refused.ts';
import type { Clock } from './queue/clock.ts';
import type { QuarantineChange } from './queue/quarantine.ts';
import type { ServiceQueue } from './queue/service-queue.ts';
import type { DeafServer } from './serving.ts';
import type { PassReport } from './sync/proxier.ts';

export interface PassEventsOptions {
  readonly nodeName: string;
  readonly report: (event: ReportedEvent) => void;
  /** The uid of Service `namespace/name`; `''` when it is not known. */
  readonly serviceUid: (service: string) => string;
}

/** Reports as Events what people have to see of the node and of Services on it; each when it begins, and again when it has changed. */
export class PassEvents {
  readonly #options: PassEventsOptions;
  #problems: ReadonlySet<string> = new Set();
  #refusals: ReadonlySet<string> = new Set();

  constructor(options: PassEventsOptions) {
    this.#options = options;
  }

  started(version: string): void {
    const note = `ipvs-proxier ${version} programs this node`;
    this.#node({ type: 'Normal', reason: 'Starting', action: START, note });
  }

  /** A server cannot listen, which ends the process. */
  serverFailed({ server, message }: DeafServer): void {
    const reason = server === 'health' ? 'FailedToStartProxierHealthcheck' : 'FailedToStartMetricServer';
    this.#node({ type: 'Warning', reason, action: START, note: message });
  }

  /** The kernel lacks the scheduler that was asked for. */
  schedulerReplaced(note: string): void {
    this.#node({ type: 'Warning', reason: 'SchedulerReplaced', action: START, note });
  }

  /** The health check port of a Service could not be opened. Source of the words: kubernetes/kubernetes pkg/proxy/healthcheck */
  healthPortFailed({ service, port }: { readonly service: string; readonly port: number }, message: string): void {
    const note = `node ${this.#options.nodeName} failed to start healthcheck ${service} on port ${port}: ${message}`;
    this.#service(service, { type: 'Warning', reason: 'FailedToStartServiceHealthcheck', action: 'Listen', note });
  }

  /** What of Services is not served as they ask for, and what the kernel does not take. */
  passed(report: PassReport): void {
    if (report.families.length === 0) return;
    const problems = report.families.flatMap(({ state }) => state.desired?.problems ?? []);
    this.#problems = this.#tellNew(
      this.#problems,
      problems.flatMap((problem) => this.#problem(problem)),
    );
    const refusals = report.refusals.map(({ service, refused, message }) => {
      const note = `${this.#here()} left out ${describeRefused(refused)}: ${message}`;
      return { service, event: { type: 'Warning', reason: 'RefusedByKernel', action: 'Program', note } as const };
    });
    this.#refusals = this.#tellNew(this.#refusals, refusals);
  }

  /** The queue, but it is heard when a Service enters or leaves quarantine. */
  queue(queue: ServiceQueue): Pick<ServiceQueue, 'add' | 'drain' | 'done' | 'isQuarantined'> {
    return {
      add: (change) => queue.add(change),
      drain: (scope) => queue.drain(scope),
      isQuarantined: (service) => queue.isQuarantined(service),
      done: (service, outcome) => {
        const change = queue.done(service, outcome);
        if (change) this.#quarantine(change);
        return change;
      },
    };
  }

  #quarantine({ kind, service, failures }: QuarantineChange): void {
    if (kind === 'released') {
      const note = `${this.#here()} programs it again`;
      this.#service(service, { type: 'Normal', reason: 'QuarantineEnded', action: 'Program', note });
    } else {
      const note = `${this.#here()} failed ${failures} times in a row; it is tried on its own delays from now on`;
      this.#service(service, { type: 'Warning', reason: 'Quarantined', action: 'Program', note });
    }
  }

  #problem({ service, field, message }: Problem): readonly ServiceEvent[] {
    if (service === undefined) return [];
    const note = `${field === '' ? '' : `${field}: `}${message}`;
    const facts = { type: 'Warning', reason: 'FrontendNotServed', action: 'Program', sameOnEveryNode: true } as const;
    return [{ service, event: { ...facts, note } }];
  }

  /** Reports those that were not there before; gives what is there now. */
  #tellNew(before: ReadonlySet<string>, now: readonly ServiceEvent[]): ReadonlySet<string> {
    const keyed = new Map(now.map((each) => [`${each.service} ${each.event.note}`, each]));
    for (const [key, { service, event }] of keyed) if (!before.has(key)) this.#service(service, event);
    return new Set(keyed.keys());
  }

  #here(): string {
    return `node ${this.#options.nodeName}`;
  }

  /** The kubelet's way of naming a Node in Events, which `kubectl describe node` looks for. */
  #node(event: Said): void {
    const { nodeName, report } = this.#options;
    report({ regarding: { kind: 'Node', name: nodeName, uid: nodeName }, ...event });
  }

  #service(service: string, event: Said): void {
    const { report, serviceUid } = this.#options;
    const [namespace = '', name = ''] = service.split('/');
    report({ regarding: { kind: 'Service', namespace, name, uid: serviceUid(service) }, ...event });
  }
}

/** Source: kubernetes/kubernetes cmd/kube-proxy/app/server.go */
const START = 'StartKubeProxy';

type Said = Omit<ReportedEvent, 'regarding'>;

interface ServiceEvent {
  readonly service: string;
  readonly event: Said;
}

export interface EventParts {
  readonly transport: ApiTransport;
  readonly clock: Clock;
  readonly nodeName: string;
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  readonly serviceUid: PassEventsOptions['serviceUid'];
}

/** Events that are stored in the API, as far as it takes them; a failure is told of once and stops nothing. */
export function eventsInApi({ transport, clock, nodeName, log, serviceUid }: EventParts): {
  readonly events: PassEvents;
  /** Resolves when none waits to be stored, which may be never. */
  readonly stored: () => Promise<void>;
  readonly stop: () => void;
} {
  const recorder = new EventRecorder({
    store: eventsClient(transport, clock),
    clock,
    wallMs: Date.now,
    source: { controller: 'kube-proxy', instance: `ipvs-proxier-${nodeName}` },
    trouble: (err) => log.warn({ err }, 'Events cannot be stored; it goes on without'),
    recovered: () => log.info({}, 'Events are stored again'),
  });
  const report = (event: ReportedEvent) => recorder.report(event);
  const events = new PassEvents({ nodeName, report, serviceUid });
  return { events, stored: () => recorder.stored(), stop: () => recorder.stop() };
}
