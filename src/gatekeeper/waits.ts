import type { AnyNode, AssignmentExpression, AwaitExpression, CallExpression } from "acorn";
import type { CheckedArguments } from "./arguments.ts";
import { addMissingAsync, SYNC_CALLBACKS, waitsForMethod } from "./asyncness.ts";
import type { Calls, MethodUse } from "./device.ts";
import { createFlow, type Flow } from "./flow.ts";
import { ancestorsOf, type Inspection, isInTry, mayAwait, parentOf } from "./inspection.ts";
import { AWAITED, DOUBT, EITHER, type Need, needsValue, PROMISE, SOUGHT, UNUSED } from "./need.ts";
import { makeFunctionsPlain } from "./plain.ts";
import { writeOwnPromises } from "./promises.ts";
import type { ResultStatement } from "./result.ts";
import type { Await, SyntaxFacts } from "./syntax.ts";
import { findUnsureCalls, writeUnsureWait } from "./unsure.ts";
import { type FunctionNode, isFunction, literalName } from "./walk.ts";

export interface Known {
  readonly uses: readonly MethodUse[];
  readonly args: CheckedArguments;
  readonly facts: SyntaxFacts;
  readonly results: readonly ResultStatement[];
  /** The function that is the whole program. */
  readonly entry: FunctionNode | undefined;
}

export interface Waits {
  /** The uses at which the snippet stands still. */
  readonly blocking: ReadonlySet<MethodUse>;
  /** True if promises were put aside, to be waited for at the end. */
  readonly hasLater: boolean;
}

/** How many arguments a callback of these is meant to get; they hand over more, which would fill further parameters. */
const CALLBACK_PARAMETERS: ReadonlyMap<string, number> = new Map([
  ...[..."map from".split(" "), ...SYNC_CALLBACKS].map((name) => [name, 1] as const),
  ...["sort", "toSorted", "reduce", "reduceRight"].map((name) => [name, 2] as const),
]);

/**
 * Decides for every call whether it stays a promise or is waited for (S2), and writes that into the text. The call of a
 * method that is used as a value blocks the snippet; one that nothing looks at is awaited, so that it is over before the
 * next statement.
 */
export function writeWaits({ uses, args, facts, results, entry }: Known, inspection: Inspection): Waits {
  const sure: Calls = new Map(uses.flatMap((use) => (use.call === undefined ? [] : [[use.call, use]])));
  const isCallback = ({ node }: MethodUse): boolean => parametersOfCallback(node, inspection) > 0;
  const unsure = findUnsureCalls({ uses, calls: sure, facts, isCallback }, inspection);
  const calls: Calls = new Map([...sure, ...unsure]);
  const resultNodes = new Set<AnyNode>(results.filter(({ isInLoop }) => !isInLoop).map(({ node }) => node));
  addMissingAsync(facts.awaits, calls, inspection);
  const follow = (): Flow =>
    createFlow(inspection, {
      isMethodCall: (call) => sure.has(call),
      isKeyword: (node) => args.keywords.has(node),
      isResult: (statement) => resultNodes.has(statement),
    });
  const told = new Set<string>();
  const plain = makeFunctionsPlain({ calls, facts, follow, entry, told }, inspection);
  const decisions: Decisions = { flow: follow(), unsure, told, facts };
  const blocking = new Set(uses.filter((use) => writeUse(use, decisions, inspection)));
  for (const use of unsure.values()) writeUse(use, decisions, inspection);
  dropAwaits(facts.awaits, { calls, idle: plain.idle }, inspection);
  const { flow } = decisions;
  const promises = { uses, calls, facts, results, flow, told, plain, own: plain.own };
  const hasLater = writeOwnPromises(promises, inspection);
  noteMissing([...told], inspection);
  return { blocking, hasLater };
}

interface Decisions {
  readonly flow: Flow;
  readonly unsure: Calls;
  /** What `await` was missing for. */
  readonly told: Set<string>;
  readonly facts: SyntaxFacts;
}

/** True if the use blocks. */
function writeUse(use: MethodUse, decisions: Decisions, inspection: Inspection): boolean {
  if (use.call !== undefined) return writeCall(use, use.call, decisions, inspection);
  return !use.isWholeSkill && writeCallback(use, decisions, inspection);
}

function writeCall(use: MethodUse, call: CallExpression, decisions: Decisions, inspection: Inspection): boolean {
  const { told, unsure } = decisions;
  const awaiting = awaitOf(call, inspection);
  const cannotAwait = awaiting !== undefined && !mayAwait(awaiting, inspection);
  const need = decisions.flow.need(call, 0);
  const decision = cannotAwait ? "block" : decide(need, decisions, isInTry(call, inspection));
  if (decision === "promise") return false;
  if (!cannotAwait && !unsure.has(call)) told.add(use.path);
  if (decision === "await" && mayAwait(call, inspection)) {
    inspection.report.wrap({ start: call.start, end: call.start }, "await ", "");
    return false;
  }
  if ((need & SOUGHT) === 0 && isAmongOthers(call, inspection)) {
    inspection.report.wrap(call, "(await ", ")");
    return false;
  }
  if (unsure.has(call)) writeUnsureWait(call.callee, inspection);
  else inspection.report.wrap(call.callee, "__wait(", ")");
  return true;
}

/**
 * True where blocking would also hold up what else is under way: inside of async functions. There `await` does the same
 * for the value, unless a variable has been read that others change meanwhile. At the start of a statement a parenthesis
 * could be read as the end of the line before.
 */
function isAmongOthers(call: CallExpression, inspection: Inspection): boolean {
  if (!mayAwait(call, inspection)) return false;
  for (const outer of ancestorsOf(call, inspection)) {
    if (outer.type === "AssignmentExpression" && readsItsTarget(outer, inspection)) return false;
    if (outer.type === "ExpressionStatement") return outer.start !== call.start && isInFunction(outer, inspection);
    if (isFunction(outer)) return true;
  }
  return false;
}

/** `total += …`, `total = total + …` */
function readsItsTarget({ operator, left, right }: AssignmentExpression, { scopes }: Inspection): boolean {
  if (operator !== "=") return true;
  const reads = left.type === "Identifier" ? (scopes.bindingOf(left)?.reads ?? []) : [];
  return reads.some(({ start }) => start >= right.start && start < right.end);
}

function isInFunction(node: AnyNode, inspection: Inspection): boolean {
  for (const outer of ancestorsOf(node, inspection)) if (isFunction(outer)) return true;
  return false;
}

/**
 * When in doubt, a promise: it is settled where it reaches the result. Out of a `try` no promise is given that nothing in
 * the snippet waits for, as its failure would not be caught.
 */
function decide(need: Need, { facts }: Pick<Decisions, "facts">, isInTry = false): "promise" | "block" | "await" {
  if ((need & PROMISE) !== 0) return "promise";
  if (needsValue(need, facts)) return "block";
  const escapes = isInTry && (need & (EITHER | DOUBT)) === 0;
  return need === UNUSED || escapes || (need & AWAITED) !== 0 ? "await" : "promise";
}

/** The `await` that a call is the operand of. */
function awaitOf(call: CallExpression, inspection: Inspection): AwaitExpression | undefined {
  const parent = parentOf(call, inspection);
  const outer = parent?.type === "ChainExpression" ? parentOf(parent, inspection) : parent;
  return outer?.type === "AwaitExpression" ? outer : undefined;
}

/** A method that is handed over as a callback, as in `ids.map(device.A.x)`. */
function writeCallback({ node }: MethodUse, decisions: Decisions, inspection: Inspection): boolean {
  const blocks = decide(decisions.flow.needOfFunction(node), decisions) !== "promise";
  const [before, after] = blocks ? ["__wait(", ")"] : ["", ""];
  const parameters = ["__waitedFirst", "__waitedSecond"].slice(0, parametersOfCallback(node, inspection)).join(", ");
  if (parameters !== "") inspection.report.wrap(node, `(${parameters}) => ${before}`, `${after}(${parameters})`);
  else if (blocks) inspection.report.wrap(node, before, after);
  return blocks;
}

function parametersOfCallback(node: AnyNode, inspection: Inspection): number {
  const call = parentOf(node, inspection);
  if (call?.type !== "CallExpression" || call.callee.type !== "MemberExpression") return 0;
  const name = literalName(call.callee.property, call.callee.computed) ?? "";
  return call.arguments[name === "from" ? 1 : 0] === node ? (CALLBACK_PARAMETERS.get(name) ?? 0) : 0;
}

/** Where `await` cannot stand, it is taken off if it waits for a method, and a mistake otherwise. */
function dropAwaits(
  awaits: readonly Await[],
  { calls, idle }: { readonly calls: Calls; readonly idle: ReadonlySet<Await> },
  inspection: Inspection,
): void {
  const { report } = inspection;
  for (const node of awaits) {
    if (mayAwait(node, inspection)) continue;
    if (idle.has(node) || waitsForMethod(node, calls)) {
      report.replace({ start: node.start, end: node.start + "await".length }, "");
      continue;
    }
    const fix = "Write async before the parameters of the function: async (…) => …";
    report.refuse("SYNTAX", node, () => ({ values: "await in a function that is not async", fix }));
  }
}

function noteMissing(told: readonly string[], { report }: Inspection): void {
  if (told.length === 0) return;
  const more = told.length > 3 ? ` and ${told.length - 3} more` : "";
  report.note(`Waited for ${told.slice(0, 3).join(", ")}${more}, as await was missing`);
}
