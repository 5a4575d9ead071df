import type { LabHost } from '../../test/lab/topology.ts';
import { countByServer, type Traffic, type TrafficProtocol } from '../../test/lab/traffic.ts';
import { formatTable } from './table.ts';

export interface Destination {
  readonly label: string;
  readonly protocol: TrafficProtocol;
  readonly address: string;
  readonly port: number;
}

export interface Tally {
  readonly sent: number;
  /** Answered by a pod that was to answer. */
  readonly right: number;
}

const TIMES = 8;

/** Sends requests from every client to every destination, shows who answered how often, and counts the right answers. */
export async function sendRequests(
  traffic: Traffic,
  clients: readonly LabHost[],
  destinations: readonly Destination[],
  rightPods: readonly string[],
): Promise<Tally> {
  const rows: string[][] = [['FROM', 'TO', 'PROTOCOL', 'ANSWERS']];
  let [sent, right] = [0, 0];
  for (const client of clients) {
    for (const { label, protocol, address, port } of destinations) {
      const replies = await traffic.ask({ from: client.namespace, protocol, address, port, times: TIMES });
      const servers = countByServer(replies);
      sent += TIMES;
      for (const [server, count] of servers) if (rightPods.includes(server)) right += count;
      const answers = [...servers, ...replies.troubles].sort().map(([who, count]) => `${who} × ${count}`);
      rows.push([client.name, label, protocol, answers.join(', ')]);
    }
  }
  process.stdout.write(formatTable(rows));
  return { sent, right };
}
