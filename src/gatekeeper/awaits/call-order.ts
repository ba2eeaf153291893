import type { AnyNode, CallExpression, Identifier } from "acorn";

import { findFirstIndex } from "../../shared/binary-search.ts";
import type { Binding } from "../ast/scopes.ts";
import {
  byType,
  type ByType,
  type FunctionNode,
  getIdentifiers,
  getRootObject,
  isFunction,
  literalName,
  pushToGroup,
} from "../ast/walk.ts";
import { type CheckContext, findFunction, functionAround, getParent, iterateAncestors } from "../context.ts";
import type { MethodCalls } from "../rules/device.ts";
import { findDestination, isCombined, isWaitedFor } from "./promise-destination.ts";
import type { ProgramFacts } from "./types.ts";

/**
 * True for the initial value of a variable if a function inside it reads that variable:
 * `const p = load(id).then(() => all.delete(p))`. The function runs later; if the variable waited for it, the read would fail.
 */
function readsItsOwnName(value: AnyNode, context: CheckContext): boolean {
  let whole = value;
  let holder = getParent(whole, context);
  while (holder !== undefined && HANDING_ON.has(holder.type)) [whole, holder] = [holder, getParent(holder, context)];
  const name = holder && getDeclaredName(holder, whole);
  const reads = name && context.scopes.findBinding(name)?.reads;
  if (reads === undefined) return false;
  for (let index = findFirstIndex(reads, ({ start }) => start >= whole.start); index < reads.length; index++) {
    const read = reads[index];
    if (read === undefined || read.start >= whole.end) return false;
    if ((functionAround(read, context)?.start ?? -1) >= whole.start) return true;
  }
  return false;
}

const HANDING_ON: ReadonlySet<string> = new Set(["ChainExpression", "ConditionalExpression", "LogicalExpression"]);

/** The variable that is declared with a value. An assignment does not count: the function may read the value before it. */
function getDeclaredName(holder: AnyNode, value: AnyNode): Identifier | undefined {
  if (holder.type !== "VariableDeclarator" || holder.init !== value) return undefined;
  return holder.id.type === "Identifier" ? holder.id : undefined;
}

/** Finds the calls of local async functions that must end before the program continues, because they change something. */
export class CallOrder {
  readonly #program: ProgramFacts;
  readonly #calls: MethodCalls;
  readonly #context: CheckContext;
  readonly #results: ReadonlySet<AnyNode>;

  constructor(program: ProgramFacts, calls: MethodCalls, context: CheckContext) {
    this.#program = program;
    this.#calls = calls;
    this.#context = context;
    this.#results = new Set(program.results.map(({ node }) => node));
  }

  /** True for a statement whose value may be that of the program. */
  isResult(statement: AnyNode): boolean {
    return this.#results.has(statement);
  }

  /** True if a local function is a member of this name. */
  hasMember(name: string): boolean {
    return this.#functionsByName.has(name);
  }

  /**
   * Returns what must be waited for: the call, or the callback with which it makes its calls. `undefined` if the functions
   * have no side effects, or are awaited elsewhere.
   */
  findBlocking(call: CallExpression): AnyNode | undefined {
    const { callee, arguments: args } = call;
    const name = callee.type === "MemberExpression" ? literalName(callee.property, callee.computed) : undefined;
    const callback = name === "map" ? args[0] : name === "from" ? args[1] : undefined;
    const functions = this.#functionsBehind(callback ?? callee);
    if (!this.#changeSomething(functions)) return undefined;
    const holder = getParent(call, this.#context);
    if (holder !== undefined && this.#results.has(holder)) return undefined;
    if (readsItsOwnName(call, this.#context)) return undefined;
    const destination = findDestination(call, this.#context);
    if (destination === "awaited" || destination === "unknown") return undefined;
    if (destination === "unused" ? isCombined(call, this.#context) : isWaitedFor(destination, this.#context))
      return undefined;
    if (getParent(call, this.#context)?.type === "ExpressionStatement" && this.awaitsAfter(call)) return undefined;
    return callback ?? call;
  }

  #members: ReadonlyMap<string, readonly FunctionNode[]> | undefined;
  /** The local functions that are members, by name. */
  get #functionsByName(): ReadonlyMap<string, readonly FunctionNode[]> {
    if (this.#members !== undefined) return this.#members;
    const members = new Map<string, FunctionNode[]>();
    for (const func of this.#program.facts.functions) {
      const holder = getParent(func, this.#context);
      const isMember =
        holder?.type === "Property" || holder?.type === "MethodDefinition" || holder?.type === "PropertyDefinition";
      const name = isMember ? literalName(holder.key, holder.computed) : undefined;
      if (name !== undefined) pushToGroup(members, name, func);
    }
    return (this.#members = members);
  }

  /** True for a node that contains a call which may have side effects. */
  containsWrite(node: AnyNode): boolean {
    return this.#callersOfWrites.has(node);
  }

  /** True for a call of a local function that contains such a call. */
  callsWriter(node: AnyNode): boolean {
    if (node.type !== "CallExpression") return false;
    return this.#functionsBehind(node.callee).some((func) => this.#callersOfWrites.has(func));
  }

  #lastAwaits: ReadonlyMap<AnyNode | undefined, number> | undefined;
  /** True if an `await` follows the call in the same function or at the top level. */
  awaitsAfter(call: AnyNode): boolean {
    this.#lastAwaits ??= new Map(
      this.#program.facts.awaits.map((node) => [functionAround(node, this.#context), node.start]),
    );
    return (this.#lastAwaits.get(functionAround(call, this.#context)) ?? 0) >= call.end;
  }

  #functionsBehind(callee: AnyNode): readonly FunctionNode[] {
    if (isFunction(callee)) return [callee];
    if (callee.type === "Identifier") {
      const binding = this.#context.scopes.findBinding(callee);
      const func = binding && findFunction(binding, this.#context);
      return func === undefined ? [] : [func];
    }
    const name = callee.type === "MemberExpression" ? literalName(callee.property, callee.computed) : undefined;
    return (name === undefined ? undefined : this.#functionsByName.get(name)) ?? [];
  }

  #changing: ReadonlySet<AnyNode> | undefined;
  /** The nodes around method calls that may have side effects. */
  get #callersOfWrites(): ReadonlySet<AnyNode> {
    if (this.#changing !== undefined) return this.#changing;
    const changing = new Set<AnyNode>();
    for (const { node, method } of this.#program.uses) {
      if (method?.metadata.readOnly === true) continue;
      for (let at: AnyNode | undefined = node; at !== undefined && !changing.has(at); at = getParent(at, this.#context))
        changing.add(at);
    }
    return (this.#changing = changing);
  }

  readonly #changes = new WeakMap<readonly FunctionNode[], boolean>();
  /** True if one of the functions is async and has side effects. Cached: thousands of calls may refer to the same functions. */
  #changeSomething(functions: readonly FunctionNode[]): boolean {
    let isKnown = this.#changes.get(functions);
    if (isKnown === undefined) {
      isKnown = functions.some(
        (func) => func.async && (this.#sideEffects().has(func) || this.#callersOfWrites.has(func)),
      );
      this.#changes.set(functions, isKnown);
    }
    return isKnown;
  }

  #effects: ReadonlySet<AnyNode> | undefined;
  #sideEffects(): ReadonlySet<AnyNode> {
    return (this.#effects ??= findSideEffects(this.#calls, this.#context));
  }
}

/** Methods that change their object or their arguments, or that print. */
const CHANGING: ReadonlySet<string> = new Set(
  `push unshift pop shift splice sort reverse fill copyWithin add set append delete clear next assign defineProperty log info
   warn error debug`.split(/\s+/),
);

/** Finds the functions that assign to outer variables, change outer objects, print, or call outer functions. */
function findSideEffects(calls: MethodCalls, context: CheckContext): ReadonlySet<AnyNode> {
  const functions = new Set<AnyNode>();
  for (const node of context.scopes.parents.keys()) {
    const changed = calls.has(node) ? [] : (byType(CHANGED, node, node) ?? []);
    for (const name of changed) addAround(node, context.scopes.findBinding(name), functions, context);
  }
  return functions;
}

/** Adds all functions around a change, up to the one that declares the changed name. */
function addAround(node: AnyNode, changed: Binding | undefined, functions: Set<AnyNode>, context: CheckContext): void {
  const declared = changed?.declared[0];
  for (const outer of iterateAncestors(node, context)) {
    if (declared !== undefined && declared.start >= outer.start && declared.end <= outer.end) return;
    if (isFunction(outer)) functions.add(outer);
  }
}

/** The root names that a node changes. */
const CHANGED: ByType<readonly AnyNode[]> = {
  AssignmentExpression: ({ left }) => (left.type === "MemberExpression" ? [getRootObject(left)] : getIdentifiers(left)),
  CallExpression: (call) => changedByCall(call),
  UnaryExpression: ({ operator, argument }) => (operator === "delete" ? [getRootObject(argument)] : []),
  UpdateExpression: ({ argument }) => [getRootObject(argument)],
};

function changedByCall({ callee }: CallExpression): readonly AnyNode[] {
  if (callee.type === "Identifier") return [callee];
  if (callee.type !== "MemberExpression") return [];
  const name = literalName(callee.property, callee.computed);
  return name === undefined || CHANGING.has(name) ? [getRootObject(callee)] : [];
}
