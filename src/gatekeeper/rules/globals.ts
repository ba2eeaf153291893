import type { AnyNode, CallExpression, Identifier } from "acorn";
import type { Method } from "../../model/catalog.ts";
import { printableName } from "../../shared/source-text.ts";
import { suggestNames } from "../../shared/suggest.ts";
import {
  BUILTIN_MEMBERS,
  FOREIGN_WORDS,
  GLOBALS,
  REFUSED_GLOBALS,
  REFUSED_MEMBERS,
  type SyntaxRefusal,
  RESERVED_PREFIX,
} from "./allowlist.ts";
import { correctName } from "../emit/rename.ts";
import type { CheckContext } from "../context.ts";
import { formatCall, isAbbreviation, foldLookalikes, suggestSimilar, describeUnknownSkill } from "../suggestions.ts";
import type { MessageParts } from "../report.ts";
import { byType, type ByType, pushToGroup, literalName } from "../ast/walk.ts";

/** The maximum number of missing declarations that are added. */
const MAX_FORGOTTEN = 20;

/**
 * Checks every name that is not declared: corrects words of other languages, adds missing declarations of assigned
 * variables, and refuses all names that are not globals of the sandbox. Returns the names to declare.
 */
export function checkGlobals(
  context: CheckContext,
  names: { readonly explained: ReadonlySet<AnyNode>; readonly imported: ReadonlySet<string> },
): readonly string[] {
  const { scopes, report } = context;
  refuseReserved(context);
  const unknown = new Map<string, Identifier[]>();
  for (const { node } of scopes.free) {
    const parent = scopes.parents.get(node);
    if (names.explained.has(node) || names.imported.has(node.name) || isReserved(node)) continue;
    if (isUnknownCallArgument(node, context)) continue;
    if (parent?.type === "UnaryExpression" && parent.operator === "typeof") continue;
    if (GLOBALS.has(node.name)) refuseCodeFromText(node, context);
    else if (REFUSED_GLOBALS.has(node.name)) refuseGlobal(node, context);
    else if (FOREIGN_WORDS.has(node.name)) correctName(node, FOREIGN_WORDS.get(node.name) ?? "", context);
    else pushToGroup(unknown, node.name, node);
  }
  refuseUnknownMembers(context);
  const declared = new Set(scopes.bindings.map(({ name }) => name));
  const undeclared: string[] = [];
  for (const [name, nodes] of unknown) {
    const isForgotten = undeclared.length < MAX_FORGOTTEN && isForgottenDeclaration(name, nodes, declared, context);
    if (isForgotten) undeclared.push(name);
    else refuseUnknown(nodes, declared, context);
  }
  if (undeclared.length > 0) report.note(`Declared with let: ${undeclared.slice(0, 3).join(", ")}`);
  return undeclared;
}

/** The call `f(a=1)` in which `node` is the name `a`. */
function findKeywordCall(node: Identifier, { scopes }: CheckContext): CallExpression | undefined {
  const assignment = scopes.parents.get(node);
  const call = assignment && scopes.parents.get(assignment);
  const isKeyword = assignment?.type === "AssignmentExpression" && assignment.left === node;
  return isKeyword && call?.type === "CallExpression" ? call : undefined;
}

/** True for `a` in `unknown.method(a=1)`, where only `unknown` is reported. */
function isUnknownCallArgument(node: Identifier, context: CheckContext): boolean {
  const call = findKeywordCall(node, context);
  if (call === undefined) return false;
  const { scopes } = context;
  let root: AnyNode = call.callee;
  while (root.type === "MemberExpression") root = root.object;
  if (root.type !== "Identifier" || scopes.findBinding(root) !== undefined) return false;
  return root.name === "device" || !GLOBALS.has(root.name);
}

function refuseUnknown(nodes: readonly Identifier[], declared: ReadonlySet<string>, context: CheckContext): void {
  for (const node of nodes) {
    context.report.refuse("GLOBAL_UNKNOWN", node, () => describeUnknown(node, declared, context));
  }
}

/** Describes a refused global or module, and suggests methods that can replace it. */
export function describeRefusal(name: string, refusal: SyntaxRefusal, { host }: CheckContext): MessageParts {
  const words = refusal.search ?? "";
  const found = suggestSimilar(words, host).filter((method) => isAbout(method, words));
  const [first] = found;
  return {
    values: printableName(name),
    fix: first === undefined ? refusal.fix : `${refusal.fix}, such as ${formatCall(first)}`,
    suggestions: found.map(({ path }) => path),
  };
}

/** Words that do not distinguish methods. */
const COMMON_WORDS: ReadonlySet<string> = new Set(["a", "read", "run", "request", "value"]);

/** True if a method matches a specific word of the search; the best result of a search may still be unrelated. */
function isAbout({ path, description }: Method, words: string): boolean {
  const text = `${path} ${description}`.toLowerCase();
  return words.split(" ").some((word) => !COMMON_WORDS.has(word) && text.includes(word));
}

function refuseReserved({ scopes, report }: CheckContext): void {
  const identifiers = [...scopes.bindings.flatMap(({ declared }) => declared), ...scopes.free.map(({ node }) => node)];
  for (const node of identifiers.filter(isReserved)) {
    const fix = `Use a name that does not begin with ${RESERVED_PREFIX}`;
    report.refuse("GLOBAL_FORBIDDEN", node, () => ({ values: printableName(node.name), fix }));
  }
}

function isReserved({ name }: Identifier): boolean {
  return name.startsWith(RESERVED_PREFIX);
}

function refuseGlobal(node: Identifier, context: CheckContext): void {
  const outer = context.scopes.parents.get(node);
  const member =
    outer?.type === "MemberExpression" && outer.object === node ? literalName(outer.property, outer.computed) : "";
  const longer = `${node.name}.${member}`;
  const name = REFUSED_GLOBALS.has(longer) ? longer : node.name;
  const refusal = REFUSED_GLOBALS.get(name);
  if (refusal === undefined) return;
  const [first] = outer?.type === "CallExpression" && outer.callee === node ? outer.arguments : [];
  const module =
    name === "require" && first?.type === "Literal" && typeof first.value === "string" ? first.value : undefined;
  context.report.refuse(refusal.code, node, () =>
    module === undefined ? describeRefusal(name, refusal, context) : describeModule(module, context),
  );
}

/** Describes a refused module. */
export function describeModule(module: string, context: CheckContext): MessageParts {
  const base = module.replace(/^node:/, "").split("/")[0] ?? "";
  const refusal = REFUSED_GLOBALS.get(base === "node-fetch" ? "fetch" : base);
  if (refusal === undefined) return { values: printableName(module) };
  return describeRefusal(module, refusal, context);
}

/** Refuses `setTimeout("code", 1)`. */
function refuseCodeFromText(node: Identifier, { scopes, report }: CheckContext): void {
  if (node.name !== "setTimeout" && node.name !== "setInterval") return;
  const call = scopes.parents.get(node);
  const first = call?.type === "CallExpression" && call.callee === node ? call.arguments[0] : undefined;
  const isText = first?.type === "TemplateLiteral" || (first?.type === "Literal" && typeof first.value === "string");
  if (first === undefined || !isText) return;
  const fix = `Write a function: ${node.name}(() => { … }, ms)`;
  report.refuse("CODE_FORBIDDEN", first, () => ({ values: `${node.name} with a string`, fix }));
}

/** Refuses calls of unknown members of builtins, unless the program also reads, tests or assigns the member. */
function refuseUnknownMembers({ scopes, report }: CheckContext): void {
  const calls = new Map<string, AnyNode[]>();
  const others = new Set<string>();
  for (const { node } of scopes.free) {
    const members = BUILTIN_MEMBERS[node.name];
    const member = members && scopes.parents.get(node);
    if (member?.type !== "MemberExpression" || member.object !== node) continue;
    const name = literalName(member.property, member.computed);
    if (name === undefined || members?.has(name) === true) continue;
    const path = `${node.name}.${name}`;
    const call = scopes.parents.get(member);
    const isCall = isCallee(member, call) && !member.optional;
    if (isCall) pushToGroup(calls, path, member);
    else others.add(path);
  }
  for (const [path, members] of calls) {
    if (others.has(path)) continue;
    for (const member of members) report.refuse("GLOBAL_UNKNOWN", member, () => describeMember(path));
  }
}

function isCallee(callee: AnyNode, call: AnyNode | undefined): boolean {
  if (call?.type === "NewExpression") return call.callee === callee;
  return call?.type === "CallExpression" && call.callee === callee && !call.optional;
}

function describeMember(path: string): MessageParts {
  const [owner = "", name = ""] = path.split(".");
  const near = suggestNames(name, BUILTIN_MEMBERS[owner] ?? []).map((member) => `${owner}.${member}`);
  const instead = Object.hasOwn(REFUSED_MEMBERS, path) ? REFUSED_MEMBERS[path] : undefined;
  return {
    values: printableName(path),
    fix:
      instead ??
      (near[0] === undefined ? `Write it yourself: ${owner} has no ${printableName(name)}` : `Write ${near[0]}`),
    suggestions: near,
  };
}

/**
 * True for a name that a statement assigns to, as Python and scripts do without a declaration. False if the name is similar
 * to a declared variable, because it may be a typo.
 */
function isForgottenDeclaration(
  name: string,
  nodes: readonly Identifier[],
  declared: ReadonlySet<string>,
  context: CheckContext,
): boolean {
  if (!/^[\w$]+$/.test(name)) return false;
  const writes = new Set(nodes.map((node) => classifyWrite(node, context)));
  if (!writes.has("statement") || writes.has("argument")) return false;
  const isSkill = context.host.catalog.skill(name) !== undefined;
  return !isSkill && suggestNames(name, [...declared, "device"], 1).length === 0;
}

/** How a name is assigned to: by its own statement, inside the arguments of a call, or not at all. */
function classifyWrite(node: Identifier, { scopes }: CheckContext): "statement" | "argument" | "no" {
  let at: AnyNode = node;
  for (let parent = scopes.parents.get(at); parent !== undefined; parent = scopes.parents.get(at)) {
    const found = byType(WRITES, parent, at);
    if (found === undefined) return "no";
    if (found !== "further") return found;
    at = parent;
  }
  return "no";
}

const WRITES: ByType<"statement" | "argument" | "no" | "further"> = {
  ArrayPattern: () => "further",
  AssignmentExpression: ({ left, operator }, node) =>
    (left === node ? operator === "=" : node.type === "AssignmentExpression") ? "further" : "no",
  CallExpression: (_call, node) => (node.type === "AssignmentExpression" ? "argument" : "no"),
  ExpressionStatement: (_statement, node) => (node.type === "Identifier" ? "no" : "statement"),
  ForInStatement: ({ left }, node) => (left === node ? "statement" : "no"),
  ForOfStatement: ({ left }, node) => (left === node ? "statement" : "no"),
  ForStatement: ({ init }, node) => (init === node && node.type !== "Identifier" ? "statement" : "no"),
  ObjectPattern: () => "further",
  Property: ({ value }, node) => (value === node ? "further" : "no"),
  RestElement: () => "further",
  SequenceExpression: () => "further",
};

function describeUnknown(node: Identifier, declared: ReadonlySet<string>, context: CheckContext): MessageParts {
  const { host } = context;
  const { catalog } = host;
  const { name } = node;
  const plain = foldLookalikes(name);
  if (plain !== name && (GLOBALS.has(plain) || declared.has(plain) || catalog.skill(plain) !== undefined)) {
    return { values: escapeName(name), fix: `Write ${plain} in Latin letters`, suggestions: [plain] };
  }
  const methods = findNamedMethods(node, context);
  const [method] = methods;
  if (method !== undefined) {
    return {
      values: printableName(name),
      fix: `Write ${formatCall(method)}`,
      suggestions: methods.map(({ path }) => path),
    };
  }
  const outer = context.scopes.parents.get(node);
  if (findKeywordCall(node, context) !== undefined)
    return {
      values: printableName(name),
      fix: `Pass the value by position, or omit it: ${printableName(name)}=… is Python`,
    };
  if (outer?.type === "MemberExpression" && outer.object === node && isAbbreviation(plain, catalog))
    return describeUnknownSkill(plain, literalName(outer.property, outer.computed), context);
  const near = suggestNames(plain, [...declared, ...GLOBALS, ...catalog.skills.map((skill) => skill.name)]);
  const [first] = near;
  if (first !== undefined)
    return { values: printableName(name), fix: `Write ${first}, or declare ${printableName(name)}`, suggestions: near };
  const found = suggestSimilar(name, host);
  const fix =
    found[0] === undefined
      ? `Declare it first: const ${printableName(name)} = …`
      : `Declare it, or write ${formatCall(found[0])}`;
  return { values: printableName(name), fix, suggestions: found.map(({ path }) => path) };
}

/** The methods of a name such as `read_file` or `mcp__filesystem__read_file`, or of the path in `callTool("Skill.method")`. */
function findNamedMethods(node: Identifier, { host: { catalog }, scopes }: CheckContext): readonly Method[] {
  const call = scopes.parents.get(node);
  const first = call?.type === "CallExpression" && call.callee === node ? call.arguments[0] : undefined;
  const path = first?.type === "Literal" && typeof first.value === "string" ? catalog.method(first.value) : undefined;
  if (path !== undefined) return [path];
  const at = node.name.lastIndexOf("__");
  const called = at > 0 ? node.name.slice(at + "__".length) : node.name;
  const found = catalog.methods.filter((method) => method.name === called);
  const ofSkill = found.filter(({ skill }) => node.name.includes(skill));
  return (ofSkill.length > 0 ? ofSkill : found).slice(0, 3);
}

function escapeName(name: string): string {
  return printableName(name).replace(/[^\x20-\x7E]/gu, (letter) => `\\u{${(letter.codePointAt(0) ?? 0).toString(16)}}`);
}
