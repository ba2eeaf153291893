import { formatList } from "../../shared/format-text.ts";
import type { AnyNode, CallExpression, VariableDeclarator } from "acorn";
import type { MethodCalls, MethodUse } from "../rules/device.ts";
import { FOUND_PATH } from "../rules/found-calls.ts";
import { awaitsEverything } from "./all-awaited.ts";
import { functionAround, type CheckContext, isInTry, mayAwait, getParent } from "../context.ts";
import { THEN } from "./promise-methods.ts";
import { findDestination, isCombinator, isCombined, isWaitedFor } from "./promise-destination.ts";
import { CallOrder } from "./call-order.ts";
import { ForgottenPromises } from "./forgotten-promises.ts";
import { isPromiseCall, mayBePromise } from "./may-be-promise.ts";
import { getOrigin } from "./value-origin.ts";
import type { Binding } from "../ast/scopes.ts";
import { type AwaitWriter, isValueUse, visitPlace } from "./touched-places.ts";
import { isItemOfCombined, SEEKING, visitArguments, writeCallback } from "./touched-arguments.ts";
import type { ProgramFacts, Waits } from "./types.ts";
import { byType, type ByType, isFunction, literalName } from "../ast/walk.ts";

/** The variable that collects promises of statements that do not use them. */
export const LATER = "__waitedLater";
/**
 * Inserts the awaits that a program lacks. A promise that is used as a value (member, text, number, list) is settled at run
 * time; this function handles only the uses that a promise cannot notice: tests, comparisons, `typeof` and unused results.
 */
export function insertAwaits(program: ProgramFacts, context: CheckContext): Waits {
  const calls: MethodCalls = new Map(program.uses.flatMap((use) => (use.call === undefined ? [] : [[use.call, use]])));
  for (const use of program.uses) if (use.call === undefined && !use.isWholeSkill) writeCallback(use, context);
  if (awaitsEverything(program, calls, context))
    return { blocking: new Set(), hasLater: false, mayForget: false, isExplicit: true };
  return new Writer(program, calls, context).write();
}

class Writer implements AwaitWriter {
  readonly #program: ProgramFacts;
  readonly #calls: MethodCalls;
  readonly #context: CheckContext;
  readonly #done = new Set<AnyNode>();
  readonly #blocking = new Set<MethodUse>();
  readonly #awaitedPaths = new Set<string>();
  readonly #order: CallOrder;
  readonly #forgotten: ForgottenPromises;
  #hasLater = false;

  constructor(program: ProgramFacts, calls: MethodCalls, context: CheckContext) {
    this.#program = program;
    this.#calls = calls;
    this.#context = context;
    this.#order = new CallOrder(program, calls, context);
    this.#forgotten = new ForgottenPromises(program, context);
  }

  write(): Waits {
    for (const node of this.#context.scopes.parents.keys()) visitPlace(node, this);
    if (this.#awaitedPaths.size > 0) {
      this.#context.report.note(`Waited for ${formatList([...this.#awaitedPaths], 3)}, as await was missing`);
    }
    const mayForget = this.#program.uses.length > 0 && !this.#program.facts.races;
    return {
      blocking: this.#blocking,
      hasLater: this.#hasLater,
      mayForget,
      isExplicit: this.#program.uses.length === 0,
    };
  }

  /** Waits for an expression whose value is used in a way that a promise cannot notice. */
  touch(node: AnyNode | null | undefined): void {
    if (node == null || this.#done.has(node) || !mayBePromise(node, this.#context)) return;
    if (this.#isStart(node)) this.await(node);
    // A call of `__waitFor` for each comparison would make loops five times slower.
    else if (node.type === "Identifier")
      this.wrap(node, `(typeof ${node.name} === "object" ? __waitFor(`, `) : ${node.name})`);
    else this.wrap(node, "__waitFor(", ")");
  }

  /** Waits for an expression that is tested or compared, unless the test may be about the promise itself. */
  test(node: AnyNode | null | undefined): void {
    if (node == null) return;
    const { waits, keepsPromises } = this.#program.facts;
    if (waits && keepsPromises) {
      const binding = node.type === "Identifier" ? this.#context.scopes.findBinding(node) : undefined;
      if (binding !== undefined && (isWaitedFor(binding, this.#context) || isItemOfCombined(binding, this.#context)))
        return;
      if (getOrigin(node, this.#context) === "outer") return;
    }
    this.touch(node);
  }

  /** Writes `await` before a call whose promise would notice its use: `await` does not block other code. */
  visitUse(node: AnyNode | null | undefined): void {
    if (node != null && this.#isStart(node) && this.mayAwait(node)) this.await(node);
  }

  await(node: AnyNode): void {
    const holdsUp = functionAround(node, this.#context) !== undefined || !this.#hasLoose();
    const [before, after] =
      holdsUp && this.mayAwait(node) && !this.#beginsStatement(node) ? ["(await ", ")"] : ["__waitFor(", ")"];
    this.wrap(node, before, after);
  }

  #loose: boolean | undefined;
  /** True if calls with side effects may be pending without an await: later calls must come after them. */
  #hasLoose(): boolean {
    return (this.#loose ??= this.#program.uses.some(({ call, method }) => {
      if (method?.metadata.readOnly === true) return false;
      const destination = call === undefined ? "unknown" : findDestination(call, this.#context);
      return destination === "unknown" || typeof destination === "object";
    }));
  }

  refuse(node: AnyNode): void {
    refuseAwait(node, this.#context);
  }

  /** True in the body of a function: not in a default value, a field or a static block. */
  #isInBody(node: AnyNode): boolean {
    const around = functionAround(node, this.#context);
    return around !== undefined && isFunction(around) && node.start >= around.body.start;
  }

  wrap(node: AnyNode, before: string, after: string): void {
    if (this.#done.has(node)) return;
    this.#done.add(node);
    const use = this.#calls.get(node);
    if (use !== undefined) {
      this.#awaitedPaths.add(use.path === FOUND_PATH ? "a found method" : use.path);
      this.#blocking.add(use);
    }
    const [open, close] = node.type === "SequenceExpression" ? ["(", ")"] : ["", ""];
    this.#context.report.wrap(node, before + open, close + after);
  }

  mayAwait(node: AnyNode): boolean {
    if (!mayAwait(node, this.#context)) return false;
    for (let at: AnyNode | undefined = node; at !== undefined && !isFunction(at); at = this.parent(at))
      if (at.type === "AssignmentExpression" && at.operator !== "=") return false;
    return true;
  }

  #isStart(node: AnyNode): boolean {
    return isPromiseCall(node, this.#calls, this.#context);
  }

  parent(node: AnyNode): AnyNode | undefined {
    return getParent(node, this.#context);
  }

  #beginsStatement(node: AnyNode): boolean {
    let outer: AnyNode | undefined = node;
    while (outer !== undefined && outer.start === node.start && outer.type !== "ExpressionStatement")
      outer = this.parent(outer);
    return outer?.type === "ExpressionStatement" && outer.start === node.start;
  }

  visitStatement(statement: AnyNode, expression: AnyNode): void {
    if (!this.#order.isResult(statement)) this.visitUnused(expression);
  }

  /** Waits for an unused result before the program continues; at the end of the program if an `await` follows. */
  visitUnused(expression: AnyNode): void {
    for (const part of getUnusedParts(expression)) this.#visitUnusedCall(part);
  }

  #visitUnusedCall(call: AnyNode): void {
    if (call.type !== "CallExpression") return;
    if (this.#calls.has(call)) {
      if (this.mayAwait(call)) this.wrap(call, "await ", "");
      else this.wrap(call, "__waitFor(", ")");
      return;
    }
    const isAtTop = functionAround(call, this.#context) === undefined;
    const chain = this.#isChain(call);
    if (!chain && !this.#isOwn(call)) return;
    if (isAtTop && (chain || this.#isStart(call)) && this.#order.awaitsAfter(call)) {
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
    if (callee.type === "Identifier") return this.#context.scopes.findBinding(callee) !== undefined;
    const name = callee.type === "MemberExpression" ? literalName(callee.property, callee.computed) : undefined;
    return name !== undefined && (name === "map" || this.#order.hasMember(name));
  }

  /**
   * Awaits the initial value of a variable that is only used as a value, so that calls run in source order. A forgotten promise is
   * awaited here too if later calls may depend on its call, or if a `try` must catch its failure.
   */
  visitAssignment(name: AnyNode, value: AnyNode): void {
    if (name.type !== "Identifier") return;
    const binding = this.#context.scopes.findBinding(name);
    if (binding === undefined) return;
    const mustEnd = this.#order.containsWrite(value) || isInTry(value, this.#context);
    if (!this.#isStart(value)) {
      const mayStart = (mustEnd && isListOfResults(value)) || this.#order.callsWriter(value);
      if (mayStart && this.#forgotten.has(binding)) this.wrap(value, "__waitForAll(", ")");
      return;
    }
    const use = this.#calls.get(value);
    const isFree = use?.method?.metadata.readOnly === true && functionAround(value, this.#context) === undefined;
    if (isFree && !isInTry(value, this.#context) && binding.reads.length > 0) return;
    if (this.#isUsedAsValue(binding) || (mustEnd && this.#forgotten.has(binding))) this.await(value);
  }

  readonly #valueBindings = new Map<Binding, boolean>();
  #isUsedAsValue(binding: Binding): boolean {
    const cached = this.#valueBindings.get(binding);
    if (cached !== undefined) return cached;
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
      const holder = object.type === "Identifier" ? this.#context.scopes.findBinding(object) : undefined;
      if (SEEKING.has(name) || name === "add") return holder === undefined || !isWaitedFor(holder, this.#context);
    }
    return parent !== undefined && isValueUse(read, parent);
  }

  /** Awaits a call inside `try`, so that the `try` catches its failure. */
  escapes(call: AnyNode): void {
    if (!this.#isStart(call) || !isInTry(call, this.#context)) return;
    let inside = call;
    for (let outer = this.parent(call); outer !== undefined; outer = this.parent(outer)) {
      if (outer.type === "AwaitExpression" || isFunction(outer)) return;
      if (outer.type === "MemberExpression") return;
      if (outer.type === "CallExpression" && outer.callee !== inside && isCombinator(outer)) return;
      if (outer.type === "VariableDeclarator") return this.#isForgottenIn(outer) ? this.await(call) : undefined;
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

  #isForgottenIn({ id }: VariableDeclarator): boolean {
    const binding = this.#context.scopes.findBinding(id);
    return binding !== undefined && this.#forgotten.has(binding);
  }

  visitReturn(argument: AnyNode): void {
    if (!isInTry(argument, this.#context) || !mayBePromise(argument, this.#context)) return;
    if (this.#done.has(argument)) return;
    if (this.mayAwait(argument)) this.wrap(argument, "await (", ")");
    else this.wrap(argument, "__waitForAll(", ")");
  }

  visitCall(call: CallExpression): void {
    this.escapes(call);
    const isWrite = this.#calls.has(call) && this.#order.containsWrite(call);
    if (isWrite && this.#forgotten.isStored(call)) this.await(call);
    const blocking = this.#order.findBlocking(call);
    if (blocking === call) this.await(call);
    else if (blocking !== undefined) this.wrap(blocking, "__waitTested(", ")");
    visitArguments(call, this, this.#calls, this.#context);
  }

  visitCreation(callee: AnyNode, args: readonly AnyNode[]): void {
    const [first] = args;
    if (callee.type === "Identifier" && callee.name === "Set" && first !== undefined && !this.#isSetOfPromises(callee))
      this.wrap(first, "__waitForAll(", ")");
  }

  /** True for a set of promises that is awaited as a whole and not asked for a value, and in a program that races. */
  #isSetOfPromises(callee: AnyNode): boolean {
    const creation = this.parent(callee) as AnyNode;
    if (this.#program.facts.races) return true;
    if (!isCombined(creation, this.#context)) return false;
    const holder = findDestination(creation, this.#context);
    return typeof holder !== "object" || !holder.reads.some((read) => this.#isAsked(read));
  }

  #isAsked(read: AnyNode): boolean {
    const member = this.parent(read);
    return member?.type === "MemberExpression" && literalName(member.property, member.computed) === "has";
  }

  /** Replaces `await` with `__waitFor` in a function that is not async. */
  visitAwait(node: AnyNode, argument: AnyNode): void {
    if (mayAwait(node, this.#context)) return;
    if (!this.#isInBody(node)) return refuseAwait(node, this.#context);
    this.#context.report.replace({ start: node.start, end: node.start + "await".length }, "__waitFor(");
    this.#context.report.wrap({ start: argument.start, end: node.end }, "", ")");
  }
}

/** Refuses an `await` where no function can block, because the class or the parameters are not initialized yet. */
function refuseAwait(node: AnyNode, { report }: CheckContext): void {
  const fix = "Write async before the parameters of the function: async (…) => …";
  report.refuse("SYNTAX", node, () => ({ values: "await in a function that is not async", fix }));
}

/** The expressions whose results are unused if that of the whole is: both branches of `ok ? a() : b()`. */
function getUnusedParts(expression: AnyNode): readonly AnyNode[] {
  return byType(UNUSED_PARTS, expression, expression) ?? [expression];
}

const UNUSED_PARTS: ByType<readonly AnyNode[]> = {
  ChainExpression: ({ expression }) => [expression],
  ConditionalExpression: ({ consequent, alternate }) => [consequent, alternate].flatMap(getUnusedParts),
  LogicalExpression: ({ right }) => getUnusedParts(right),
  SequenceExpression: ({ expressions }) => expressions.slice(-1).flatMap(getUnusedParts),
};

/** True for `ids.map(…)` and `Array.from(ids, …)`. */
function isListOfResults(value: AnyNode): boolean {
  if (value.type !== "CallExpression" || value.callee.type !== "MemberExpression") return false;
  const name = literalName(value.callee.property, value.callee.computed);
  return name === "map" || name === "from";
}
