import type { Method } from "../../model/catalog.ts";
import { cutText } from "../../shared/format-text.ts";
import { docComment } from "./text.ts";

/** Declares a part of a method in the language of its API; `undefined` for a method. */
export function formatPart({ definition, description, signature }: Method): string | undefined {
  if (definition.partOf === undefined) return undefined;
  return docComment([description]) + signature;
}

/** Shows a part in one line, after its path: `TrackerGraph.query:issues(first: Int): IssueConnection!`. */
export function formatPartLine({ definition: { partOf = "" }, signature }: Method, units: number): string {
  return `${partOf}:${cutText(signature, units)}`;
}
