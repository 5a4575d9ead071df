import type { SysctlSetting } from '../kernel/sysctl/state.ts';
import type { Host } from './host.ts';

/** A setting of the kernel that is not as wanted. */
export interface DifferingSetting extends SysctlSetting {
  readonly present: string;
}

/** Reads settings and gives those that differ, in their order; what cannot be read is left out. Writes nothing. */
export async function differingSettings(
  host: Host,
  wanted: readonly SysctlSetting[],
): Promise<readonly DifferingSetting[]> {
  const read = await Promise.all(wanted.map(({ path }) => host.readText(`/proc/sys/${path}`)));
  return wanted.flatMap((setting, index) => {
    const text = read[index];
    const present = text?.ok ? text.value.trim() : setting.value;
    return present === setting.value ? [] : [{ ...setting, present }];
  });
}
