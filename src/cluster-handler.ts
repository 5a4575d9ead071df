import type { Logger } from 'pino';
import { type ClusterHandler, OTHER_NODES } from './kube/watch-cluster.ts';
import { describeProblem } from './model/problem.ts';
import type { BoundedFrequencyRunner } from './queue/bounded-frequency-runner.ts';
import type { Proxier } from './sync/proxier.ts';

/** Runs passes, from `start` on. */
export type PassRunner = Pick<BoundedFrequencyRunner, 'request' | 'start'>;

/** What follows from what happens in the cluster: it is recorded, a pass is asked for when one is needed, and people are told. */
export function clusterHandler(proxier: Proxier, runner: PassRunner, log: Logger, nodeName: string): ClusterHandler {
  let nodeKnown = false;
  const request = (needed: boolean, reason: string) => {
    if (needed) runner.request(reason);
  };
  return {
    service: (previous, current) => request(proxier.recordService(previous, current), 'services'),
    slice: (previous, current) => request(proxier.recordSlice(previous, current), 'endpoints'),
    node: (_, current) => {
      if (!current) return log.warn({ node: nodeName }, 'own Node was deleted; what was known of it stays in force');
      nodeKnown = true;
      request(proxier.recordNode(current), 'node');
    },
    otherNode: (previous, current) => request(proxier.recordOtherNode(previous, current), OTHER_NODES),
    listed: (late) => {
      if (late.length > 0)
        log.warn(
          { resources: late },
          'these are not waited for any longer; an address of another Node may be bound until they are listed',
        );
      if (!nodeKnown)
        log.warn({ node: nodeName }, 'own Node is not known to the API server; is --hostname-override needed?');
      runner.request('start');
      runner.start();
    },
    problem: (problem) => log.warn(describeProblem(problem)),
    trouble: (resource, message, retryInMs) =>
      log.warn(
        { resource, err: message, retryInMs: Math.round(retryInMs) },
        'the API server cannot be asked; what is programmed stays',
      ),
    recovered: (resource) => log.info({ resource }, 'the API server answers again'),
  };
}
