/** `error`: Services do not work, or will not. `warning`: something breaks in some cases. `note`: good to know. */
export const FINDING_LEVELS = ['error', 'warning', 'note'] as const;
export type FindingLevel = (typeof FINDING_LEVELS)[number];

/** One thing that was found on the node. */
export interface Finding {
  readonly level: FindingLevel;
  /** Name of the finding, as the reference lists it; the same thing has the same name each time. */
  readonly id: string;
  /** What was seen, with its values. */
  readonly saw: string;
  readonly matters: string;
  /** A command, or a setting. */
  readonly remedy: string;
}

/** Something that could not be looked at; it counts neither as fine nor as found. */
export interface NotChecked {
  readonly what: string;
  readonly why: string;
}

/** What one check comes to; a check that has nothing to say gives nothing. */
export interface Checked {
  readonly findings: readonly Finding[];
  readonly notChecked: readonly NotChecked[];
}

export const NOTHING_FOUND: Checked = { findings: [], notChecked: [] };

export function found(...findings: readonly Finding[]): Checked {
  return { findings, notChecked: [] };
}

export function notChecked(what: string, why: string): Checked {
  return { findings: [], notChecked: [{ what, why }] };
}

export function together(parts: readonly Checked[]): Checked {
  return {
    findings: parts.flatMap(({ findings }) => findings),
    notChecked: parts.flatMap((part) => part.notChecked),
  };
}
