import type { AnyNode, AssignmentExpression, CallExpression, Identifier } from "acorn";

import { type ArgumentProblem, formatProblem, isPlainObject } from "../../model/arguments.ts";
import type { Method } from "../../model/catalog.ts";
import { UNKNOWN } from "../../model/plan.ts";
import { RESPONSE_ARGUMENT } from "../../model/skill.ts";
import { formatList } from "../../shared/format-text.ts";
import { formatMethodAccess } from "../../shared/names/method-paths.ts";
import { printableName } from "../../shared/source-text.ts";
import { literalValue } from "../ast/literals.ts";
import { literalName } from "../ast/walk.ts";
import type { CheckContext, Host } from "../context.ts";
import { formatCall } from "../suggestions.ts";
import { correctCall } from "./correct-call.ts";
import type { MethodUse } from "./device.ts";

/** The maximum number of reported problems per call. */
const MAX_PROBLEMS = 8;

export interface CheckedArguments {
  /** The argument values of each call, in order; `undefined` if their number is unknown. */
  readonly argumentValues: ReadonlyMap<CallExpression, readonly unknown[] | undefined>;
  /** Arguments of the form `name=value`, a Python form that JavaScript parses as an assignment. */
  readonly keywords: ReadonlySet<AnyNode>;
  /** The names in `keywords`; they are not variables. */
  readonly keywordNames: ReadonlySet<Identifier>;
}

/** After this many calls with invalid arguments, the program is not checked for more: each takes as long as running the call does. */
const MAX_UNFIT = 50;

/** Checks the arguments of every method call: turns named arguments into an object and refuses invalid arguments. */
export function checkArguments(uses: readonly MethodUse[], context: CheckContext): CheckedArguments {
  const argumentValues = new Map<CallExpression, readonly unknown[] | undefined>();
  const keywords = new Set<AnyNode>();
  const keywordNames = new Set<Identifier>();
  let unfit = 0;
  for (const { call, method, isPages = false } of uses) {
    if (call === undefined) continue;
    const keywordArgs = findKeywords(call, method, context);
    for (const { node, name } of keywordArgs) {
      keywords.add(node);
      keywordNames.add(name);
    }
    if (keywordArgs.length > 0 && !writeAsObject(call, keywordArgs, context)) continue;
    const values = evaluateArguments(call, keywordArgs, context);
    argumentValues.set(call, isPages ? toPageArguments(values) : values);
    if (method === undefined || values === undefined || unfit >= MAX_UNFIT) continue;
    if (!requireFit({ call, keywords: keywordArgs, method, isPages }, values, context)) unfit++;
  }
  return { argumentValues, keywords, keywordNames };
}

interface Keyword {
  readonly node: AssignmentExpression;
  readonly name: Identifier;
}

/**
 * Finds assignments among the arguments whose name is not a variable, or is one that cannot be assigned to: these are named
 * arguments. Refuses an assignment that could be meant both ways.
 */
function findKeywords(
  call: CallExpression,
  method: Method | undefined,
  { scopes, report }: CheckContext,
): readonly Keyword[] {
  const found: Keyword[] = [];
  for (const node of call.arguments) {
    if (node.type !== "AssignmentExpression" || node.operator !== "=" || node.left.type !== "Identifier") continue;
    const name = node.left;
    if (name.start !== node.start) continue;
    const binding = scopes.findBinding(name);
    if (binding === undefined || binding.kind === "const" || binding.kind === "class" || binding.kind === "function") {
      found.push({ node, name });
    } else if (method?.parameters.some((parameter) => parameter.name === name.name) === true) {
      report.refuse("ARGUMENTS_INVALID", node, () => ({
        values: `${printableName(name.name)}=… assigns to the variable ${printableName(name.name)}`,
        fix: `Write ${formatMethodAccess(method.path)}({ ${printableName(name.name)}: … })`,
      }));
    }
  }
  return found;
}

/** `(query="x", count=5)` → `({ query: "x", count: 5 })`. False if a value follows a name. */
function writeAsObject(call: CallExpression, keywords: readonly Keyword[], { program, report }: CheckContext): boolean {
  const [first, last] = [keywords[0]?.node, keywords.at(-1)?.node];
  if (first === undefined || last === undefined) return true;
  const names = new Set<AnyNode>(keywords.map(({ node }) => node));
  const stray = call.arguments.slice(call.arguments.indexOf(first)).find((argument) => !names.has(argument));
  if (stray !== undefined) {
    const fix = `Write the named arguments last: (…, { ${printableName(keywords[0]?.name.name ?? "")}: … })`;
    report.refuse("ARGUMENTS_INVALID", stray, () => ({
      values: "a positional argument follows a named argument",
      fix,
    }));
    return false;
  }
  report.wrap({ start: first.start, end: last.end }, "{ ", " }");
  for (const { name } of keywords) {
    const sign = findEqualsSign(program.text, name.end);
    report.replace({ start: sign, end: sign + 1 }, ":");
  }
  report.note(`Named arguments were read as an object: { ${printableName(keywords[0]?.name.name ?? "")}: … }`);
  return true;
}

/** The offset of the `=`, after any spaces and comments. */
function findEqualsSign(text: string, from: number): number {
  const gap = /(?:\s|\/\*[^]*?\*\/|\/\/[^\n]*\n)*/y;
  gap.lastIndex = from;
  gap.exec(text);
  return gap.lastIndex;
}

function evaluateArguments(
  call: CallExpression,
  keywords: readonly Keyword[],
  { scopes }: CheckContext,
): readonly unknown[] | undefined {
  const plain = call.arguments.slice(0, call.arguments.length - keywords.length);
  if (plain.some((argument) => argument.type === "SpreadElement")) return undefined;
  const values = plain.map((argument) => literalValue(argument, scopes));
  if (keywords.length === 0) return values;
  const entries = keywords.map(({ node, name }) => [name.name, literalValue(node.right, scopes)] as const);
  return [...values, Object.fromEntries(entries)];
}

/** Refuses invalid arguments; false if they are. */
function requireFit(
  {
    call,
    keywords,
    method,
    isPages,
  }: {
    readonly call: CallExpression;
    readonly keywords: readonly Keyword[];
    readonly method: Method;
    readonly isPages: boolean;
  },
  values: readonly unknown[],
  context: CheckContext,
): boolean {
  const { host, report } = context;
  const problems = isPages ? findPageProblems(method, values, host) : host.problems(method, values);
  const [first] = problems;
  if (first === undefined) return true;
  const written = keywords.map(({ node, name }) => ({ name: name.name, value: node.right }));
  report.refuse("ARGUMENTS_INVALID", findArgumentNode(first, call, method), () => ({
    values: `${formatProblems(problems)}; see ${method.path}`,
    fix: `Write ${isPages ? formatPagesCall(method) : (correctCall(call, written, method, context) ?? formatCall(method))}`,
    suggestions: [...new Set(problems.flatMap(({ suggestions }) => suggestions))].slice(0, 5),
  }));
  return false;
}

function formatProblems(problems: readonly ArgumentProblem[]): string {
  const texts = problems.map((problem) => formatProblem(problem));
  return formatList(texts, MAX_PROBLEMS, "; ");
}

/** The argument that has the problem, found by name or by position; otherwise the whole call. */
function findArgumentNode(
  { field }: ArgumentProblem,
  call: CallExpression,
  { parameters }: Method,
): Pick<AnyNode, "start" | "end"> {
  const name = /^[^.[]+/.exec(field)?.[0] ?? field;
  const last = call.arguments.at(-1);
  const properties = last?.type === "ObjectExpression" ? last.properties : [];
  const member = properties.find(
    (property) => property.type === "Property" && literalName(property.key, property.computed) === name,
  );
  const keyword = call.arguments.find(
    (argument) =>
      argument.type === "AssignmentExpression" && argument.left.type === "Identifier" && argument.left.name === name,
  );
  const placed = call.arguments[parameters.findIndex((parameter) => parameter.name === name)];
  return member ?? keyword ?? (placed?.type === "ObjectExpression" ? undefined : placed) ?? call;
}

/** Finds the problems of a call of `pages`: the arguments of the method by name, then how many items and pages are wanted. */
function findPageProblems(method: Method, values: readonly unknown[], host: Host): readonly ArgumentProblem[] {
  const [args, options, ...others] = values;
  if (others.length > 0) return [createProblem("_root", "takes the arguments and { items, pages }, nothing more")];
  if (args !== undefined && args !== UNKNOWN && !isPlainObject(args))
    return [createProblem("_root", "takes the arguments by name, in an object")];
  return [...host.problems(method, args === undefined ? [] : [args]), ...findOptionProblems(options)];
}

function findOptionProblems(options: unknown): readonly ArgumentProblem[] {
  if (options === undefined || options === UNKNOWN) return [];
  if (!isPlainObject(options)) return [createProblem("_root", "takes { items, pages } after the arguments")];
  return Object.entries(options).flatMap(([name, value]) => {
    if (name !== "items" && name !== "pages")
      return [createProblem(name, "is not an option of pages, valid are items, pages")];
    const isFit = value === UNKNOWN || value === undefined || (Number.isSafeInteger(value) && Number(value) >= 1);
    return isFit ? [] : [createProblem(name, "must be a whole number of at least 1")];
  });
}

function createProblem(field: string, reason: string): ArgumentProblem {
  return { field, type: "type_mismatch", reason, suggestions: [] };
}

/** The arguments of the calls of `pages`: each of them has how much is still wanted, which is known only at run time. */
function toPageArguments(values: readonly unknown[] | undefined): readonly unknown[] | undefined {
  const [args] = values ?? [];
  if (!(args === undefined || isPlainObject(args))) return undefined;
  return [{ ...args, [RESPONSE_ARGUMENT]: UNKNOWN }];
}

function formatPagesCall({ path, parameters }: Method): string {
  const required = parameters.filter((each) => each.required).map(({ name }) => name);
  return `${formatMethodAccess(path)}.pages({ ${[...required, "…"].join(", ")} }, { items: 100 })`;
}
