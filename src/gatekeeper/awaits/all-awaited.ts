import type { AnyNode } from "acorn";
import type { MethodCalls } from "../rules/device.ts";
import { functionAround, type CheckContext, isInTry, mayAwait, getParent } from "../context.ts";
import type { Binding } from "../ast/scopes.ts";
import { byType, type ByType, type FunctionNode, isFunction, literalName } from "../ast/walk.ts";
import { isCombinator } from "./promise-destination.ts";
import type { ProgramFacts } from "./types.ts";

/** True for a program that awaits every promise where it creates it: such a program is not rewritten. */
export function awaitsEverything(program: ProgramFacts, calls: MethodCalls, context: CheckContext): boolean {
  return new Checker(program, context).holds(calls);
}

class Checker {
  readonly context: CheckContext;
  readonly #program: ProgramFacts;
  readonly #results: ReadonlySet<AnyNode>;
  readonly #functions = new Map<FunctionNode, boolean>();

  constructor(program: ProgramFacts, context: CheckContext) {
    this.#program = program;
    this.context = context;
    this.#results = new Set<AnyNode>(program.results.map(({ node }) => node));
  }

  holds(calls: MethodCalls): boolean {
    const { facts, uses } = this.#program;
    return (
      facts.awaits.every((node) => mayAwait(node, this.context)) &&
      uses.every(({ call }) => call !== undefined && calls.has(call) && this.isAwaited(call)) &&
      facts.functions.every((func) => !func.generator && (!func.async || this.isAwaitedFunction(func)))
    );
  }

  isAwaited(node: AnyNode): boolean {
    const outer = this.parent(node);
    return outer !== undefined && (byType(AWAITED, outer, node)?.(this) ?? false);
  }

  isResult(statement: AnyNode): boolean {
    return this.#results.has(statement);
  }

  /** True if every call of a function is awaited. */
  isAwaitedFunction(func: FunctionNode): boolean {
    if (func === this.#program.entry) return true;
    const cached = this.#functions.get(func);
    if (cached !== undefined) return cached;
    this.#functions.set(func, true); // for recursive functions
    const holder = this.parent(func);
    const isCalledHere = holder?.type === "CallExpression" && holder.callee === func && this.isAwaited(holder);
    const binding = this.#findBinding(func, holder);
    const isAwaited = this.#isInCombinator(func) || isCalledHere || this.#isAwaitedByName(binding);
    this.#functions.set(func, isAwaited);
    return isAwaited;
  }

  parent(node: AnyNode): AnyNode | undefined {
    return getParent(node, this.context);
  }

  #findBinding(func: FunctionNode, holder: AnyNode | undefined): Binding | undefined {
    const id =
      func.type === "FunctionDeclaration" ? func.id : holder?.type === "VariableDeclarator" ? holder.id : undefined;
    return id?.type === "Identifier" ? this.context.scopes.findBinding(id) : undefined;
  }

  #isAwaitedByName(binding: Binding | undefined): boolean {
    if (binding === undefined || binding.writes.length > 0 || binding.declared.length !== 1) return false;
    return binding.reads.every((name) => {
      const call = this.parent(name);
      const isCalled = call?.type === "CallExpression" && call.callee === name && this.isAwaited(call);
      return isCalled || this.#isInCombinator(name);
    });
  }

  /** `await Promise.all(ids.map(func))` */
  #isInCombinator(func: AnyNode): boolean {
    const call = this.parent(func);
    if (call?.type !== "CallExpression" || call.callee.type !== "MemberExpression") return false;
    const name = literalName(call.callee.property, call.callee.computed);
    const isListed = (name === "map" && call.arguments[0] === func) || (name === "from" && call.arguments[1] === func);
    const list = this.parent(call);
    return isListed && list?.type === "CallExpression" && isCombinator(list) && this.isAwaited(list);
  }
}

/** Whether a promise is awaited, by the type of its parent node. */
const AWAITED: ByType<(checker: Checker) => boolean> = {
  ArrayExpression: (list) => (checker) => {
    const call = checker.parent(list);
    return call?.type === "CallExpression" && isCombinator(call) && checker.isAwaited(call);
  },
  ArrowFunctionExpression: (func, node) => (checker) => func.body === node && checker.isAwaitedFunction(func),
  AwaitExpression: (node) => (checker) => mayAwait(node, checker.context),
  CallExpression: (call, node) => (checker) => call.callee !== node && isCombinator(call) && checker.isAwaited(call),
  ChainExpression: (chain) => (checker) => checker.isAwaited(chain),
  ExpressionStatement: (statement) => (checker) => checker.isResult(statement) && !isInTry(statement, checker.context),
  ReturnStatement: (statement) => (checker) => {
    if (isInTry(statement, checker.context)) return false;
    const func = functionAround(statement, checker.context);
    return func === undefined || (isFunction(func) && checker.isAwaitedFunction(func));
  },
};
