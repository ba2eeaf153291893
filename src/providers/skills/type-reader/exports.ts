import { type Doc, docAmong, findDoc, NO_DOC } from "./jsdoc/docs.ts";
import type { FileNames } from "./file-names.ts";
import { getKey, getName, nodeAt, nodesAt, type Source, type SyntaxNode } from "./syntax.ts";

/** The path to a value from the namespace of an ES module or from `module.exports`. */
export type ExportPath = readonly string[];

/** A value that a module both declares and exports; re-exports are not included. */
export interface OwnExport {
  readonly path: ExportPath;
  /** A function, a class, or the expression that makes the value. */
  readonly node: SyntaxNode;
  readonly doc: Doc;
}

export type ModuleFormat = "esm" | "cjs";

/** Detects CommonJS by the extension or by an assignment to `module.exports`; everything else is an ES module. */
export function detectModuleFormat({ file, program }: Source): ModuleFormat {
  if (file.endsWith(".cjs")) return "cjs";
  const statements = nodesAt(program, "body");
  if (file.endsWith(".mjs") || statements.some(({ type }) => ESM_STATEMENTS.has(type))) return "esm";
  const assigned = statements.map((each) => exportsPath(nodeAt(assignmentIn(each), "left")));
  return assigned.some((path) => path !== undefined) || statements.some(isExportAssignment) ? "cjs" : "esm";
}

const ESM_STATEMENTS: ReadonlySet<string> = new Set([
  "ImportDeclaration",
  "ExportNamedDeclaration",
  "ExportDefaultDeclaration",
  "ExportAllDeclaration",
]);

/** Matches `export = …`, TypeScript's form of a CommonJS export. */
function isExportAssignment({ type }: SyntaxNode): boolean {
  return type === "TSExportAssignment";
}

function assignmentIn(statement: SyntaxNode): SyntaxNode | undefined {
  const expression = statement.type === "ExpressionStatement" ? nodeAt(statement, "expression") : undefined;
  return expression?.type === "AssignmentExpression" ? expression : undefined;
}

/** Returns the own exports of a module in source order: each value once, functions under all of their names. */
export function ownExports(names: FileNames): readonly OwnExport[] {
  const statements = nodesAt(names.source.program, "body");
  const all = statements.flatMap((statement, index) => {
    const doc = docAmong(names.source, statements, index);
    return [...fromExport(statement, doc, names), ...fromAssignment(assignmentIn(statement), doc, names)];
  });
  const first = new Map([...all].reverse().map((each) => [each.node.start, each]));
  return all.filter((each) => {
    const other = first.get(each.node.start);
    return other === each || (isFunction(each.node) && [each, other].every((one) => isNamed(one?.path)));
  });
}

function isNamed(path: ExportPath = []): boolean {
  return path.length > 0 && path.at(-1) !== "default";
}

function fromExport(statement: SyntaxNode, doc: Doc, names: FileNames): readonly OwnExport[] {
  const declaration = nodeAt(statement, "declaration");
  if (statement.type === "ExportDefaultDeclaration" && declaration !== undefined) {
    return unfold(["default"], declaration, doc, names);
  }
  if (isExportAssignment(statement)) return unfold([], nodeAt(statement, "expression"), doc, names);
  if (statement.type !== "ExportNamedDeclaration" || nodeAt(statement, "source") !== undefined) return [];
  const specifiers = nodesAt(statement, "specifiers").flatMap((specifier) => {
    const exported = getName(nodeAt(specifier, "exported")) ?? "";
    return unfold([exported], nodeAt(specifier, "local"), NO_DOC, names);
  });
  return [...specifiers, ...declaredIn(declaration).flatMap(([name, node]) => ({ path: [name], node, doc }))];
}

/** `module.exports = …`, `exports.name = …`, and both in a chain. */
function fromAssignment(assignment: SyntaxNode | undefined, doc: Doc, names: FileNames): readonly OwnExport[] {
  const path = exportsPath(nodeAt(assignment, "left"));
  const right = nodeAt(assignment, "right");
  if (right?.type === "AssignmentExpression") return fromAssignment(right, doc, names);
  return path === undefined ? [] : unfold(path, right, doc, names);
}

function exportsPath(target: SyntaxNode | undefined): ExportPath | undefined {
  if (getName(target) === "exports" && target?.type === "Identifier") return [];
  if (target?.type !== "MemberExpression") return undefined;
  const object = nodeAt(target, "object");
  const property = target["computed"] === true ? undefined : getName(nodeAt(target, "property"));
  if (property === undefined) return undefined;
  if (getName(object) === "module") return property === "exports" ? [] : undefined;
  const outer = exportsPath(object);
  return outer?.length === 0 ? [property] : undefined;
}

/** Resolves a name to its declaration, and an object that is the whole export to its members. */
function unfold(path: ExportPath, value: SyntaxNode | undefined, doc: Doc, names: FileNames): readonly OwnExport[] {
  const node = bare(value);
  if (node === undefined) return [];
  if (node.type === "Identifier") {
    const local = findLocal(getName(node) ?? "", names);
    return local === undefined ? [] : unfold(path, local.node, local.doc.description === "" ? doc : local.doc, names);
  }
  const isWhole = path.length === 0 || (path.length === 1 && path[0] === "default");
  if (node.type !== "ObjectExpression" || !isWhole) return [{ path, node, doc }];
  const properties = nodesAt(node, "properties");
  const members = properties.flatMap((property, index) => {
    const name = property.type === "Property" && property["kind"] === "init" ? getKey(property) : undefined;
    if (name === undefined) return [];
    return unfold(
      [...path, name],
      nodeAt(property, "value"),
      findDoc(names.source, property, properties[index - 1], node),
      names,
    );
  });
  return [{ path, node, doc }, ...members];
}

/** Returns the declaration of a name in this file; `undefined` for an imported name. */
function findLocal(name: string, names: FileNames): { readonly node: SyntaxNode; readonly doc: Doc } | undefined {
  const statements = nodesAt(names.source.program, "body");
  for (const [index, statement] of statements.entries()) {
    const inner = nodeAt(statement, "declaration") ?? statement;
    const found = declaredIn(inner).find(([declared]) => declared === name);
    if (found !== undefined) return { node: found[1], doc: docAmong(names.source, statements, index) };
  }
  return undefined;
}

/** Returns the functions, classes and values that a statement declares, without types and overload signatures. */
function declaredIn(statement: SyntaxNode | undefined): readonly (readonly [name: string, node: SyntaxNode])[] {
  if (statement === undefined || statement["declare"] === true) return [];
  if (statement.type === "FunctionDeclaration" || statement.type === "ClassDeclaration") {
    const name = getName(nodeAt(statement, "id"));
    return name === undefined ? [] : [[name, statement]];
  }
  if (statement.type !== "VariableDeclaration") return [];
  return nodesAt(statement, "declarations").flatMap((declarator) => {
    const id = nodeAt(declarator, "id");
    const name = getName(id);
    const init = bare(nodeAt(declarator, "init"));
    return name === undefined || init === undefined ? [] : [[name, withDeclaredType(init, id)] as const];
  });
}

/** Removes type assertions and parentheses from an expression. */
function bare(node: SyntaxNode | undefined): SyntaxNode | undefined {
  return node !== undefined && WRAPPERS.has(node.type) ? bare(nodeAt(node, "expression")) : node;
}

const WRAPPERS: ReadonlySet<string> = new Set([
  "TSAsExpression",
  "TSSatisfiesExpression",
  "TSTypeAssertion",
  "TSNonNullExpression",
  "ParenthesizedExpression",
]);

/** Copies parameter types from the variable that holds a function: `const add: (a: number) => number = (a) => …`. */
export function withDeclaredType(fn: SyntaxNode, target: SyntaxNode | undefined): SyntaxNode {
  const type = nodeAt(nodeAt(target, "typeAnnotation"), "typeAnnotation");
  if (type?.type !== "TSFunctionType" || !isFunction(fn)) return fn;
  const types = nodesAt(type, "parameters").map((parameter) => nodeAt(parameter, "typeAnnotation"));
  const params = nodesAt(fn, "params").map((param, index) =>
    param["typeAnnotation"] === undefined && param.type !== "AssignmentPattern"
      ? { ...param, typeAnnotation: types[index] }
      : param,
  );
  return { ...fn, params, returnType: fn["returnType"] ?? nodeAt(type, "typeAnnotation") };
}

export function isFunction({ type }: SyntaxNode): boolean {
  return type === "FunctionDeclaration" || type === "FunctionExpression" || type === "ArrowFunctionExpression";
}

export function isClass({ type }: SyntaxNode): boolean {
  return type === "ClassDeclaration" || type === "ClassExpression";
}
