/** Runs tasks, `jobs` of them at a time; results in the order of the tasks. The first that rejects makes it reject. */
export async function runAtOnce<T>(jobs: number, tasks: readonly (() => Promise<T>)[]): Promise<readonly T[]> {
  const results = new Map<number, T>();
  const waiting = [...tasks.entries()];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) results.set(next[0], await next[1]());
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  return [...results].sort(([a], [b]) => a - b).map(([, result]) => result);
}
