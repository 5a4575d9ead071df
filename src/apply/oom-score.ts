import type { Host } from './host.ts';
import { writeWhereDifferent } from './write-setting.ts';

/** How readily the kernel ends this process, -1000 (never) to 1000, when memory runs out. Gives the reason where it cannot be set, which is no fault. */
export async function adjustOomScore(host: Host, score: number): Promise<string | undefined> {
  const done = await writeWhereDifferent(host, '/proc/self/oom_score_adj', `${score}`);
  return typeof done === 'string' ? undefined : done.message;
}
