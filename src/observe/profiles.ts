import { Session } from 'node:inspector/promises';
import { setTimeout } from 'node:timers/promises';

/** What can be recorded: where the time goes, or who makes the objects that stay. */
export const PROFILES = ['profile', 'heap'] as const;
export type ProfileKind = (typeof PROFILES)[number];

/** Records for so long and gives the profile as JSON, for the developer tools of browsers (`.cpuprofile`, `.heapprofile`). */
export async function recordProfile(kind: ProfileKind, durationMs: number): Promise<string> {
  const session = new Session();
  session.connect();
  try {
    if (kind === 'profile') {
      await session.post('Profiler.enable');
      await session.post('Profiler.start');
      await setTimeout(durationMs);
      return JSON.stringify((await session.post('Profiler.stop')).profile);
    }
    await session.post('HeapProfiler.startSampling');
    await setTimeout(durationMs);
    return JSON.stringify((await session.post('HeapProfiler.stopSampling')).profile);
  } finally {
    session.disconnect();
  }
}
