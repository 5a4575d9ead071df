/** One setting of the kernel, by its path under `/proc/sys/`. */
export interface SysctlSetting {
  readonly path: string;
  readonly value: string;
  /** `optional` settings may be missing from a kernel; it is said once and nothing else happens. */
  readonly need: 'required' | 'optional';
}
