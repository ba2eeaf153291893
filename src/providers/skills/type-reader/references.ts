import type { Json, JsonSchema } from "../../../model/json.ts";
import type { TypeDeclaration } from "./file-names.ts";
import type { FileReader, FoundName } from "./files.ts";
import { KNOWN_SHAPES, KNOWN_TYPES, type TypeUse } from "./known-types.ts";
import { enumValues } from "./literals.ts";
import {
  ANY,
  type ScopedType,
  type SchemaReader,
  type TypeScope,
  shapeToSchema,
  createScope,
  type ObjectShape,
} from "./reader.ts";
import { merged, readClassShape, readMembersShape } from "./shapes.ts";
import { getName, nodeAt, nodesAt, type SyntaxNode } from "./syntax.ts";
import { literal, literals } from "./unions.ts";

/** Returns the schema of a type reference. */
export function readReference(node: SyntaxNode, scope: TypeScope, reader: SchemaReader): JsonSchema {
  const target = resolveTarget(node, scope, reader);
  switch (target.kind) {
    case "bound":
      return target.bound === undefined ? ANY : reader.type(target.bound.node, target.bound.scope);
    case "literal":
      return literal(target.value);
    case "known":
      return KNOWN_TYPES.get(target.use.name)?.(target.use) ?? ANY;
    case "type":
      return readDeclared(target.declaration, node, scope, reader);
    case "value":
      return readClass(target, node, scope, reader);
    case "package":
      return reader.unreadable(node, scope, `it comes from the package "${target.from}"`);
    case "missing":
      return reader.unreadable(node, scope, "it is not declared in the skill");
  }
}

/** Returns the fields of a type reference, if it is an object type. */
export function readReferenceShape(node: SyntaxNode, scope: TypeScope, reader: SchemaReader): ObjectShape | undefined {
  const target = resolveTarget(node, scope, reader);
  if (target.kind === "bound") return target.bound && reader.shape(target.bound.node, target.bound.scope);
  if (target.kind === "known") return KNOWN_SHAPES.get(target.use.name)?.(target.use);
  if (target.kind !== "type") return undefined;
  const [first] = target.declaration.nodes;
  const inner = innerScope(target.declaration, node, scope);
  if (first?.type === "TSInterfaceDeclaration") return readInterfaceShape(target.declaration, inner, reader);
  return first?.type === "TSTypeAliasDeclaration" ? reader.shape(nodeAt(first, "typeAnnotation"), inner) : undefined;
}

/** The target of a type reference: a declaration, a type parameter, an enum member, or a built-in type. */
type ReferenceTarget =
  | FoundName
  | { readonly kind: "bound"; readonly bound: ScopedType | undefined }
  | { readonly kind: "literal"; readonly value: Json }
  | { readonly kind: "known"; readonly use: TypeUse };

function resolveTarget(node: SyntaxNode, scope: TypeScope, reader: SchemaReader): ReferenceTarget {
  const [first = "", second] = getPath(
    nodeAt(node, "typeName") ?? nodeAt(node, "expression") ?? nodeAt(node, "qualifier"),
  );
  if (node.type === "TSImportType")
    return imported(getName(nodeAt(node, "argument")) ?? "", first, scope, reader.files);
  if (scope.typeArguments.has(first)) return { kind: "bound", bound: scope.typeArguments.get(first) };
  const found = reader.files.find(scope.names, first);
  if (second !== undefined) return resolveMember(found, [first, second], scope, reader.files);
  if (found.kind !== "missing" || !KNOWN_TYPES.has(first)) return found;
  return { kind: "known", use: { name: first, node, args: getTypeArguments(node), scope, reader } };
}

/** Splits `Weather` or `types.Weather` into a list of names. */
function getPath(name: SyntaxNode | undefined): readonly string[] {
  if (name?.type === "TSQualifiedName") return [...getPath(nodeAt(name, "left")), ...getPath(nodeAt(name, "right"))];
  if (name?.type === "MemberExpression")
    return [...getPath(nodeAt(name, "object")), ...getPath(nodeAt(name, "property"))];
  const only = getName(name);
  return only === undefined ? [] : [only];
}

function imported(from: string, name: string, { names }: TypeScope, files: FileReader): FoundName {
  if (!from.startsWith(".")) return { kind: "package", from };
  const file = files.resolve(names.source.file, from);
  return file === undefined ? { kind: "missing" } : files.findExported(file, name === "" ? "default" : name);
}

/** Resolves `types.Weather` of `import * as types`, and `Colour.Red` of an enum. */
function resolveMember(
  found: FoundName,
  [first, second]: readonly [string, string],
  scope: TypeScope,
  files: FileReader,
): ReferenceTarget {
  if (found.kind === "type") {
    const value = enumValues(found.declaration.nodes, found.declaration.names, files)?.get(second);
    return value === undefined ? { kind: "missing" } : { kind: "literal", value };
  }
  const space = scope.names.imports.get(first);
  return space?.name === "*" ? imported(space.from, second, scope, files) : found;
}

function getTypeArguments(node: SyntaxNode): readonly SyntaxNode[] {
  return nodesAt(nodeAt(node, "typeArguments") ?? nodeAt(node, "typeParameters"), "params");
}

function readDeclared(
  declaration: TypeDeclaration,
  use: SyntaxNode,
  scope: TypeScope,
  reader: SchemaReader,
): JsonSchema {
  const { name, nodes, names } = declaration;
  const [first] = nodes;
  if (first?.type === "TSEnumDeclaration") {
    const values = enumValues(nodes, names, reader.files);
    if (values !== undefined) return literals([...values.values()]);
    return reader.unreadable(use, scope, "its values are not literals");
  }
  const args = getTypeArguments(use).map((each) => reader.type(each, scope));
  const key = `${names.source.file}:${first?.start} ${JSON.stringify(args)}`;
  const read = (): JsonSchema => {
    const inner = innerScope(declaration, use, scope);
    if (first?.type === "TSTypeAliasDeclaration") return reader.type(nodeAt(first, "typeAnnotation"), inner);
    return shapeToSchema(readInterfaceShape(declaration, inner, reader), reader.side);
  };
  return reader.define(name, key, read, { node: use, scope });
}

/** Creates the scope of a declaration's body: its file, with its type parameters bound to the arguments. */
function innerScope({ nodes, source, names }: TypeDeclaration, use: SyntaxNode, scope: TypeScope): TypeScope {
  const args = getTypeArguments(use);
  const bound = new Map<string, ScopedType | undefined>();
  const inner: TypeScope = { names, source, typeArguments: bound };
  for (const [index, parameter] of nodesAt(nodeAt(nodes[0], "typeParameters"), "params").entries()) {
    const argument = args[index];
    const fallback = nodeAt(parameter, "default") ?? nodeAt(parameter, "constraint");
    const scoped = argument === undefined ? fallback && { node: fallback, scope: inner } : { node: argument, scope };
    bound.set(String(parameter["name"]), scoped);
  }
  return inner;
}

function readInterfaceShape({ nodes }: TypeDeclaration, scope: TypeScope, reader: SchemaReader): ObjectShape {
  const interfaces = nodes.filter(({ type }) => type === "TSInterfaceDeclaration");
  const bases = interfaces.flatMap((node) => nodesAt(node, "extends"));
  const shapes = bases.flatMap((base) => {
    const shape = reader.shape(base, scope);
    if (shape === undefined) reader.unreadable(base, scope, "its fields are not known");
    return shape ?? [];
  });
  const own = interfaces.map((node) => {
    const body = nodeAt(node, "body") ?? node;
    return readMembersShape(body, nodesAt(body, "body"), scope, reader);
  });
  return merged([...shapes, ...own]);
}

/** Reads a class type. Instances lose their methods in transfer, so they can be returned but not passed. */
function readClass(
  found: Extract<FoundName, { kind: "value" }>,
  use: SyntaxNode,
  scope: TypeScope,
  reader: SchemaReader,
): JsonSchema {
  if (found.node.type !== "ClassDeclaration") return reader.unreadable(use, scope, "it is not declared in the skill");
  if (reader.side === "input") return reader.unreadable(use, scope, "instances of a class cannot be passed");
  return shapeToSchema(readClassShape(found.node, createScope(found.names), reader), reader.side);
}
