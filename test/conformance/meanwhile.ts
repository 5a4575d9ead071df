/**
 * Does each of `repeated` over and over while `work` goes on, at least once, and ends them with it, whatever becomes of it. Gives what they
 * said; throws what `work` threw, or else what one of them threw.
 */
export async function meanwhile<T>(
  repeated: readonly (() => Promise<T>)[],
  work: () => Promise<void>,
): Promise<readonly T[]> {
  let isOver = false;
  const all = repeated.map(async (again) => {
    const said: T[] = [];
    do said.push(await again());
    while (!isOver);
    return said;
  });
  const settled = Promise.allSettled(all);
  try {
    await work();
  } finally {
    isOver = true;
    await settled;
  }
  return (await Promise.all(all)).flat();
}
