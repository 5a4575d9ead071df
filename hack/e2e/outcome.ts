/** What became of one scenario. */
export interface Outcome {
  readonly name: string;
  readonly seconds: number;
  /** Absent when it passed. */
  readonly failure?: string;
}

/** What a run of one family leaves in `results.json`. */
export interface FamilyResults {
  readonly family: string;
  /** The API server it ran against. */
  readonly controlPlane: string;
  readonly seconds: number;
  /** Up to the first scenario. */
  readonly startSeconds: number;
  readonly outcomes: readonly Outcome[];
}
