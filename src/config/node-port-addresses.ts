import { type Cidr, parseCidr } from '../net/cidr.ts';

/**
 * An entry of `nodePortAddresses`: addresses inside the CIDR answer node ports, or with `primary` those that the Node
 * object names first for each family.
 */
export type NodePortAddress = Cidr | 'primary';

/** Reads one entry; the words `localhost` and `all` stand for a CIDR of each family. Anything else gives `undefined`. */
export function parseNodePortAddress(value: unknown): readonly NodePortAddress[] | undefined {
  if (typeof value !== 'string') return undefined;
  if (value === 'primary') return ['primary'];
  const texts = Object.hasOwn(WORDS, value) ? (WORDS[value] ?? []) : [value];
  const cidrs = texts.map(parseCidr).filter((parsed) => parsed !== undefined);
  return cidrs.length > 0 ? cidrs : undefined;
}

const WORDS: Readonly<Record<string, readonly string[]>> = {
  localhost: ['127.0.0.0/8', '::1/128'],
  all: ['0.0.0.0/0', '::/0'],
};
