import type { Logger } from 'pino';
import { type ClusterHandler, OTHER_NODES } from './kube/watch-cluster.ts';
import { describeProblem } from './model/problem.ts';
import type { OwnNode } from './own-node.ts';
import type { BoundedFrequencyRunner } from './queue/bounded-frequency-runner.ts';
import type { ClusterRecord } from './sync/cluster-record.ts';

export interface ClusterHandlerParts {
  readonly record: Pick<ClusterRecord, 'node' | 'otherNode'>;
  readonly intake: Pick<ClusterHandler, 'service' | 'slice'>;
  readonly runner: Pick<BoundedFrequencyRunner, 'request'>;
  readonly ownNode: Pick<OwnNode, 'seen' | 'listed'>;
  readonly log: Logger;
  readonly nodeName: string;
}

/** What follows from what happens in the cluster: it is recorded, changes of Services go into the queue, a pass is asked for because of Nodes, and people are told. */
export function clusterHandler({
  record,
  intake,
  runner,
  ownNode,
  log,
  nodeName,
}: ClusterHandlerParts): ClusterHandler {
  const request = (needed: boolean, reason: string) => {
    if (needed) runner.request(reason);
  };
  return {
    service: (previous, current) => intake.service(previous, current),
    slice: (previous, current) => intake.slice(previous, current),
    node: (_, current) => {
      if (!current) return log.warn({ node: nodeName }, 'own Node was deleted; what was known of it stays in force');
      request(record.node(current), 'node');
      ownNode.seen(current);
    },
    otherNode: (previous, current) => request(record.otherNode(previous, current), OTHER_NODES),
    listed: (late) => {
      if (late.length > 0)
        log.warn(
          { resources: late },
          'these are not waited for any longer; an address of another Node may be bound until they are listed',
        );
      ownNode.listed();
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
