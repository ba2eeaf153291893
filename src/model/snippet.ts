import type { Position } from "./outcome.ts";

/** A snippet that may run. */
export interface Program {
  /** Statements of the body of a strict async function; the value of `return` is the result. */
  readonly code: string;
  /** Paths (`Skill.method`) that the program's `device` shall have; nothing else is on it. */
  readonly paths: readonly string[];
  /** From a place in `code` to the place in the text as the model wrote it. Both: lines from 1, columns from 0. */
  readonly place: (line: number, column: number) => Position;
}
