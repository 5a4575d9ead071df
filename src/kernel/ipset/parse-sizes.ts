/** Reads how many entries each set has, from what `ipset list -t` prints; text of any other form gives `undefined`. */
export function parseSetSizes(text: string): ReadonlyMap<string, number> | undefined {
  const sizes = new Map<string, number>();
  for (const block of text.split('\n\n')) {
    if (block.trim() === '') continue;
    const name = /^Name: (\S+)$/m.exec(block)?.[1];
    const size = /^Number of entries: (\d+)$/m.exec(block)?.[1];
    if (name === undefined || size === undefined) return undefined;
    sizes.set(name, Number(size));
  }
  return sizes;
}
