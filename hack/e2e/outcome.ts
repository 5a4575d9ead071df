/** What became of one scenario. */
export interface Outcome {
  readonly name: string;
  readonly seconds: number;
  /** Absent when it passed. */
  readonly failure?: string;
}

/** What a run leaves: of one family in the lab, or of one suite elsewhere. */
export interface SuiteResults {
  /** Such as 'lab ipv4'. */
  readonly suite: string;
  /** What it ran against. */
  readonly against: string;
  readonly seconds: number;
  /** Up to the first scenario. */
  readonly startSeconds: number;
  readonly outcomes: readonly Outcome[];
}

/** A tier or a part of one that did not run, and why. It is neither passed nor failed. */
export interface NotRun {
  readonly suite: string;
  readonly reason: string;
}

export function failedOf({ outcomes }: SuiteResults): readonly Outcome[] {
  return outcomes.filter(({ failure }) => failure !== undefined);
}
