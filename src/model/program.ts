import type { Program as Tree } from "acorn";
import type { Position, Violation } from "./outcome.ts";

/** The text that a model wrote, as the front end has read it. */
export type ProgramSource =
  | {
      readonly kind: "program";
      /** The text that the model wrote. */
      readonly source: string;
      /** JavaScript: `source` with everything else blanked, so that every character keeps its place. */
      readonly text: string;
      /** Syntax tree of `text`; offsets count from its start. */
      readonly tree: Tree;
      /** Code to insert into `text` for TypeScript syntax that has an effect at run time. */
      readonly edits: readonly Edit[];
      readonly notes: readonly string[];
    }
  | { readonly kind: "toolCalls"; readonly source: string; readonly calls: readonly ToolCall[] }
  | { readonly kind: "unreadable"; readonly source: string; readonly violations: readonly Violation[] };

/** Writes `before` and `after` around a part of the text, or `text` in its place. */
export type Edit =
  | {
      readonly kind: "wrap";
      readonly start: number;
      readonly end: number;
      readonly before: string;
      readonly after: string;
    }
  | { readonly kind: "replace"; readonly start: number; readonly end: number; readonly text: string };

/** A call that a model wrote as JSON where it should have written code. */
export interface ToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** A program that may run. */
export interface Program {
  /** Statements of the body of a strict async function; the value of `return` is the result. */
  readonly code: string;
  /** Paths (`Skill.method`) that the program's `device` has; it has no other members. */
  readonly paths: readonly string[];
  /** The paths of methods that change nothing. */
  readonly readOnly: readonly string[];
  /** Lines at which the gatekeeper inserted an `await` and reported it. */
  readonly waits: readonly number[];
  /** The origin of each part of `code`, in order. */
  readonly segments: readonly CodeSegment[];
  /** Maps a position in `code` to the position in the text that the model wrote. Lines count from 1, columns from 0. */
  readonly toSourcePosition: (line: number, column: number) => Position;
}

/** A part of the code: a copy of the text that the model wrote, or text that was inserted there. Offsets in UTF-16 units. */
export interface CodeSegment {
  /** The offset in the code. */
  readonly at: number;
  /** The offset in the text. */
  readonly from: number;
  readonly isCopy: boolean;
}
