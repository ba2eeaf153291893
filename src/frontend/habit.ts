import type { SourceFinding } from "../shared/source-text.ts";

/** A common mistake, recognized by patterns, with a fix. */
export interface Habit {
  /** Matches the text that starts at the error. */
  readonly here?: RegExp;
  /** Matches the line before the error. */
  readonly before?: RegExp;
  /** Matches the whole line of the error. */
  readonly line?: RegExp;
  /** Matches the message of the parser. */
  readonly message?: RegExp;
  readonly code?: SourceFinding["code"];
  readonly says?: string;
  readonly fix: string;
}
