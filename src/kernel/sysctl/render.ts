import type { SysctlSetting } from './state.ts';

/** Lines of `sysctl -p -`, in the order of the settings. */
export function renderSysctls(settings: readonly SysctlSetting[]): string {
  return settings.map(({ path, value }) => `${path.replaceAll('/', '.')}=${value}\n`).join('');
}
