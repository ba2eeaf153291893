import type { AnyNode, ExportDefaultDeclaration, ExportNamedDeclaration, Identifier, Pattern, Statement } from "acorn";
import { toSpaces } from "../../shared/source-text.ts";
import { GLOBALS, RESERVED_PREFIX } from "../rules/allowlist.ts";
import { findFunction, type CheckContext } from "../context.ts";
import type { Binding } from "../ast/scopes.ts";
import { type FunctionNode, isFunction } from "../ast/walk.ts";

/** The entry point of a program that only declares functions. */
export interface EntryPoint {
  /** The code after the program that starts it. */
  readonly closing: string;
  readonly func: FunctionNode | undefined;
  /** Parameters that receive `device`. */
  readonly parameters: readonly Binding[];
}

/** The name of an anonymous default export. */
const DEFAULT_EXPORT = `${RESERVED_PREFIX}edMain`;

const EXPORT_DEFAULT = /^export(?:\s|\/\*[^]*?\*\/|\/\/[^\n]*\n)+default/;

/**
 * Finds the function that is meant as the whole program: a default export, a single function, or an uncalled `main`.
 * Removes `export`. Returns `undefined` if there is no such function.
 */
export function findEntry(context: CheckContext): EntryPoint | undefined {
  const { body } = context.program.tree;
  for (const statement of body) if (statement.type === "ExportNamedDeclaration") eraseExport(statement, context);
  const exported = body.find((statement) => statement.type === "ExportDefaultDeclaration");
  if (exported !== undefined) return findExportedEntry(exported, context);
  const statements = body.filter(({ type }) => type !== "EmptyStatement");
  const [only] = statements;
  if (statements.length === 1 && only?.type === "ExpressionStatement" && isFunction(only.expression)) {
    return findExpressionEntry(only.start, getExpressionEnd(only, context.program.text), only.expression, context);
  }
  return findUncalledEntry(statements, context);
}

/** The end of a statement without its semicolon. */
export function getExpressionEnd({ end }: Statement, text: string): number {
  return text[end - 1] === ";" ? end - 1 : end;
}

function eraseExport(node: ExportNamedDeclaration, { program, report }: CheckContext): void {
  if (node.source != null) return report.refuse("MODULE_FORBIDDEN", node, () => ({ values: "export … from" }));
  const { start, end } = node;
  if (node.declaration != null)
    report.replace({ start, end: node.declaration.start }, toSpaces(program.text.slice(start, node.declaration.start)));
  else report.replace(node, `;${toSpaces(program.text.slice(start + 1, end))}`);
}

function findExportedEntry(node: ExportDefaultDeclaration, context: CheckContext): EntryPoint | undefined {
  const { program, report } = context;
  const { declaration } = node;
  const prefix = EXPORT_DEFAULT.exec(program.text.slice(node.start))?.[0] ?? "";
  const range = { start: node.start, end: node.start + prefix.length };
  if (declaration.type === "FunctionDeclaration" || declaration.type === "ClassDeclaration") {
    if (declaration.id !== null) {
      report.replace(range, toSpaces(prefix));
      return declaration.type === "FunctionDeclaration"
        ? createEntryPoint(declaration.id.name, declaration, context)
        : undefined;
    }
  }
  report.replace(range, `const ${DEFAULT_EXPORT} =${prefix.replace(/[^\n]/g, "")}`);
  if (program.text[node.end - 1] !== ";") report.wrap({ start: node.end, end: node.end }, ";", "");
  const func = findExportedFunction(declaration, context);
  if (func !== undefined) return createEntryPoint(DEFAULT_EXPORT, func, context);
  return { closing: `\nreturn ${DEFAULT_EXPORT};`, func: undefined, parameters: [] };
}

function findExportedFunction(node: AnyNode, context: CheckContext): FunctionNode | undefined {
  if (isFunction(node)) return node;
  const binding = node.type === "Identifier" ? context.scopes.findBinding(node) : undefined;
  return binding && findFunction(binding, context);
}

function findExpressionEntry(
  start: number,
  end: number,
  func: FunctionNode,
  context: CheckContext,
): EntryPoint | undefined {
  const deviceArguments = createArguments(func, context);
  if (deviceArguments === undefined) return undefined;
  context.report.wrap({ start, end }, "return await (", `)(${deviceArguments.text})`);
  context.report.note("The function was called, as it is the whole program");
  return { closing: "", func, parameters: deviceArguments.parameters };
}

/** Finds an uncalled function that is the only statement of the program, or is named `main`. */
function findUncalledEntry(statements: readonly AnyNode[], context: CheckContext): EntryPoint | undefined {
  for (const statement of statements) {
    const binding = findFunctionBinding(statement, context);
    const func = binding && findFunction(binding, context);
    if (binding === undefined || func === undefined || func.generator) continue;
    const isCalled = binding.reads.length + binding.writes.length > 0;
    if (isCalled || (statements.length > 1 && binding.name !== "main")) continue;
    if (binding.name !== "main" && !func.params.every(isGivenOrOptional)) {
      context.report.note(`${binding.name} is never called`);
      return undefined;
    }
    const entry = createEntryPoint(binding.name, func, context);
    if (entry !== undefined) context.report.note(`${binding.name} was called, as nothing else calls it`);
    return entry;
  }
  return undefined;
}

function findFunctionBinding(statement: AnyNode, { scopes }: CheckContext): Binding | undefined {
  const declared = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
  if (declared?.type === "FunctionDeclaration")
    return declared.id === null ? undefined : scopes.findBinding(declared.id);
  if (declared?.type !== "VariableDeclaration" || declared.declarations.length !== 1) return undefined;
  const [declarator] = declared.declarations;
  return declarator?.init != null && isFunction(declarator.init) ? scopes.findBinding(declarator.id) : undefined;
}

function createEntryPoint(name: string, func: FunctionNode, context: CheckContext): EntryPoint | undefined {
  const deviceArguments = createArguments(func, context);
  return deviceArguments === undefined
    ? undefined
    : { closing: `\nreturn await ${name}(${deviceArguments.text});`, func, parameters: deviceArguments.parameters };
}

/** The arguments for the entry function: models name globals as parameters, as in `({ device, console }) => …`. */
function createArguments(
  func: FunctionNode,
  context: CheckContext,
): { readonly text: string; readonly parameters: readonly Binding[] } | undefined {
  const texts: string[] = [];
  const deviceArguments: Identifier[] = [];
  for (const parameter of func.params) {
    const names = getGlobalNames(parameter);
    if (names === undefined && isGivenOrOptional(parameter)) break;
    if (names === undefined) {
      const words = {
        values: "a parameter without a value",
        fix: "Remove the parameter: device is already available",
      };
      context.report.refuse("NODE_FORBIDDEN", parameter, () => words);
      return undefined;
    }
    const text = names.map(({ name }) => name).join(", ");
    texts.push(parameter.type === "Identifier" ? text : `{ ${text} }`);
    deviceArguments.push(...names.filter(({ name }) => name === "device"));
  }
  return {
    text: texts.join(", "),
    parameters: deviceArguments.flatMap((name) => context.scopes.findBinding(name) ?? []),
  };
}

/** The globals that a parameter names; `undefined` if it names anything else. */
function getGlobalNames(parameter: Pattern): readonly Identifier[] | undefined {
  if (parameter.type === "Identifier") return GLOBALS.has(parameter.name) ? [parameter] : undefined;
  if (parameter.type !== "ObjectPattern") return undefined;
  const names: Identifier[] = [];
  for (const property of parameter.properties) {
    const value = property.type === "Property" && property.shorthand ? property.value : undefined;
    if (value?.type !== "Identifier" || !GLOBALS.has(value.name)) return undefined;
    names.push(value);
  }
  return names;
}

function isGivenOrOptional(parameter: Pattern): boolean {
  return (
    parameter.type === "AssignmentPattern" ||
    parameter.type === "RestElement" ||
    getGlobalNames(parameter) !== undefined
  );
}
