import type { AnyNode, CallExpression, Identifier, MemberExpression } from "acorn";
import type { Calls, MethodUse } from "./device.ts";
import { constructorOf, type Inspection, parentOf } from "./inspection.ts";
import { THEN } from "./need.ts";
import { findOwnFunctions, type OwnFunctions } from "./own.ts";
import type { SyntaxFacts } from "./syntax.ts";
import { byType, type ByType, literalName } from "./walk.ts";

interface Known {
  readonly uses: readonly MethodUse[];
  readonly calls: Calls;
  readonly facts: SyntaxFacts;
  /** True for a method that is handed to something that calls it right there. */
  readonly isCallback: (use: MethodUse) => boolean;
}

/**
 * The calls of which only the run can tell whether they are calls of methods: skills and methods have been put into lists,
 * objects or parameters, and something of that kind is called here. They are waited for like the others, where that is
 * needed; what turns out to be something else is then called as it would have been.
 */
export function findUnsureCalls(known: Known, inspection: Inspection): Calls {
  const away = known.uses.filter((use) => use.call === undefined && !known.isCallback(use));
  if (away.length === 0) return new Map();
  const names = namesOf(away, inspection);
  const own = findOwnFunctions(known.facts, known.calls, inspection);
  const found = new Map<AnyNode, MethodUse>();
  for (const call of known.facts.calls) {
    const { callee } = call;
    if (known.calls.has(call) || isOwn(call, own, inspection) || !isUnsure(callee, names, inspection)) continue;
    found.set(call, { path: pathOf(callee), method: undefined, node: callee, call, isWholeSkill: false });
  }
  return found;
}

/** Makes the call of what turns out to be a method block; everything else keeps its `this`. */
export function writeUnsureWait(callee: AnyNode, inspection: Inspection): void {
  const { report, snippet } = inspection;
  report.wrap(callee, ...wrapOf(callee, inspection));
  if (callee.type !== "MemberExpression") return;
  const signs = between(callee, snippet.text);
  const open = callee.object.end + signs.search(/[?.[]/);
  if (callee.computed) {
    report.replace({ start: open, end: callee.object.end + signs.indexOf("[") + 1 }, ", (");
    report.replace({ start: callee.end - 1, end: callee.end }, ")");
    return;
  }
  report.replace({ start: open, end: callee.end }, `, ${JSON.stringify(literalName(callee.property, false))}`);
}

/** `name?.method(…).rest` asks before it waits; the chain ends there if there is nothing. */
function wrapOf(callee: AnyNode, inspection: Inspection): readonly [before: string, after: string] {
  if (!isOptionalOnName(callee)) return ["__wait(", ")"];
  const call = parentOf(callee, inspection);
  const isAsked = call?.type === "CallExpression" && call.optional;
  return [`(${callee.object.name} == null ? undefined : __wait(`, isAsked ? "))" : "))?."];
}

/** The names under which methods can be reached that went away: their own in a skill, others in an object. */
function namesOf(away: readonly MethodUse[], inspection: Inspection): ReadonlySet<string> {
  const names = away.map(({ node, method, isWholeSkill }) => {
    if (isWholeSkill) return method?.name;
    const holder = parentOf(node, inspection);
    return holder && byType(NAMES, holder, node);
  });
  return new Set(names.filter((name) => name !== undefined));
}

const NAMES: ByType<string | undefined> = {
  AssignmentExpression: ({ left }) =>
    left.type === "MemberExpression" ? literalName(left.property, left.computed) : undefined,
  Property: ({ key, computed }) => literalName(key, computed),
  PropertyDefinition: ({ key, computed }) => literalName(key, computed),
};

/** Functions of the snippet by that name are enough to know, but for members: others may have the name as well. */
function isOwn(call: CallExpression, own: OwnFunctions, inspection: Inspection): boolean {
  if (own.behind(call.callee).length === 0) return false;
  if (call.callee.type !== "MemberExpression" || own.promiseOf(call) !== undefined) return true;
  return parentOf(call, inspection)?.type === "AwaitExpression";
}

function isUnsure(callee: AnyNode, names: ReadonlySet<string>, inspection: Inspection): boolean {
  if (callee.type === "Identifier") {
    const binding = inspection.scopes.bindingOf(callee);
    return binding !== undefined && constructorOf(binding, inspection) === undefined;
  }
  if (
    callee.type === "CallExpression" ||
    callee.type === "ConditionalExpression" ||
    callee.type === "LogicalExpression"
  )
    return !isInChain(callee);
  if (callee.type !== "MemberExpression" || callee.object.type === "Super") return false;
  if (isInChain(callee) && !isOptionalOnName(callee)) return false;
  if (callee.property.type === "PrivateIdentifier") return false;
  // A comment could have the sign in it.
  if (between(callee, inspection.snippet.text).includes("/")) return false;
  const name = literalName(callee.property, callee.computed);
  return name === undefined ? callee.computed : names.has(name) && !THEN.has(name);
}

/** Whether a chain could end before it comes to the call. */
function isInChain(callee: AnyNode): boolean {
  for (let at: AnyNode = callee; at.type === "MemberExpression" || at.type === "CallExpression";) {
    if (at.optional) return true;
    at = at.type === "MemberExpression" ? at.object : at.callee;
  }
  return false;
}

/** `name?.method` */
function isOptionalOnName(callee: AnyNode): callee is MemberExpression & { readonly object: Identifier } {
  return callee.type === "MemberExpression" && callee.optional && callee.object.type === "Identifier";
}

/** The text between an object and the name of its member. */
function between({ object, property }: MemberExpression, text: string): string {
  return text.slice(object.end, property.start);
}

/** What is told of the call. */
function pathOf(callee: AnyNode): string {
  if (callee.type === "Identifier") return callee.name;
  if (callee.type !== "MemberExpression" || callee.object.type !== "Identifier") return "a method";
  return `${callee.object.name}.${literalName(callee.property, callee.computed) ?? "[…]"}`;
}
