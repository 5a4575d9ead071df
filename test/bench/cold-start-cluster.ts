/** An API server with a cluster, until standard input ends. Prints the kubeconfig, in base64. Usage: node test/bench/cold-start-cluster.ts SIZE */
import { once } from 'node:events';
import { startApiServer } from '../apiserver/server.ts';
import { nodeObject } from '../kernel/cluster-objects.ts';
import { clusterJson, NODE_NAME } from './cluster.ts';

const api = await startApiServer({ scheme: 'http' });
api.apply(nodeObject(NODE_NAME, { addresses: ['192.168.0.10'] }));
for (const object of clusterJson(Number(process.argv[2]))) api.apply(object);
process.stdout.write(`${Buffer.from(api.kubeconfig()).toString('base64')}\n`);
process.stdin.resume();
await once(process.stdin, 'end');
await api.stop();
