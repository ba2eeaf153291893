import type { AnyNode } from "acorn";
import type { ArgumentProblem } from "../model/arguments.ts";
import type { Catalog, Method } from "../model/catalog.ts";
import type { Snippet } from "../model/snippet.ts";
import type { Report } from "./report.ts";
import type { Binding, Scopes } from "./ast/scopes.ts";
import { type FunctionNode, isFunction } from "./ast/walk.ts";

/** What the gatekeeper asks. It knows no registry, no policy and no caller. */
export interface Host {
  /** Already without what the caller may not see. */
  readonly catalog: Catalog;
  /** Arguments as far as they are literal, with `UNKNOWN` for the rest. */
  readonly problems: (method: Method, args: readonly unknown[]) => readonly ArgumentProblem[];
  readonly mayCall: (path: string) => boolean;
  /** A skill that is not in the catalog only because it is switched off. */
  readonly isDisabled?: (skill: string) => boolean;
  /** A call that fits, as a snippet writes it; without it, the signature is told. */
  readonly exampleCall?: (method: Method) => string;
  /** Finds methods by what they are for. */
  readonly findSimilar?: (words: string) => readonly Method[];
}

/** One look at one snippet: what every step of the gatekeeper works on. */
export interface CheckContext {
  readonly snippet: Extract<Snippet, { readonly kind: "program" }>;
  readonly scopes: Scopes;
  readonly host: Host;
  readonly report: Report;
}

/** Searches for one snippet; one that needs more has other problems. */
const MAX_SEARCHES = 8;

/** The same questions, with searches that are few and never made twice. */
export function withSearchBudget(host: Host): Host {
  const { findSimilar } = host;
  if (findSimilar === undefined) return host;
  const found = new Map<string, readonly Method[]>();
  const search = (words: string): readonly Method[] => {
    const known = found.get(words) ?? (found.size < MAX_SEARCHES ? findSimilar(words) : []);
    if (found.size < MAX_SEARCHES) found.set(words, known);
    return known;
  };
  return { ...host, findSimilar: search };
}

export function getParent(node: AnyNode, { scopes }: CheckContext): AnyNode | undefined {
  return scopes.parents.get(node);
}

/** The innermost function around a node, or what else runs on its own. */
export function functionAround(node: AnyNode, { scopes: { parents } }: CheckContext): AnyNode | undefined {
  for (let outer = parents.get(node); outer !== undefined; outer = parents.get(outer)) {
    if (isFunction(outer) || outer.type === "StaticBlock" || outer.type === "PropertyDefinition") return outer;
  }
  return undefined;
}

/** True in async functions and at the top, but not in default values of parameters. */
export function mayAwait(node: AnyNode, context: CheckContext): boolean {
  const { parents } = context.scopes;
  let inside = node;
  for (let outer = parents.get(node); outer !== undefined; outer = parents.get(outer)) {
    if (isFunction(outer)) return outer.async && !outer.params.includes(inside as never);
    if (outer.type === "StaticBlock" || (outer.type === "PropertyDefinition" && outer.value === inside)) return false;
    inside = outer;
  }
  return true;
}

/** True where a failure is caught, or at least met, by a `try` of the same function. */
export function isInTry(node: AnyNode, { scopes: { parents } }: CheckContext): boolean {
  let inside = node;
  for (let outer = parents.get(node); outer !== undefined; outer = parents.get(outer)) {
    if (isFunction(outer)) return false;
    if (outer.type === "TryStatement" && outer.block === inside) return true;
    inside = outer;
  }
  return false;
}

/** The function that a name is declared with. */
export function findFunction(binding: Binding, context: CheckContext): FunctionNode | undefined {
  const declared = findDeclaration(binding, context);
  return declared !== undefined && isFunction(declared) ? declared : undefined;
}

/** The function or class of that name, or the value that the name begins with. */
function findDeclaration({ declared }: Binding, context: CheckContext): AnyNode | undefined {
  const [name] = declared;
  const holder = name && getParent(name, context);
  if (holder?.type === "VariableDeclarator") return holder.id === name ? (holder.init ?? undefined) : undefined;
  return holder !== undefined && "id" in holder && holder.id === name ? holder : undefined;
}

/** The nodes around a node, from the inside out. Where every snippet passes, a plain loop takes half the time. */
export function* iterateAncestors(node: AnyNode, { scopes }: CheckContext): Iterable<AnyNode> {
  for (let at = scopes.parents.get(node); at !== undefined; at = scopes.parents.get(at)) yield at;
}
