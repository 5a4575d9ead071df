import { parseIpAddress } from '../../net/ip-address.ts';
import { parsePort } from '../../net/port.ts';
import type { UdpFlow } from './state.ts';

/** Marks, counters, zones and states stand between or behind, depending on kernel and settings. */
const FLOW =
  /^udp +17 .*?\bsrc=\S+ dst=(\S+) sport=\d+ dport=(\d+) .*?\bsrc=(\S+) dst=\S+ sport=(\d+) dport=\d+(?: |$)/;

/**
 * Reads what `conntrack -L -p udp` prints, a line a flow, in the order of the text. Flows with port 0 are left out. Text of any other form
 * gives `undefined`.
 */
export function parseFlows(text: string): readonly UdpFlow[] | undefined {
  const flows: UdpFlow[] = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, to, toPort, answerer, answererPort] = FLOW.exec(line) ?? [];
    const [toAddress, answererAddress] = [parseIpAddress(to ?? ''), parseIpAddress(answerer ?? '')];
    if (!toAddress || !answererAddress) return undefined;
    const [sentTo, answeredFrom] = [parsePort(Number(toPort)), parsePort(Number(answererPort))];
    if (!sentTo || !answeredFrom) continue;
    flows.push({
      to: { address: toAddress, port: sentTo },
      answeredBy: { address: answererAddress, port: answeredFrom },
    });
  }
  return flows;
}
