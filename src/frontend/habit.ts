import type { SourceFinding } from "../shared/source-text.ts";

/** A mistake that is known by its look, and what to write instead. */
export interface Habit {
  /** Matches the text from the place of the error on. */
  readonly here?: RegExp;
  /** Matches the whole line of the error. */
  readonly line?: RegExp;
  /** Matches what the parser says. */
  readonly message?: RegExp;
  readonly code?: SourceFinding["code"];
  readonly says?: string;
  readonly fix: string;
}
