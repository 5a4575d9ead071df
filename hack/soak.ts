/**
 * Shows whether memory grows: a node on a kernel in memory follows an API server, in a process of its own, that changes 200 slices a second.
 *
 * What is measured is what the process cannot give back: garbage is collected 5 times with a pause after each, in which freed pages go back
 * to the system, and the smallest RSS counts; of such samples, one every 5 s, again the smallest in each tenth of the time. A single sample
 * goes up and down by 15 %, as it finds the young generation, and what passes have just allocated, at another size each time.
 * After two tenths to warm up, the median of the first third of the rest is compared with that of the last: it fails above 5 %.
 *
 * node hack/soak.ts [--seconds 600]
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
import { SteadyRate } from './steady-rate.ts';

const SERVICES = 500;
const ENDPOINTS = 20;
const CHANGES_PER_SECOND = 200;
const TENTHS = 10;
const BETWEEN_SAMPLES_MS = 5000;
const WARM_UP_TENTHS = 2;
const TOLERANCE = 0.05;
const COLLECTIONS = 5;
const PAUSE_MS = 100;

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '600' }, cluster: { type: 'boolean', default: false } },
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
  const clearing = setInterval(() => node.takeWrites(), 1000);
  const tenths: number[] = [];
  const startMs = performance.now();
  print('seconds  RSS MiB  heap MiB   passes  changes heard');
  for (let tenth = 1; tenth <= TENTHS; tenth += 1) {
    let rss = Number.POSITIVE_INFINITY;
    do {
      await sleep(BETWEEN_SAMPLES_MS);
      rss = Math.min(rss, await settledRss(collectGarbage));
    } while (secondsSince(startMs) < (tenth * seconds) / TENTHS);
    tenths.push(rss);
    const { passes, news } = node.totals;
    const { heapUsed } = process.memoryUsage();
    const cells = [Math.round(secondsSince(startMs)), mebibytes(rss), mebibytes(heapUsed), passes, news];
    print(cells.map((cell) => String(cell).padStart(7)).join('  '));
  }
  clearInterval(clearing);
  await node.stop();
  const [rate] = await Promise.all([once(lines, 'line'), once(cluster, 'exit'), cluster.stdin.end()]);
  const settled = tenths.slice(WARM_UP_TENTHS);
  const third = Math.ceil(settled.length / 3);
  const growth = median(settled.slice(-third)) / median(settled.slice(0, third)) - 1;
  print(`${rate} changes a second, of ${CHANGES_PER_SECOND} that were asked for`);
  print(`RSS after garbage collection grew by ${(growth * 100).toFixed(1)} %`);
  return growth <= TOLERANCE ? 0 : 1;
}

function secondsSince(startMs: number): number {
  return (performance.now() - startMs) / 1000;
}

/** The smallest size between collections. */
async function settledRss(collectGarbage: () => void): Promise<number> {
  let smallest = Number.POSITIVE_INFINITY;
  for (let n = 0; n < COLLECTIONS; n += 1) {
    collectGarbage();
    await sleep(PAUSE_MS);
    smallest = Math.min(smallest, process.memoryUsage.rss());
  }
  return smallest;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle) - 1] ?? 0)) / 2;
}

/** The API server and its changes, until standard input ends. Prints the kubeconfig, in base64, and at the end how many changes a second there were. */
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
  const rate = new SteadyRate(CHANGES_PER_SECOND, performance.now());
  const churning = setInterval(() => {
    for (let due = rate.take(performance.now()); due > 0; due -= 1) {
      change += 1;
      changeSlice(api, change % SERVICES, change);
    }
  }, 50);
  process.stdin.resume();
  await once(process.stdin, 'end');
  clearInterval(churning);
  print(rate.reached().toFixed(1));
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
