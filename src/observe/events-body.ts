import { createHash, randomBytes } from 'node:crypto';

/** Something that people should see beside an object, `kubectl describe` does. */
export interface ReportedEvent {
  readonly regarding: EventSubject;
  readonly type: 'Normal' | 'Warning';
  /** Why, in one word of capitals and small letters; at most 128 characters. */
  readonly reason: string;
  /** What was being done, likewise. */
  readonly action: string;
  /** For a person. Cut off after 1024 characters. */
  readonly note: string;
  /** Every node will report it; all of them make one Event. */
  readonly sameOnEveryNode?: true;
}

export interface EventSubject {
  readonly kind: 'Node' | 'Service';
  /** Absent for a Node. */
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
}

/** Who reports. */
export interface EventSource {
  readonly controller: string;
  /** At most 128 characters. */
  readonly instance: string;
}

export interface NewEvent {
  readonly event: ReportedEvent;
  readonly name: string;
  readonly firstWallMs: number;
  readonly lastWallMs: number;
  readonly count: number;
}

/** The same for what belongs to one series. */
export function seriesKey({ regarding, type, reason, action, note }: ReportedEvent): string {
  return JSON.stringify([subjectOf(regarding), regarding.uid, type, reason, action, note]);
}

export function subjectKey({ regarding }: ReportedEvent): string {
  return subjectOf(regarding);
}

/** The object's name, and what tells it from others: chance, or the Event itself when every node reports it. */
export function eventName(event: ReportedEvent): string {
  const hash = () => createHash('sha256').update(seriesKey(event)).digest('hex');
  const suffix = event.sameOnEveryNode ? hash() : randomBytes(8).toString('hex');
  return `${event.regarding.name}.${suffix.slice(0, 16)}`;
}

/** An events.k8s.io/v1 Event. */
export function createBody({ event, name, firstWallMs, lastWallMs, count }: NewEvent, source: EventSource): object {
  const { regarding, type, reason, action, note } = event;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name, namespace: regarding.namespace ?? 'default' },
    eventTime: microTime(firstWallMs),
    reportingController: source.controller,
    reportingInstance: source.instance.slice(0, 128),
    type,
    reason,
    action,
    note: note.length > 1024 ? `${note.slice(0, 1021)}...` : note,
    regarding: { apiVersion: 'v1', ...regarding },
    ...(count > 1 ? seriesBody(count, lastWallMs) : {}),
  };
}

/** The part of an Event that changes. */
export function seriesBody(count: number, lastWallMs: number): object {
  return { series: { count, lastObservedTime: microTime(lastWallMs) } };
}

function subjectOf({ kind, namespace = '', name }: EventSubject): string {
  return `${kind} ${namespace}/${name}`;
}

/** The API takes six digits after the second, no more and no less. Source: k8s.io/apimachinery meta/v1 MicroTime */
function microTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace('Z', '000Z');
}
