/** Seconds after which IPVS forgets an idle connection: over TCP, after a FIN, over UDP. */
export interface TimeoutSeconds {
  readonly tcp: number;
  readonly tcpFin: number;
  readonly udp: number;
}

/** Reads `Timeout (tcp tcpfin udp): 900 120 300`, as `ipvsadm -L --timeout` prints it; anything else gives `undefined`. */
export function parseTimeouts(text: string): TimeoutSeconds | undefined {
  const [, tcp, tcpFin, udp] = /^Timeout \(tcp tcpfin udp\): (\d+) (\d+) (\d+)\s*$/.exec(text) ?? [];
  return udp === undefined ? undefined : { tcp: Number(tcp), tcpFin: Number(tcpFin), udp: Number(udp) };
}
