import type { JsonSchema } from "../../../../model/json.ts";
import type { QueryProblem } from "../../../../model/skill.ts";

/** The kinds of operations that a call sends. */
export type QueryKind = "query" | "mutation";

/** Where a text selects a connection whose pages can be followed. */
export interface ConnectionPages {
  /** The keys of the answer from `data` to the connection. */
  readonly path: readonly string[];
  readonly list: "nodes" | "edges";
  /** The variable of the argument `after` or `before`. */
  readonly cursor: string;
  /** The variable of the argument `first` or `last`, if the text gives it no default. */
  readonly size?: string;
  /** True if the pages go backward: `before`, `hasPreviousPage` and `startCursor`. */
  readonly backward?: true;
}

/** All facts of a text that a call needs: plain JSON data. */
export interface CheckedDocument {
  /** Empty for a text that may be sent. */
  readonly problems: readonly QueryProblem[];
  /** The names of its root fields, each as often as it is selected, without those of introspection. */
  readonly fields: readonly string[];
  /** The root fields of queries that a mutation selects in its results. */
  readonly queryFields?: readonly string[];
  /** The type of `data` by the selection; absent for a text with problems. */
  readonly output?: JsonSchema;
  readonly operationName?: string;
  /** The text as it is sent: without comments and needless spaces. */
  readonly text: string;
  /** Present if exactly one connection of the text can be followed. */
  readonly pages?: ConnectionPages;
  /** The paths of variables, and of members of them, that take files; lists are not part of a path. */
  readonly uploads?: readonly (readonly string[])[];
}

/** Adds the problems of the variables to a text without problems. */
export function addProblems(checked: CheckedDocument, problems: readonly QueryProblem[]): CheckedDocument {
  if (problems.length === 0) return checked;
  const { output: _output, ...facts } = checked;
  return { ...facts, problems };
}
