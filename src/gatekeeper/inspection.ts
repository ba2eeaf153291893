import type { AnyNode } from "acorn";
import type { ArgumentProblem } from "../model/arguments.ts";
import type { Catalog, Method } from "../model/catalog.ts";
import type { Snippet } from "../model/snippet.ts";
import type { Report } from "./report.ts";
import type { Scopes } from "./scopes.ts";

/** What the gatekeeper asks. It knows no registry, no policy and no caller. */
export interface Questions {
  /** Already without what the caller may not see. */
  readonly catalog: Catalog;
  /** Arguments as far as they are literal, with `UNKNOWN` for the rest. */
  readonly problems: (method: Method, args: readonly unknown[]) => readonly ArgumentProblem[];
  readonly mayCall: (path: string) => boolean;
  /** A call that fits, as a snippet writes it; without it, the signature is told. */
  readonly exampleCall?: (method: Method) => string;
  /** Finds methods by what they are for. */
  readonly findSimilar?: (words: string) => readonly Method[];
}

/** One look at one snippet: what every step of the gatekeeper works on. */
export interface Inspection {
  readonly snippet: Extract<Snippet, { readonly kind: "program" }>;
  readonly scopes: Scopes;
  readonly questions: Questions;
  readonly report: Report;
}

/** The nodes around a node, from the inside out. */
export function* ancestorsOf(node: AnyNode, { scopes }: Inspection): Iterable<AnyNode> {
  for (let at = scopes.parents.get(node); at !== undefined; at = scopes.parents.get(at)) yield at;
}
