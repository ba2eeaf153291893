import type { QueryProblem } from "../../../../model/skill.ts";
import type { CheckedDocument, QueryKind } from "./checked-document.ts";

/** An order to the thread that checks texts. */
export interface CheckOrder {
  /** The number of the schema. */
  readonly schema: number;
  /** Present if the thread does not have the schema. */
  readonly sdl?: string;
  /** Schemas that the thread removes first. */
  readonly remove: readonly number[];
  readonly kind: QueryKind;
  readonly text: string;
  /** Present if the values of the variables are checked. */
  readonly variables?: EncodedVariables;
  /** False if the host has the facts of the text. */
  readonly needsText: boolean;
}

/** Values as JSON, with a mark in place of each that is not known. */
export interface EncodedVariables {
  readonly json: string;
  /** A text that no value has: it is chosen at random. */
  readonly mark: string;
}

export type CheckAnswer =
  | {
      readonly kind: "checked";
      /** Absent if the order does not need it. */
      readonly checked?: CheckedDocument;
      readonly hasVariables: boolean;
      /** Those of the variables; empty for a text that has problems itself. */
      readonly problems: readonly QueryProblem[];
    }
  | { readonly kind: "failed"; readonly error: string; readonly hasSchema: boolean };
