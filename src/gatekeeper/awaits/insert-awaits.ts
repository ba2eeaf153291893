import { formatList } from "../../shared/format-text.ts";
import type { AnyNode, CallExpression, MemberExpression } from "acorn";
import type { MethodCalls, MethodUse } from "../rules/device.ts";
import { awaitsEverything } from "./all-awaited.ts";
import { functionAround, findFunction, type CheckContext, isInTry, mayAwait, getParent } from "../context.ts";
import { THEN } from "./promise-methods.ts";
import { destinationOf, isCombinator, isWaitedFor } from "./promise-destination.ts";
import { mayBePromise } from "./may-be-promise.ts";
import { readsItsOwnName } from "./own-name.ts";
import { presenceOf } from "./value-origin.ts";
import { findSideEffects } from "./side-effects.ts";
import type { Binding } from "../ast/scopes.ts";
import { type AwaitWriter, isValueUse, visitPlace } from "./touched-places.ts";
import type { Known, Waits } from "./types.ts";
import { pushToGroup, type FunctionNode, isFunction, literalName } from "../ast/walk.ts";

/** The variable that collects promises of statements that do not use them. */
export const LATER = "__waitedLater";
/** The maximum number of spaces between a method and its parenthesis. */
const LONGEST_GAP = 50;
/** Methods that test or ignore the results of their callbacks. */
const TESTING: ReadonlySet<string> = new Set(
  "filter find findIndex findLast findLastIndex some every flatMap forEach groupBy".split(" "),
);
const SEEKING: ReadonlySet<string> = new Set(["includes", "indexOf", "lastIndexOf", "has", "get", "delete"]);
/** Functions that inspect their arguments without touching a promise. */
const LOOKING: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["Array", new Set(["isArray"])],
  ["Number", new Set(["isInteger", "isFinite", "isNaN", "isSafeInteger"])],
  ["Object", new Set("keys values entries assign is hasOwn freeze getOwnPropertyNames getPrototypeOf".split(" "))],
  ["Reflect", new Set(["ownKeys", "has", "get"])],
]);
const CALLBACK_PARAMETERS: ReadonlyMap<string, number> = new Map([
  ..."map from forEach filter find findIndex findLast findLastIndex some every flatMap"
    .split(" ")
    .map((name) => [name, 1] as const),
  ...["sort", "toSorted", "reduce", "reduceRight"].map((name) => [name, 2] as const),
]);

/**
 * Inserts the awaits that a snippet lacks. A promise that is used as a value (member, text, number, list) is settled at run
 * time; this function handles only the uses that a promise cannot notice: tests, comparisons, `typeof` and unused results.
 */
export function insertAwaits(known: Known, context: CheckContext): Waits {
  const calls: MethodCalls = new Map(known.uses.flatMap((use) => (use.call === undefined ? [] : [[use.call, use]])));
  for (const use of known.uses) if (use.call === undefined && !use.isWholeSkill) writeCallback(use, context);
  if (awaitsEverything(known, calls, context))
    return { blocking: new Set(), hasLater: false, mayForget: false, isExplicit: true };
  return new Writer(known, calls, context).write();
}

class Writer implements AwaitWriter {
  readonly #known: Known;
  readonly #calls: MethodCalls;
  readonly #inspection: CheckContext;
  readonly #done = new Set<AnyNode>();
  readonly #blocking = new Set<MethodUse>();
  readonly #awaitedPaths = new Set<string>();
  readonly #results: ReadonlySet<AnyNode>;
  #hasLater = false;

  constructor(known: Known, calls: MethodCalls, context: CheckContext) {
    this.#known = known;
    this.#calls = calls;
    this.#inspection = context;
    this.#results = new Set(known.results.map(({ node }) => node));
  }

  write(): Waits {
    for (const node of this.#inspection.scopes.parents.keys()) visitPlace(node, this);
    if (this.#awaitedPaths.size > 0) {
      this.#inspection.report.note(`Waited for ${formatList([...this.#awaitedPaths], 3)}, as await was missing`);
    }
    const mayForget = this.#known.uses.length > 0 && !this.#known.facts.races;
    return { blocking: this.#blocking, hasLater: this.#hasLater, mayForget, isExplicit: this.#known.uses.length === 0 };
  }

  /** Waits for an expression whose value is used in a way that a promise cannot notice. */
  touch(node: AnyNode | null | undefined): void {
    if (node == null || this.#done.has(node) || !mayBePromise(node, this.#inspection)) return;
    if (this.#isStart(node)) this.await(node);
    // A call of `__waitFor` for each comparison would make loops five times slower.
    else if (node.type === "Identifier")
      this.wrap(node, `(typeof ${node.name} === "object" ? __waitFor(`, `) : ${node.name})`);
    else this.wrap(node, "__waitFor(", ")");
  }

  /** Waits for an expression that is tested or compared, unless the test may be about the promise itself. */
  test(node: AnyNode | null | undefined): void {
    if (node == null) return;
    const { waits, keepsPromises } = this.#known.facts;
    if (waits && keepsPromises) {
      const binding = node.type === "Identifier" ? this.#inspection.scopes.findBinding(node) : undefined;
      if (binding !== undefined && isWaitedFor(binding, this.#inspection)) return;
      if (presenceOf(node, this.#inspection) === "left") return;
    }
    this.touch(node);
  }

  /** Writes `await` before a call whose promise would notice its use: `await` does not block other code. */
  visible(node: AnyNode | null | undefined): void {
    if (node != null && this.#isStart(node) && this.mayAwait(node)) this.await(node);
  }

  await(node: AnyNode): void {
    const holdsUp = functionAround(node, this.#inspection) !== undefined || !this.#hasLoose();
    const [before, after] =
      holdsUp && this.mayAwait(node) && !this.#beginsStatement(node) ? ["(await ", ")"] : ["__waitFor(", ")"];
    this.wrap(node, before, after);
  }

  #loose: boolean | undefined;
  /** True if calls with side effects may be pending without an await: later calls must come after them. */
  #hasLoose(): boolean {
    return (this.#loose ??= this.#known.uses.some(({ call, method }) => {
      if (method?.metadata.readOnly === true) return false;
      const destination = call === undefined ? "unknown" : destinationOf(call, this.#inspection);
      return destination === "unknown" || typeof destination === "object";
    }));
  }

  refuse(node: AnyNode): void {
    refuseAwait(node, this.#inspection);
  }

  /** True in the body of a function: not in a default value, a field or a static block. */
  #isInBody(node: AnyNode): boolean {
    const around = functionAround(node, this.#inspection);
    return around !== undefined && isFunction(around) && node.start >= around.body.start;
  }

  wrap(node: AnyNode, before: string, after: string): void {
    if (this.#done.has(node)) return;
    this.#done.add(node);
    const use = this.#calls.get(node);
    if (use !== undefined) {
      this.#awaitedPaths.add(use.path);
      this.#blocking.add(use);
    }
    const [open, close] = node.type === "SequenceExpression" ? ["(", ")"] : ["", ""];
    this.#inspection.report.wrap(node, before + open, close + after);
  }

  mayAwait(node: AnyNode): boolean {
    if (!mayAwait(node, this.#inspection)) return false;
    for (let at: AnyNode | undefined = node; at !== undefined && !isFunction(at); at = this.parent(at))
      if (at.type === "AssignmentExpression" && at.operator !== "=") return false;
    return true;
  }

  /** True for a call that certainly returns a promise: of a method, a local async function, or `Promise.all` and the like. */
  #isStart(node: AnyNode): boolean {
    const call = node.type === "ChainExpression" ? node.expression : node;
    if (call.type !== "CallExpression") return false;
    if (this.#calls.has(call)) return true;
    const { callee } = call;
    if (callee.type === "Identifier") {
      const binding = this.#inspection.scopes.findBinding(callee);
      const func = binding && findFunction(binding, this.#inspection);
      return func?.async === true && !func.generator;
    }
    return isCombinator(call);
  }

  parent(node: AnyNode): AnyNode | undefined {
    return getParent(node, this.#inspection);
  }

  #beginsStatement(node: AnyNode): boolean {
    let outer: AnyNode | undefined = node;
    while (outer !== undefined && outer.start === node.start && outer.type !== "ExpressionStatement")
      outer = this.parent(outer);
    return outer?.type === "ExpressionStatement" && outer.start === node.start;
  }

  /** Waits for the unused result of a statement before the next one; at the end of the program if an `await` follows. */
  statement(statement: AnyNode, expression: AnyNode): void {
    if (this.#results.has(statement)) return;
    const call = expression.type === "ChainExpression" ? expression.expression : expression;
    if (call.type !== "CallExpression") return;
    if (this.#calls.has(call)) {
      if (this.mayAwait(call)) this.wrap(call, "await ", "");
      else this.wrap(call, "__waitFor(", ")");
      return;
    }
    const isAtTop = functionAround(statement, this.#inspection) === undefined;
    const chain = this.#isChain(call);
    if (!chain && !this.#isOwn(call)) return;
    if (isAtTop && (chain || this.#isStart(call)) && this.#awaitsAfter(call)) {
      this.#hasLater = true;
      this.wrap(call, `${LATER}.push(`, ")");
    } else if (isAtTop || !chain) this.wrap(call, "__waitForAll(", ")");
  }

  /** `.then(…)`, `.catch(…)`, `.finally(…)` */
  #isChain({ callee }: CallExpression): boolean {
    return callee.type === "MemberExpression" && THEN.has(literalName(callee.property, callee.computed) ?? "");
  }

  #isOwn(call: CallExpression): boolean {
    const { callee } = call;
    if (isFunction(callee) || this.#isStart(call)) return true;
    if (callee.type === "Identifier") return this.#inspection.scopes.findBinding(callee) !== undefined;
    const name = callee.type === "MemberExpression" ? literalName(callee.property, callee.computed) : undefined;
    return name !== undefined && (name === "map" || this.#functionsByName.has(name));
  }

  #members: ReadonlyMap<string, readonly FunctionNode[]> | undefined;
  /** The local functions that are members, by name. */
  get #functionsByName(): ReadonlyMap<string, readonly FunctionNode[]> {
    if (this.#members !== undefined) return this.#members;
    const members = new Map<string, FunctionNode[]>();
    for (const func of this.#known.facts.functions) {
      const holder = this.parent(func);
      const isMember =
        holder?.type === "Property" || holder?.type === "MethodDefinition" || holder?.type === "PropertyDefinition";
      const name = isMember ? literalName(holder.key, holder.computed) : undefined;
      if (name !== undefined) pushToGroup(members, name, func);
    }
    return (this.#members = members);
  }

  #lastAwaits: ReadonlyMap<AnyNode | undefined, number> | undefined;
  /** True if an `await` follows the call in the same function or at the top level. */
  #awaitsAfter(call: AnyNode): boolean {
    this.#lastAwaits ??= new Map(
      this.#known.facts.awaits.map((node) => [functionAround(node, this.#inspection), node.start]),
    );
    return (this.#lastAwaits.get(functionAround(call, this.#inspection)) ?? 0) >= call.end;
  }

  /** Awaits the initial value of a variable that is only used as a value, so that calls run in source order. */
  kept(name: AnyNode, value: AnyNode): void {
    if (name.type !== "Identifier") return;
    const binding = this.#inspection.scopes.findBinding(name);
    if (binding === undefined || !this.#isStart(value)) return;
    const use = this.#calls.get(value);
    const isFree = use?.method?.metadata.readOnly === true && functionAround(value, this.#inspection) === undefined;
    if (isFree && binding.reads.length > 0) return;
    if (this.#isUsedAsValue(binding)) this.await(value);
  }

  readonly #valueBindings = new Map<Binding, boolean>();
  #isUsedAsValue(binding: Binding): boolean {
    const known = this.#valueBindings.get(binding);
    if (known !== undefined) return known;
    const isValue = binding.reads.every((read) => this.#isValueUse(read));
    this.#valueBindings.set(binding, isValue);
    return isValue;
  }

  #isValueUse(read: AnyNode): boolean {
    const parent = this.parent(read);
    if (
      parent?.type === "CallExpression" &&
      parent.callee.type === "MemberExpression" &&
      parent.arguments[0] === read
    ) {
      const name = literalName(parent.callee.property, parent.callee.computed) ?? "";
      const { object } = parent.callee;
      const holder = object.type === "Identifier" ? this.#inspection.scopes.findBinding(object) : undefined;
      if (SEEKING.has(name) || name === "add") return holder === undefined || !isWaitedFor(holder, this.#inspection);
    }
    return parent !== undefined && isValueUse(read, parent);
  }

  /** Awaits a call inside `try`, so that the `try` catches its failure. */
  escapes(call: AnyNode): void {
    if (!this.#isStart(call) || !isInTry(call, this.#inspection)) return;
    let inside = call;
    for (let outer = this.parent(call); outer !== undefined; outer = this.parent(outer)) {
      if (outer.type === "AwaitExpression" || isFunction(outer)) return;
      if (outer.type === "MemberExpression") return;
      if (outer.type === "CallExpression" && outer.callee !== inside && isCombinator(outer)) return;
      if (outer.type === "VariableDeclaration" && outer.kind !== "var") return;
      if (
        outer.type === "AssignmentExpression" ||
        outer.type === "ReturnStatement" ||
        outer.type === "CallExpression" ||
        outer.type === "YieldExpression"
      )
        return this.await(call);
      if (outer.type.endsWith("Statement")) return;
      inside = outer;
    }
  }

  returned(argument: AnyNode): void {
    if (!isInTry(argument, this.#inspection) || !mayBePromise(argument, this.#inspection)) return;
    if (this.#done.has(argument)) return;
    if (this.mayAwait(argument)) this.wrap(argument, "await (", ")");
    else this.wrap(argument, "__waitForAll(", ")");
  }

  /** Waits for a local async function with side effects before the program continues, unless it is awaited elsewhere. */
  #inOrder(call: CallExpression): void {
    const { callee, arguments: given } = call;
    const name = callee.type === "MemberExpression" ? literalName(callee.property, callee.computed) : undefined;
    const callback = name === "map" ? given[0] : name === "from" ? given[1] : undefined;
    const isList = callback !== undefined;
    const functions = this.#functionsBehind(isList ? callback : callee);
    if (!this.#changeSomething(functions)) return;
    const holder = this.parent(call);
    if (holder !== undefined && this.#results.has(holder)) return;
    if (readsItsOwnName(call, this.#inspection)) return;
    const destination = destinationOf(call, this.#inspection);
    if (destination === "awaited" || destination === "unknown") return;
    if (destination !== "unused" && isWaitedFor(destination, this.#inspection)) return;
    if (this.parent(call)?.type === "ExpressionStatement" && this.#awaitsAfter(call)) return;
    if (isList) this.wrap(callback, "__waitTested(", ")");
    else this.await(call);
  }

  #functionsBehind(callee: AnyNode): readonly FunctionNode[] {
    if (isFunction(callee)) return [callee];
    if (callee.type === "Identifier") {
      const binding = this.#inspection.scopes.findBinding(callee);
      const func = binding && findFunction(binding, this.#inspection);
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
    for (const { node, method } of this.#known.uses) {
      if (method?.metadata.readOnly === true) continue;
      for (let at: AnyNode | undefined = node; at !== undefined && !changing.has(at); at = this.parent(at))
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
    return (this.#effects ??= findSideEffects(this.#calls, this.#inspection));
  }

  call(call: CallExpression): void {
    this.escapes(call);
    this.#inOrder(call);
    const { callee, arguments: given } = call;
    const [first] = given;
    if (
      callee.type === "MemberExpression" &&
      callee.object.type !== "Super" &&
      literalName(callee.property, callee.computed) === "flat"
    )
      this.wrap(callee.object, "__waitForAll(", ")");
    if (first === undefined || first.type === "SpreadElement") return;
    if (callee.type === "Identifier") {
      if (this.#inspection.scopes.findBinding(callee) !== undefined) return;
      if (callee.name === "Boolean") this.test(first);
      else if (callee.name === "structuredClone") this.touch(first);
      else if (callee.name !== "print") for (const argument of given) this.visible(argument);
      return;
    }
    if (callee.type !== "MemberExpression") return;
    const name = literalName(callee.property, callee.computed) ?? "";
    const { object } = callee;
    const isGlobal = object.type === "Identifier" && this.#inspection.scopes.findBinding(object) === undefined;
    if (isGlobal && LOOKING.get(object.name)?.has(name) === true) {
      for (const argument of given) this.touch(argument);
    } else if (isGlobal && (object.name === "Math" || object.name === "JSON")) {
      for (const argument of given) this.visible(argument);
    } else if (TESTING.has(name)) {
      const callback = given[isGlobal ? 1 : 0];
      if (callback !== undefined) this.wrap(callback, "__waitTested(", ")");
    } else if (name === "map" && isLooker(first)) this.wrap(first, "__waitTested(", ")");
    else if (SEEKING.has(name) && !isGlobal && object.type !== "Super" && !this.#calls.has(call))
      this.#seek(call, callee);
    else if (name === "add" && this.#isStart(first)) this.await(first);
    else if (name === "set" && given.length > 1 && this.#isStart(first)) this.await(first);
  }

  /** Rewrites `set.has(x)` as `__waitSeek(set, "has", x)`, except for unusual formatting and optional chains. */
  #seek({ start, callee: { end } }: CallExpression, { object, property, computed }: MemberExpression): void {
    const { text } = this.#inspection.snippet;
    const between = text.slice(object.end, property.start);
    const bracket = /^\s*\(/.exec(text.slice(end, end + LONGEST_GAP))?.[0];
    if (computed || bracket === undefined || !/^[\s)]*\.\s*$/.test(between) || property.type !== "Identifier") return;
    if (text.slice(start, end).includes("?.")) return;
    const dot = object.end + between.indexOf(".");
    this.#inspection.report.replace({ start: dot, end: end + bracket.length }, `, "${property.name}", `);
    this.#inspection.report.wrap({ start, end: start }, "__waitSeek(", "");
  }

  creation(callee: AnyNode, given: readonly AnyNode[]): void {
    const [first] = given;
    if (callee.type === "Identifier" && callee.name === "Set" && first !== undefined)
      this.wrap(first, "__waitForAll(", ")");
  }

  /** Replaces `await` with `__waitFor` in a function that is not async. */
  awaited(node: AnyNode, argument: AnyNode): void {
    if (mayAwait(node, this.#inspection)) return;
    if (!this.#isInBody(node)) return refuseAwait(node, this.#inspection);
    this.#inspection.report.replace({ start: node.start, end: node.start + "await".length }, "__waitFor(");
    this.#inspection.report.wrap({ start: argument.start, end: node.end }, "", ")");
  }
}

/** True for `Object.keys`, `Array.isArray`, `Boolean` and the like as callbacks. */
function isLooker(node: AnyNode): boolean {
  return node.type === "Identifier"
    ? node.name === "Boolean"
    : node.type === "MemberExpression" && node.object.type === "Identifier" && LOOKING.has(node.object.name);
}

/** Refuses an `await` where no function can block, because the class or the parameters are not initialized yet. */
function refuseAwait(node: AnyNode, { report }: CheckContext): void {
  const fix = "Write async before the parameters of the function: async (…) => …";
  report.refuse("SYNTAX", node, () => ({ values: "await in a function that is not async", fix }));
}

/** Wraps a method that is passed as a callback, as in `ids.map(device.A.x)`, so that it gets no extra arguments. */
function writeCallback({ node }: MethodUse, context: CheckContext): void {
  const call = getParent(node, context);
  if (call?.type !== "CallExpression" || call.callee.type !== "MemberExpression") return;
  const name = literalName(call.callee.property, call.callee.computed) ?? "";
  if (call.arguments[name === "from" ? 1 : 0] !== node) return;
  const parameters = ["__waitedFirst", "__waitedSecond"].slice(0, CALLBACK_PARAMETERS.get(name) ?? 0).join(", ");
  if (parameters !== "") context.report.wrap(node, `(${parameters}) => `, `(${parameters})`);
}
