import type { AnyNode, CallExpression, MemberExpression } from "acorn";
import { RESERVED_PREFIX } from "./allowlist.ts";
import type { Calls, MethodUse } from "./device.ts";
import type { Flow } from "./flow.ts";
import { ancestorsOf, functionAround, type Inspection, mayAwait, parentOf } from "./inspection.ts";
import { LISTING_CALLBACKS, needsValue, THEN } from "./need.ts";
import { readsItsOwnName } from "./own-name.ts";
import type { OwnFunctions, OwnPromise } from "./own.ts";
import type { Plain } from "./plain.ts";
import type { ResultStatement } from "./result.ts";
import type { SyntaxFacts } from "./syntax.ts";
import { collect, isFunction, literalName } from "./walk.ts";

/** Where promises are kept that a statement starts and nobody looks at. */
export const LATER = `${RESERVED_PREFIX}edLater`;

interface Known {
  readonly uses: readonly MethodUse[];
  readonly calls: Calls;
  readonly facts: SyntaxFacts;
  readonly results: readonly ResultStatement[];
  readonly flow: Flow;
  readonly own: OwnFunctions;
  readonly plain: Plain;
  readonly told: Set<string>;
}

/**
 * The promises that the snippet makes itself: by async functions, by `Promise.all` and the like, by `map` with an async
 * callback. They cannot block, but they can be awaited where they are used as values and `await` may stand. True if some
 * were put aside.
 */
export function writeOwnPromises(known: Known, inspection: Inspection): boolean {
  const awaitsAfter = lastAwaits(known.facts, inspection);
  const awaiting: Awaiting = { ...known, awaited: new Set(), begun: new Set(), awaitsAfter };
  for (const call of known.facts.calls) {
    const promise = known.own.promiseOf(call);
    if (promise !== undefined && (isUsedAsValue(call, 0, known, inspection) || isMissed(call, promise, awaiting)))
      awaitPromise(call, promise.name, awaiting, inspection);
    else if (known.own.promisesIn(call) !== undefined && isUsedAsValue(call, 1, known, inspection))
      awaitList(call, awaiting, inspection);
  }
  return keepForLater(known, awaiting.awaited, inspection);
}

interface Awaiting extends Known {
  readonly awaited: Set<AnyNode>;
  /** Statements that begin with a bracket now. */
  readonly begun: Set<AnyNode>;
  /** Whether the function around a call, or the program, has an `await` that comes later. */
  readonly awaitsAfter: (call: CallExpression) => boolean;
}

function lastAwaits({ awaits }: SyntaxFacts, inspection: Inspection): Awaiting["awaitsAfter"] {
  const last = new Map<AnyNode | undefined, number>();
  for (const node of awaits) last.set(functionAround(node, inspection), node.start);
  return (call) => (last.get(functionAround(call, inspection)) ?? 0) >= call.end;
}

export function isUsedAsValue(
  expression: AnyNode,
  depth: number,
  { flow, facts }: Pick<Known, "flow" | "facts">,
  inspection: Inspection,
): boolean {
  return needsValue(flow.need(expression, depth), facts) && !readsItsOwnName(expression, inspection);
}

/** A program that waits for something else afterwards may mean it to go on meanwhile. */
function isMissed(call: CallExpression, promise: OwnPromise, { flow, plain, awaitsAfter }: Awaiting): boolean {
  return plain.isMissed(call, promise, flow.need(call, 0)) && !awaitsAfter(call);
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
  { awaited, begun, results }: Awaiting,
  inspection: Inspection,
): void {
  let outer: AnyNode | undefined = call;
  while (outer !== undefined && outer.start === call.start && outer.type !== "ExpressionStatement")
    outer = parentOf(outer, inspection);
  if (outer?.type === "ExpressionStatement" && outer.start === call.start && !begun.has(outer)) {
    begun.add(outer);
    if (results.every(({ node }) => node !== outer)) inspection.report.wrap(outer, "0,", "");
  }
  inspection.report.wrap(call, before, after);
  awaited.add(call);
}

/** The `map` whose plain callback hands out what a call gives. */
export function listAround(call: CallExpression, inspection: Inspection): CallExpression | undefined {
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
  { uses, calls, facts, results, own }: Known,
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
    ({ call }) => !calls.has(call) && !awaited.has(call) && isPromise(call, calls, own),
  );
  if (promises.length === 0) return false;
  const { report } = inspection;
  const callers = callersOf(uses, facts.calls, own, inspection);
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
function isPromise(call: CallExpression, calls: Calls, own: OwnFunctions): boolean {
  let at: AnyNode = call;
  while (at.type === "CallExpression" && at.callee.type === "MemberExpression" && !calls.has(at)) {
    const { object, property, computed }: MemberExpression = at.callee;
    if (!THEN.has(literalName(property, computed) ?? "")) break;
    at = object;
  }
  return calls.has(at) || own.promiseOf(at) !== undefined;
}

/** Everything around a call of a method, and everything around a call of a function that has one inside. */
function callersOf(
  uses: readonly MethodUse[],
  all: readonly CallExpression[],
  own: OwnFunctions,
  inspection: Inspection,
): ReadonlySet<AnyNode> {
  const callsOf = new Map<AnyNode, CallExpression[]>();
  for (const call of all) {
    for (const func of own.behind(call.callee)) collect(callsOf, func, call);
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
