/** Transport protocols that a Service port can have. */
export type Protocol = 'TCP' | 'UDP' | 'SCTP';

export const PROTOCOLS: readonly Protocol[] = ['TCP', 'UDP', 'SCTP'];

/** Reads the API's spelling, upper case; anything else gives `undefined`. */
export function parseProtocol(value: unknown): Protocol | undefined {
  return PROTOCOLS.find((protocol) => protocol === value);
}

/** IANA protocol number, as IP headers carry it. */
export function protocolNumber(protocol: Protocol): 6 | 17 | 132 {
  return NUMBERS[protocol];
}

const NUMBERS = { TCP: 6, UDP: 17, SCTP: 132 } as const;
