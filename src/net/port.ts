declare const brand: unique symbol;

/** TCP, UDP or SCTP port number, 1–65535. */
export type Port = number & { readonly [brand]: 'Port' };

export function parsePort(value: unknown): Port | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65535
    ? (value as Port)
    : undefined;
}
