import type { AnyNode, AssignmentExpression, CallExpression, Identifier } from "acorn";
import { type ArgumentProblem, formatProblem } from "../../model/arguments.ts";
import type { Method } from "../../model/catalog.ts";
import { printableName } from "../../shared/source-text.ts";
import type { MethodUse } from "./device.ts";
import type { CheckContext } from "../context.ts";
import { literalValue } from "../ast/literals.ts";
import { formatCall } from "../suggestions.ts";
import { literalName } from "../ast/walk.ts";

/** Problems of one call that are told. */
const TOLD_PROBLEMS = 8;

export interface CheckedArguments {
  /** Of each call, the values in order; `undefined` if not even their number is certain. */
  readonly argumentValues: ReadonlyMap<CallExpression, readonly unknown[] | undefined>;
  /** `name=value`, which Python has and JavaScript reads as an assignment. */
  readonly keywords: ReadonlySet<AnyNode>;
  /** The names in them, which stand for no variable. */
  readonly keywordNames: ReadonlySet<Identifier>;
}

/** Reads the arguments of every call of a method, turns named ones into an object, and refuses what cannot fit. */
export function checkArguments(uses: readonly MethodUse[], context: CheckContext): CheckedArguments {
  const argumentValues = new Map<CallExpression, readonly unknown[] | undefined>();
  const keywords = new Set<AnyNode>();
  const keywordNames = new Set<Identifier>();
  for (const { call, method } of uses) {
    if (call === undefined) continue;
    const named = findKeywords(call, method, context);
    for (const { node, name } of named) {
      keywords.add(node);
      keywordNames.add(name);
    }
    if (named.length > 0 && !writeAsObject(call, named, context)) continue;
    const values = evaluateArguments(call, named, context);
    argumentValues.set(call, values);
    if (method !== undefined && values !== undefined) refuseUnfit(call, method, values, context);
  }
  return { argumentValues, keywords, keywordNames };
}

interface Keyword {
  readonly node: AssignmentExpression;
  readonly name: Identifier;
}

/**
 * An assignment among the arguments is a named argument if its name is no variable, or one that cannot be assigned to. If
 * both readings make sense, neither is taken.
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
        fix: `Write device.${method.path}({ ${printableName(name.name)}: … })`,
      }));
    }
  }
  return found;
}

/** `(query="x", count=5)` → `({ query: "x", count: 5 })`. False if a value follows a name. */
function writeAsObject(call: CallExpression, named: readonly Keyword[], { snippet, report }: CheckContext): boolean {
  const [first, last] = [named[0]?.node, named.at(-1)?.node];
  if (first === undefined || last === undefined) return true;
  const names = new Set<AnyNode>(named.map(({ node }) => node));
  const stray = call.arguments.slice(call.arguments.indexOf(first)).find((argument) => !names.has(argument));
  if (stray !== undefined) {
    const fix = `Write the named arguments last: (…, { ${printableName(named[0]?.name.name ?? "")}: … })`;
    report.refuse("ARGUMENTS_INVALID", stray, () => ({ values: "a value follows a named argument", fix }));
    return false;
  }
  report.wrap({ start: first.start, end: last.end }, "{ ", " }");
  for (const { name } of named) {
    const sign = signAfter(snippet.text, name.end);
    report.replace({ start: sign, end: sign + 1 }, ":");
  }
  report.note(`Named arguments were read as an object: { ${printableName(named[0]?.name.name ?? "")}: … }`);
  return true;
}

/** Where the `=` stands: between it and the name there may be spaces and comments. */
function signAfter(text: string, from: number): number {
  const gap = /(?:\s|\/\*[^]*?\*\/|\/\/[^\n]*\n)*/y;
  gap.lastIndex = from;
  gap.exec(text);
  return gap.lastIndex;
}

function evaluateArguments(
  call: CallExpression,
  named: readonly Keyword[],
  { scopes }: CheckContext,
): readonly unknown[] | undefined {
  const plain = call.arguments.slice(0, call.arguments.length - named.length);
  if (plain.some((argument) => argument.type === "SpreadElement")) return undefined;
  const values = plain.map((argument) => literalValue(argument, scopes));
  if (named.length === 0) return values;
  const entries = named.map(({ node, name }) => [name.name, literalValue(node.right, scopes)] as const);
  return [...values, Object.fromEntries(entries)];
}

function refuseUnfit(
  call: CallExpression,
  method: Method,
  values: readonly unknown[],
  { host, report }: CheckContext,
): void {
  const problems = host.problems(method, values);
  const [first] = problems;
  if (first === undefined) return;
  report.refuse("ARGUMENTS_INVALID", findArgumentNode(first, call, method), () => ({
    values: `${toldProblems(problems)}; use ${method.skill}.${method.signature}`,
    fix: `Write ${host.exampleCall?.(method) ?? formatCall(method)}`,
    suggestions: [...new Set(problems.flatMap(({ suggestions }) => suggestions))].slice(0, 5),
  }));
}

function toldProblems(problems: readonly ArgumentProblem[]): string {
  const told = problems.slice(0, TOLD_PROBLEMS).map((problem) => formatProblem(problem));
  return [...told, ...(problems.length > told.length ? [`and ${problems.length - told.length} more`] : [])].join("; ");
}

/** The argument that the problem is about, if it stands there by name or by place; else the whole call. */
function findArgumentNode(
  { field }: ArgumentProblem,
  call: CallExpression,
  { parameters }: Method,
): Pick<AnyNode, "start" | "end"> {
  const name = /^[^.[]+/.exec(field)?.[0] ?? field;
  const last = call.arguments.at(-1);
  const properties = last?.type === "ObjectExpression" ? last.properties : [];
  const named = properties.find(
    (property) => property.type === "Property" && literalName(property.key, property.computed) === name,
  );
  const keyword = call.arguments.find(
    (argument) =>
      argument.type === "AssignmentExpression" && argument.left.type === "Identifier" && argument.left.name === name,
  );
  const placed = call.arguments[parameters.findIndex((parameter) => parameter.name === name)];
  return named ?? keyword ?? (placed?.type === "ObjectExpression" ? undefined : placed) ?? call;
}
