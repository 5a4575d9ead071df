/**
 * Shows whether memory grows: a node on a kernel in memory follows an API server, in a process of its own, that changes 200 slices a second.
 * Prints memory after garbage collection; fails when it differs by more than 5 % within the second half of the time.
 *
 * node hack/soak.ts [--seconds 180]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type ApiServer, startApiServer } from '../test/apiserver/server.ts';
import { ChaosNode } from '../test/chaos/chaos-node.ts';
import { endpointJson, nodeObject, serviceObject, sliceObject } from '../test/kernel/cluster-objects.ts';

const SERVICES = 500;
const ENDPOINTS = 20;
const CHANGES_PER_SECOND = 200;
const SAMPLES = 36;
const TOLERANCE = 0.05;

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '180' }, cluster: { type: 'boolean', default: false } },
});
if (values.cluster) await runCluster();
else process.exitCode = await soak(Number(values.seconds));

async function soak(seconds: number): Promise<number> {
  const cluster = spawn(process.execPath, [import.meta.filename, '--cluster'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: cluster.stdout });
  const [kubeconfig] = await once(lines, 'line');
  const node = new ChaosNode({ kubeconfig: Buffer.from(String(kubeconfig), 'base64').toString(), speed: 1 });
  await node.untilTold(/^listed/);
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const sampleMs = (seconds * 1000) / SAMPLES;
  const clearing = setInterval(() => node.takeWrites(), 1000);
  const sizes: number[] = [];
  print('seconds  RSS MiB  heap MiB   passes  changes heard');
  for (let sample = 1; sample <= SAMPLES; sample += 1) {
    await sleep(sampleMs);
    collectGarbage();
    const { rss, heapUsed } = process.memoryUsage();
    const { passes, news } = node.totals;
    sizes.push(rss);
    const cells = [Math.round((sample * sampleMs) / 1000), mebibytes(rss), mebibytes(heapUsed), passes, news];
    print(cells.map((cell) => String(cell).padStart(7)).join('  '));
  }
  clearInterval(clearing);
  await node.stop();
  cluster.stdin.end();
  await once(cluster, 'exit');
  const late = sizes.slice(SAMPLES / 2);
  const spread = Math.max(...late) / Math.min(...late) - 1;
  print(`second half: RSS differs by ${(spread * 100).toFixed(1)} %`);
  return spread <= TOLERANCE ? 0 : 1;
}

/** The API server and its changes, until standard input ends. Prints the kubeconfig, in base64. */
async function runCluster(): Promise<void> {
  const api = await startApiServer({ scheme: 'http' });
  api.apply(nodeObject('node-a', { addresses: ['192.168.0.10'] }));
  for (let index = 0; index < SERVICES; index += 1) {
    const clusterIPs = [`172.20.${Math.floor(index / 250)}.${(index % 250) + 1}`];
    api.apply(serviceObject(`shop/s-${index}`, { clusterIPs }));
    changeSlice(api, index, 0);
  }
  print(Buffer.from(api.kubeconfig()).toString('base64'));
  let change = 0;
  const churning = setInterval(() => {
    for (let n = 0; n < CHANGES_PER_SECOND / 20; n += 1) {
      change += 1;
      changeSlice(api, change % SERVICES, change);
    }
  }, 50);
  process.stdin.resume();
  await once(process.stdin, 'end');
  clearInterval(churning);
  await api.stop();
}

/** Every endpoint of one Service gets another address, now and then; some of them are not ready. */
function changeSlice(api: ApiServer, index: number, round: number): void {
  const endpoints = Array.from({ length: ENDPOINTS }, (_, place) => {
    const pod = (index * 7 + place + Math.floor(round / SERVICES)) % 60_000;
    const ready = (pod + round) % 5 !== 0;
    const address = `10.${180 + (pod >> 14)}.${(pod >> 7) & 127}.${(pod & 127) + 1}`;
    return endpointJson(address, `node-${pod % 50}`, { conditions: { ready, serving: ready, terminating: false } });
  });
  api.apply(sliceObject(`shop/s-${index}-1`, { service: `s-${index}`, endpoints }));
}

function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
