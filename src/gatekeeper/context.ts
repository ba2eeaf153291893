import type { AnyNode } from "acorn";
import type { ErrorCode } from "../errors.ts";
import type { ArgumentProblem } from "../model/arguments.ts";
import type { Catalog, Method } from "../model/catalog.ts";
import type { ProgramSource } from "../model/program.ts";
import type { Report } from "./report.ts";
import type { Binding, Scopes } from "./ast/scopes.ts";
import { type FunctionNode, isFunction } from "./ast/walk.ts";

/** The callbacks that the gatekeeper needs. It does not know the registry, the policy or the caller. */
export interface Host {
  /** Holds only what the caller may see. */
  readonly catalog: Catalog;
  /** Checks the literal arguments; `UNKNOWN` stands for the others. */
  readonly problems: (method: Method, args: readonly unknown[]) => readonly ArgumentProblem[];
  /** Returns why the caller may not call a method, as an error code with its values; `undefined` if it may. */
  readonly findRefusal: (method: Method) => { readonly code: ErrorCode; readonly values: string } | undefined;
  /** Says why a skill or a method that exists is missing from the catalog, by its path: it is disabled, held or removed. */
  readonly whyUnavailable?: (path: string) => { readonly code: ErrorCode; readonly message: string } | undefined;
  /** Examples of the required arguments, which replace missing ones in corrections. */
  readonly exampleArguments?: (method: Method) => Readonly<Record<string, unknown>>;
  /** Finds methods by their purpose. */
  readonly findSimilar?: (words: string) => readonly Method[];
}

/** The state of one check, shared by all steps of the gatekeeper. */
export interface CheckContext {
  readonly program: Extract<ProgramSource, { readonly kind: "program" }>;
  readonly scopes: Scopes;
  readonly host: Host;
  readonly report: Report;
}

/** The maximum number of searches per program. */
const MAX_SEARCHES = 8;

/** Limits the number of searches and caches their results. */
export function withSearchBudget(host: Host): Host {
  const { findSimilar } = host;
  if (findSimilar === undefined) return host;
  const found = new Map<string, readonly Method[]>();
  const search = (words: string): readonly Method[] => {
    const methods = found.get(words) ?? (found.size < MAX_SEARCHES ? findSimilar(words) : []);
    if (found.size < MAX_SEARCHES) found.set(words, methods);
    return methods;
  };
  return { ...host, findSimilar: search };
}

export function getParent(node: AnyNode, { scopes }: CheckContext): AnyNode | undefined {
  return scopes.parents.get(node);
}

/** The innermost function, static block or field around a node. */
export function functionAround(node: AnyNode, { scopes: { parents } }: CheckContext): AnyNode | undefined {
  for (let outer = parents.get(node); outer !== undefined; outer = parents.get(outer)) {
    if (isFunction(outer) || outer.type === "StaticBlock" || outer.type === "PropertyDefinition") return outer;
  }
  return undefined;
}

/** True in async functions and at the top level, but not in default values of parameters. */
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

/** True inside the block of a `try` statement of the same function. */
export function isInTry(node: AnyNode, { scopes: { parents } }: CheckContext): boolean {
  let inside = node;
  for (let outer = parents.get(node); outer !== undefined; outer = parents.get(outer)) {
    if (isFunction(outer)) return false;
    if (outer.type === "TryStatement" && outer.block === inside) return true;
    inside = outer;
  }
  return false;
}

/** The function that a name is declared as, or initialized with. */
export function findFunction(binding: Binding, context: CheckContext): FunctionNode | undefined {
  const declared = findDeclaration(binding, context);
  return declared !== undefined && isFunction(declared) ? declared : undefined;
}

/** The function or class of that name, or the initial value of the variable. */
function findDeclaration({ declared }: Binding, context: CheckContext): AnyNode | undefined {
  const [name] = declared;
  const holder = name && getParent(name, context);
  if (holder?.type === "VariableDeclarator") return holder.id === name ? (holder.init ?? undefined) : undefined;
  return holder !== undefined && "id" in holder && holder.id === name ? holder : undefined;
}

/** The ancestors of a node, innermost first. In code that runs for every program, a plain loop takes half the time. */
export function* iterateAncestors(node: AnyNode, { scopes }: CheckContext): Iterable<AnyNode> {
  for (let at = scopes.parents.get(node); at !== undefined; at = scopes.parents.get(at)) yield at;
}
