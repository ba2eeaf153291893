import type { AnyNode, CallExpression, MemberExpression } from "acorn";
import { RESERVED_PREFIX } from "./allowlist.ts";
import type { Calls, MethodUse } from "./device.ts";
import type { Flow } from "./flow.ts";
import { ancestorsOf, functionAround, functionOf, type Inspection, isAsync, mayAwait, parentOf } from "./inspection.ts";
import { COMBINATORS, LISTING_CALLBACKS, PROMISE, THEN, VALUE } from "./need.ts";
import type { ResultStatement } from "./result.ts";
import type { SyntaxFacts } from "./syntax.ts";
import { collect, type FunctionNode, isFunction, literalName } from "./walk.ts";

/** Where promises are kept that a statement starts and nobody looks at. */
export const LATER = `${RESERVED_PREFIX}edLater`;

interface Known {
  readonly uses: readonly MethodUse[];
  readonly calls: Calls;
  readonly facts: SyntaxFacts;
  readonly results: readonly ResultStatement[];
  readonly flow: Flow;
  readonly told: Set<string>;
}

/**
 * The promises that the snippet makes itself: by async functions, by `Promise.all` and the like, by `map` with an async
 * callback. They cannot block, but they can be awaited where they are used as values and `await` may stand. True if some
 * were put aside.
 */
export function writeOwnPromises(known: Known, inspection: Inspection): boolean {
  const awaited = new Set<AnyNode>();
  for (const call of known.facts.calls) {
    const name = promiseNameOf(call, inspection);
    if (name !== undefined && isUsedAsValue(call, 0, known.flow))
      awaitPromise(call, name, { ...known, awaited }, inspection);
    else if (isListOfPromises(call, inspection) && isUsedAsValue(call, 1, known.flow))
      awaitList(call, { ...known, awaited }, inspection);
  }
  return keepForLater(known, awaited, inspection);
}

interface Awaiting extends Known {
  readonly awaited: Set<AnyNode>;
}

function isUsedAsValue(expression: AnyNode, depth: number, flow: Flow): boolean {
  const need = flow.need(expression, depth);
  return (need & VALUE) !== 0 && (need & PROMISE) === 0;
}

/** What makes the promise that a call gives; nothing for a call of anything else. */
function promiseNameOf({ callee }: CallExpression, inspection: Inspection): string | undefined {
  if (isFunction(callee)) return gives(callee, inspection) ? "the async function" : undefined;
  if (callee.type === "Identifier") {
    const func = asyncFunctionNamed(callee, inspection);
    return func && callee.name;
  }
  if (callee.type !== "MemberExpression" || callee.object.type !== "Identifier" || callee.object.name !== "Promise")
    return undefined;
  const name = literalName(callee.property, callee.computed) ?? "";
  return COMBINATORS.has(name) && inspection.scopes.bindingOf(callee.object) === undefined
    ? `Promise.${name}`
    : undefined;
}

function gives(func: FunctionNode, inspection: Inspection): boolean {
  return isAsync(func, inspection) && !func.generator;
}

function asyncFunctionNamed(name: AnyNode, inspection: Inspection): FunctionNode | undefined {
  const binding = inspection.scopes.bindingOf(name);
  const func = binding === undefined || binding.writes.length > 0 ? undefined : functionOf(binding, inspection);
  return func !== undefined && gives(func, inspection) ? func : undefined;
}

/** `ids.map(async (id) => …)`, `ids.map(load)`, `Array.from(ids, load)` */
function isListOfPromises({ callee, arguments: given }: CallExpression, inspection: Inspection): boolean {
  if (callee.type !== "MemberExpression") return false;
  const name = literalName(callee.property, callee.computed) ?? "";
  const callback = LISTING_CALLBACKS.has(name) ? given[name === "from" ? 1 : 0] : undefined;
  if (callback === undefined) return false;
  return isFunction(callback) ? gives(callback, inspection) : asyncFunctionNamed(callback, inspection) !== undefined;
}

function awaitPromise(call: CallExpression, name: string, known: Awaiting, inspection: Inspection): void {
  if (mayAwait(call, inspection)) {
    writeAwait(call, "(await ", ")", known, inspection);
    known.told.add(name);
    return;
  }
  const list = listAround(call, inspection);
  if (list !== undefined) awaitList(list, known, inspection);
}

function awaitList(list: CallExpression, known: Awaiting, inspection: Inspection): void {
  if (known.awaited.has(list) || !mayAwait(list, inspection)) return;
  writeAwait(list, "(await Promise.all(", "))", known, inspection);
  known.told.add("a list of promises");
}

/** At the start of a statement, a bracket could go on with the statement before. */
function writeAwait(
  call: CallExpression,
  before: string,
  after: string,
  { awaited, results }: Awaiting,
  inspection: Inspection,
): void {
  let outer: AnyNode | undefined = call;
  while (outer !== undefined && outer.start === call.start && outer.type !== "ExpressionStatement")
    outer = parentOf(outer, inspection);
  const begins =
    outer?.type === "ExpressionStatement" && outer.start === call.start && results.every(({ node }) => node !== outer);
  inspection.report.wrap(call, begins ? `0,${before}` : before, after);
  awaited.add(call);
}

/** The `map` whose plain callback hands out what a call gives. */
function listAround(call: CallExpression, inspection: Inspection): CallExpression | undefined {
  let inside: AnyNode = call;
  for (const outer of ancestorsOf(call, inspection)) {
    if (isFunction(outer)) {
      const list = parentOf(outer, inspection);
      if (
        list?.type !== "CallExpression" ||
        list.callee.type !== "MemberExpression" ||
        !list.arguments.includes(outer as never)
      )
        return undefined;
      return LISTING_CALLBACKS.has(literalName(list.callee.property, list.callee.computed) ?? "") ? list : undefined;
    }
    const handsOut =
      outer.type === "ReturnStatement" || (outer.type === "BlockStatement" && inside.type === "ReturnStatement");
    if (!handsOut && outer.type !== "ConditionalExpression") return undefined;
    inside = outer;
  }
  return undefined;
}

/**
 * A statement at the top that starts calls and does not wait lets the next statement go on. Nothing would wait for it at the
 * end either, and the run would be over before its calls are; so they are kept and awaited there.
 */
function keepForLater(
  { uses, calls, facts, results }: Known,
  awaited: ReadonlySet<AnyNode>,
  inspection: Inspection,
): boolean {
  const statements = facts.calls.flatMap((call) => {
    const statement = parentOf(call, inspection);
    return statement?.type === "ExpressionStatement" && functionAround(statement, inspection) === undefined
      ? [{ call, statement }]
      : [];
  });
  const promises = statements.filter(
    ({ call }) => !calls.has(call) && !awaited.has(call) && isPromise(call, calls, inspection),
  );
  if (promises.length === 0) return false;
  const { report } = inspection;
  const callers = callersOf(uses, facts.calls, inspection);
  const resultOf = new Map<AnyNode, ResultStatement>(results.map((result) => [result.node, result]));
  const started = promises.filter(({ call }) => callers.has(call));
  for (const { call, statement } of started) {
    if (resultOf.get(statement)?.isInLoop === true) report.wrap({ start: call.start, end: call.start }, "await ", "");
  }
  const kept = started.filter(({ statement }) => !resultOf.has(statement));
  for (const { call } of kept) report.wrap(call, `${LATER}.push(`, ")");
  return kept.length > 0;
}

/** True for a promise of the snippet's own, with any `.then`, `.catch` and `.finally` behind it. */
function isPromise(call: CallExpression, calls: Calls, inspection: Inspection): boolean {
  let at: AnyNode = call;
  while (at.type === "CallExpression" && at.callee.type === "MemberExpression" && !calls.has(at)) {
    const { object, property, computed }: MemberExpression = at.callee;
    if (!THEN.has(literalName(property, computed) ?? "")) break;
    at = object;
  }
  return calls.has(at) || (at.type === "CallExpression" && promiseNameOf(at, inspection) !== undefined);
}

/** Everything around a call of a method, and everything around a call of a function that has one inside. */
function callersOf(
  uses: readonly MethodUse[],
  all: readonly CallExpression[],
  inspection: Inspection,
): ReadonlySet<AnyNode> {
  const callsOf = new Map<AnyNode, CallExpression[]>();
  for (const call of all) {
    const func = call.callee.type === "Identifier" ? asyncFunctionNamed(call.callee, inspection) : undefined;
    if (func !== undefined) collect(callsOf, func, call);
  }
  const found = new Set<AnyNode>();
  const rest: AnyNode[] = uses.map(({ node }) => node);
  for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
    for (let at: AnyNode | undefined = node; at !== undefined && !found.has(at); at = parentOf(at, inspection)) {
      found.add(at);
      rest.push(...(callsOf.get(at) ?? []));
    }
  }
  return found;
}
