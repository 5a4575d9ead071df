import type { ServicePortKey } from '../model/names.ts';
import type { Family } from '../net/family.ts';
import type { ScriptTool } from '../plan/scripts.ts';

/** One thing of the kernel that a pass would make, change or take away. */
export interface Change {
  readonly action: 'add' | 'change' | 'remove';
  readonly tool: ScriptTool | 'sysctl';
  /** `undefined` where it is of no family, or of both. */
  readonly family: Family | undefined;
  /** What it is, e.g. `virtual server TCP 172.20.1.1:80`. */
  readonly thing: string;
  /** The service ports that want it, or that it is a part of; none for what all have in common, and for what nobody wants. */
  readonly services: readonly ServicePortKey[];
  /** What differs, or why it goes, e.g. `weight 0 → 1`, `no Service has it`; `''` for what is missing. */
  readonly why: string;
}

/** Something that is not wanted and stays. */
export interface LeftAlone {
  readonly thing: string;
  readonly why: string;
}
