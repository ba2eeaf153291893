import type { AnyNode, CallExpression } from "acorn";
import type { Calls } from "./device.ts";
import { ancestorsOf, type Inspection } from "./inspection.ts";
import type { OwnFunctions } from "./own.ts";
import type { Binding } from "./scopes.ts";
import { byType, type ByType, identifiersOf, isFunction, literalName } from "./walk.ts";

/** Members that change what they are called on, or what they are given. */
const CHANGING: ReadonlySet<string> = new Set(
  `push unshift pop shift splice sort reverse fill copyWithin add set append delete clear next assign defineProperty log info
   warn error debug`.split(/\s+/),
);

/** What functions of the snippet change that others can see before they are over. */
export interface SideEffects {
  /** True for a function that assigns to variables around it, fills lists that are not its own, prints, or calls such. */
  has(func: AnyNode): boolean;
  /** True if what the functions behind a call change is read later in the text: the call is meant to be over by then. */
  areSeenAfter(call: CallExpression, functions: readonly AnyNode[]): boolean;
}

export function findSideEffects(
  known: { readonly calls: Calls; readonly own: OwnFunctions },
  inspection: Inspection,
): SideEffects {
  const lastReads = new LastReads();
  for (const node of inspection.scopes.parents.keys()) {
    const changed = known.calls.has(node) ? [] : (byType(CHANGED, node, node)?.(known.own) ?? []);
    for (const name of changed) markAround(node, inspection.scopes.bindingOf(name), lastReads, inspection);
  }
  return {
    has: (func) => lastReads.of([func]) !== undefined,
    areSeenAfter: (call, functions) => {
      const last = lastReads.of(functions);
      const { callee } = call;
      const target = callee.type === "MemberExpression" ? inspection.scopes.bindingOf(rootOf(callee)) : undefined;
      return last !== undefined && Math.max(last, lastReadOf(target)) >= call.end;
    },
  };
}

/** Where what functions change is read for the last time. Thousands of calls may stand for the same functions. */
class LastReads {
  readonly #byFunction = new Map<AnyNode, number>();
  readonly #byFunctions = new WeakMap<readonly AnyNode[], number>();

  add(func: AnyNode, position: number): void {
    this.#byFunction.set(func, Math.max(position, this.#byFunction.get(func) ?? NEVER));
  }

  /** Nothing if they change nothing. */
  of(functions: readonly AnyNode[]): number | undefined {
    const known = this.#byFunctions.get(functions);
    if (known !== undefined) return known;
    const positions = functions.flatMap((func) => this.#byFunction.get(func) ?? []);
    if (positions.length === 0) return undefined;
    const last = positions.reduce((one, other) => Math.max(one, other));
    this.#byFunctions.set(functions, last);
    return last;
  }
}

const NEVER = -1;

function lastReadOf(variable: Binding | undefined): number {
  return variable?.reads.at(-1)?.start ?? NEVER;
}

/** All functions around a change, up to the one that has the changed name for itself. */
function markAround(node: AnyNode, changed: Binding | undefined, lastReads: LastReads, inspection: Inspection): void {
  const declared = changed?.declared[0];
  const lastRead = lastReadOf(changed);
  for (const outer of ancestorsOf(node, inspection)) {
    if (declared !== undefined && declared.start >= outer.start && declared.end <= outer.end) return;
    if (isFunction(outer)) lastReads.add(outer, lastRead);
  }
}

/** What a node changes, by the names at its root. */
const CHANGED: ByType<(own: OwnFunctions) => readonly AnyNode[]> = {
  AssignmentExpression:
    ({ left }) =>
    () =>
      left.type === "MemberExpression" ? [rootOf(left)] : identifiersOf(left),
  CallExpression: (call) => (own) => changedByCall(call, own),
  UnaryExpression:
    ({ operator, argument }) =>
    () =>
      operator === "delete" ? [rootOf(argument)] : [],
  UpdateExpression:
    ({ argument }) =>
    () => [rootOf(argument)],
};

function changedByCall({ callee }: CallExpression, own: OwnFunctions): readonly AnyNode[] {
  if (callee.type === "Identifier") return [callee];
  if (callee.type !== "MemberExpression") return [];
  const name = literalName(callee.property, callee.computed);
  return name === undefined || CHANGING.has(name) || own.behind(callee).length > 0 ? [rootOf(callee)] : [];
}

function rootOf(node: AnyNode): AnyNode {
  let at = node;
  while (at.type === "MemberExpression" || at.type === "ChainExpression")
    at = at.type === "MemberExpression" ? at.object : at.expression;
  return at;
}
