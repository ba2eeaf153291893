import type { AnyNode, CallExpression } from "acorn";
import { makePlain, syncCallbackOf, waitsForMethod } from "./asyncness.ts";
import type { Calls } from "./device.ts";
import type { Flow } from "./flow.ts";
import { functionAround, type Inspection, isAsync, mayAwait, parentOf } from "./inspection.ts";
import { EITHER, GIVEN, type Need } from "./need.ts";
import { findOwnFunctions, type OwnFunctions, type Maker, type OwnPromise } from "./own.ts";
import { readsItsOwnName } from "./own-name.ts";
import { isUsedAsValue, listAround } from "./promises.ts";
import { findSideEffects, type SideEffects } from "./side-effects.ts";
import type { Await, SyntaxFacts } from "./syntax.ts";
import { collect, type FunctionNode, isFunction } from "./walk.ts";

interface Known {
  readonly calls: Calls;
  readonly facts: SyntaxFacts;
  /** Looks at the functions as they are by then. */
  readonly follow: () => Flow;
  /** The function that is the whole program: nobody looks at its promise. */
  readonly entry: FunctionNode | undefined;
  /** What `await` was missing for. */
  readonly told: Set<string>;
}

/** One plain function can be what another has to be plain for; chains that are longer are left. */
const MOST_LOOKS = 4;

/**
 * Makes async functions plain whose promises are used as values where `await` cannot stand: then their calls can block; and
 * lists of `Promise.all`, whose items then can. In a program that never waits these are all async functions, but for those
 * whose promises are only given back and that change nothing around them: these may run side by side.
 */
export function makeFunctionsPlain(known: Known, inspection: Inspection): Plain {
  const { facts, calls } = known;
  if (!facts.keepsPromises && !facts.functions.some((func) => isAsync(func, inspection)))
    return { idle: new Set(), own: findOwnFunctions(facts, calls, inspection), isMissed: () => false };
  const plainer = new Plainer(known, inspection);
  plainer.lookAtCallbacks();
  for (let look = 1; look <= MOST_LOOKS && plainer.look(look === MOST_LOOKS); look++) plainer.lookAgain();
  return plainer;
}

export interface Plain {
  /** `await`s that have nothing to wait for any more. */
  readonly idle: ReadonlySet<Await>;
  readonly own: OwnFunctions;
  /** True if nobody waits for a promise, and yet the program goes on with what its functions change. */
  isMissed(call: CallExpression, promise: OwnPromise, need: Need): boolean;
}

class Plainer implements Plain {
  readonly idle = new Set<Await>();
  own: OwnFunctions;
  #effects: SideEffects | undefined;
  /** Thousands of calls may stand for the same functions. */
  readonly #plainable = new WeakMap<readonly Maker[], boolean>();
  readonly #known: Known;
  readonly #inspection: Inspection;
  readonly #awaitsOf = new Map<AnyNode, Await[]>();

  constructor(known: Known, inspection: Inspection) {
    this.#known = known;
    this.#inspection = inspection;
    this.own = findOwnFunctions(known.facts, known.calls, inspection);
    for (const node of known.facts.awaits) {
      const func = functionAround(node, inspection);
      if (func !== undefined) collect(this.#awaitsOf, func, node);
    }
  }

  /** In a program that waits here and there, these alone would be taken for values that are true, or run on by themselves. */
  lookAtCallbacks(): void {
    if (!this.#known.facts.waits) return;
    for (const func of this.#asyncFunctions()) {
      const name = syncCallbackOf(func, this.#inspection);
      if (name === undefined) continue;
      const note = this.#makePlain([func])
        ? `${name} waits for no promise: the calls in its callback were made one after the other`
        : `${name} does not wait for its async callback: write for (const … of …) { await … }`;
      this.#inspection.report.note(note);
    }
    this.lookAgain();
  }

  /** What is known of functions may be otherwise after some have become plain. */
  lookAgain(): void {
    this.own = findOwnFunctions(this.#known.facts, this.#known.calls, this.#inspection);
  }

  /** True if there may be more to do. */
  look(isLast: boolean): boolean {
    const { facts, follow } = this.#known;
    const flow = follow();
    const looked = new Set<readonly Maker[]>();
    let changed = !facts.waits && this.#makeAllPlain(flow, isLast);
    for (const call of facts.calls) {
      const single = this.own.promiseOf(call);
      const promise = single ?? this.own.promisesIn(call);
      const isList = single === undefined;
      if (promise === undefined || !promise.isMadeByThemAlone || looked.has(promise.makers)) continue;
      const depth = isList ? 1 : 0;
      const canWait = this.#canWait(call, isList);
      const isUsed = !canWait && isUsedAsValue(call, depth, { flow, facts }, this.#inspection);
      // A single one that can be waited for gets its await.
      const mayBeMissed = isList || !canWait;
      if (!isUsed && !(mayBeMissed && this.isMissed(call, promise, flow.need(call, depth)))) continue;
      looked.add(promise.makers);
      if (!this.#makePlain(promise.makers)) continue;
      changed = true;
      this.#known.told.add(promise.name);
    }
    return changed;
  }

  /** Only of functions that wait for nothing but calls: others may wait for what comes after. */
  isMissed(call: CallExpression, { makers, isMadeByThemAlone }: OwnPromise, need: Need): boolean {
    if ((need & ~GIVEN) !== 0 || readsItsOwnName(call, this.#inspection)) return false;
    const callbacks = this.own.callbacksAfter(call);
    if (callbacks === undefined && !isMadeByThemAlone) return false;
    const functions = callbacks ?? makers;
    return this.#sideEffects().areSeenAfter(call, functions) && this.#canBePlain(functions);
  }

  #asyncFunctions(): readonly FunctionNode[] {
    const { facts, entry } = this.#known;
    return facts.functions.filter((func) => func !== entry && isAsync(func, this.#inspection));
  }

  #makeAllPlain(flow: Flow, isLast: boolean): boolean {
    const used = this.#asyncFunctions().filter(
      (func) => isLast || func.generator || this.#sideEffects().has(func) || !isOnlyGiven(flow.needOfCalls(func)),
    );
    for (const func of used) makePlain(func, this.#inspection);
    return used.length > 0;
  }

  /** Who calls a function waits for the promise that it gives back, but not for those in a list. */
  #canWait(call: CallExpression, isList: boolean): boolean {
    if (mayAwait(call, this.#inspection)) return true;
    const list = listAround(call, this.#inspection);
    return (list !== undefined && mayAwait(list, this.#inspection)) || (!isList && this.#isHandedOn(call));
  }

  /** Where a plain function with a name gives it back, whoever calls that function waits. */
  #isHandedOn(call: CallExpression): boolean {
    const func = functionAround(call, this.#inspection);
    const parent = parentOf(call, this.#inspection);
    const isGivenBack = parent?.type === "ReturnStatement" || parent === func;
    if (!isGivenBack || func === undefined || !isFunction(func)) return false;
    const holder = parentOf(func, this.#inspection);
    if (holder?.type === "MethodDefinition" || holder?.type === "Property")
      return holder.kind === "method" || holder.kind === "init";
    return func.type === "FunctionDeclaration" || holder?.type === "VariableDeclarator";
  }

  /** Most snippets need not know. */
  #sideEffects(): SideEffects {
    return (this.#effects ??= findSideEffects({ calls: this.#known.calls, own: this.own }, this.#inspection));
  }

  #canBePlain(makers: readonly Maker[]): boolean {
    const known = this.#plainable.get(makers) ?? this.#withInner(makers) !== undefined;
    this.#plainable.set(makers, known);
    return known;
  }

  /** True if these, and whatever they wait for, can do without promises; then they are plain. */
  #makePlain(makers: readonly Maker[]): boolean {
    const found = this.#withInner(makers);
    if (found === undefined) return false;
    for (const maker of found.all) this.#rewrite(maker);
    for (const node of found.idle) this.idle.add(node);
    return true;
  }

  /** These and whatever they wait for; nothing if they wait for anything else. */
  #withInner(makers: readonly Maker[]): { readonly all: Set<Maker>; readonly idle: Set<Await> } | undefined {
    const all = new Set(makers);
    const idle = new Set<Await>();
    for (const maker of all) {
      const promises = isFunction(maker) ? this.#promisesOfFunction(maker, idle) : this.own.promisesAmong(maker);
      if (promises === undefined || !promises.every(({ isMadeByThemAlone }) => isMadeByThemAlone)) return undefined;
      for (const promise of promises) for (const inner of promise.makers) all.add(inner);
    }
    return { all, idle };
  }

  /** What a function waits for, but for methods; nothing if that cannot be known. */
  #promisesOfFunction(func: FunctionNode, idle: Set<Await>): readonly OwnPromise[] | undefined {
    if (func.generator) return undefined;
    const promises: OwnPromise[] = [];
    for (const node of this.#awaitsOf.get(func) ?? []) {
      if (waitsForMethod(node, this.#known.calls)) continue;
      if (node.type !== "AwaitExpression" || node.argument.type !== "CallExpression") return undefined;
      const promise = this.own.promiseOf(node.argument);
      if (promise === undefined && this.own.behind(node.argument.callee).length === 0) return undefined;
      idle.add(node);
      if (promise !== undefined) promises.push(promise);
    }
    return promises;
  }

  #rewrite(maker: Maker): void {
    if (isFunction(maker)) {
      if (isAsync(maker, this.#inspection)) makePlain(maker, this.#inspection);
      return;
    }
    if (this.#inspection.plainLists.has(maker)) return;
    this.#inspection.plainLists.add(maker);
    this.#inspection.report.replace(maker.callee, "Array.from");
  }
}

function isOnlyGiven(need: number): boolean {
  return need !== 0 && (need & ~(GIVEN | EITHER)) === 0;
}
