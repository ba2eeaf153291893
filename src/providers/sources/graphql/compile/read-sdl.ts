import {
  type ConstDirectiveNode,
  type DefinitionNode,
  type DirectiveDefinitionNode,
  type DocumentNode,
  type EnumValueDefinitionNode,
  type FieldDefinitionNode,
  GraphQLError,
  type InputValueDefinitionNode,
  Kind,
  OperationTypeNode,
  parse,
  type TypeDefinitionNode,
  type TypeExtensionNode,
  type TypeNode,
} from "graphql";

import { DocumentError } from "../../documents/document-error.ts";
import type {
  Deprecable,
  Schema,
  SchemaArgument,
  SchemaDirective,
  SchemaField,
  SchemaType,
  TypeReference,
} from "./schema-model.ts";
import { printLiteral } from "./print-literal.ts";
import { toTypeReference } from "./type-reference.ts";

/** Words and signs of a schema. GitHub's has 60,000; each takes some hundred bytes. */
const MAX_TOKENS = 1_500_000;

/** Reads a schema in the schema definition language. Throws a `DocumentError` for another text. */
export function readSdl(text: string): Schema {
  const { definitions } = parseSdl(text);
  const roots = findRoots(definitions);
  const types = mergeExtensions(definitions).map(toType);
  const has = (name: string): boolean => types.some((type) => type.name === name);
  const [query = "Query", mutation = has("Mutation") && !roots.isWritten ? "Mutation" : undefined] = roots.names;
  return {
    description: roots.description,
    query,
    ...(mutation !== undefined && { mutation }),
    types,
    directives: definitions.flatMap((node) => (node.kind === Kind.DIRECTIVE_DEFINITION ? [toDirective(node)] : [])),
  };
}

function parseSdl(text: string): DocumentNode {
  try {
    return parse(text, { noLocation: true, maxTokens: MAX_TOKENS });
  } catch (error) {
    if (error instanceof RangeError) throw new DocumentError("the schema is nested too deeply");
    if (!(error instanceof GraphQLError)) throw error;
    const [location] = error.locations ?? [];
    const where = location === undefined ? "" : ` in line ${location.line}, column ${location.column}`;
    throw new DocumentError(`the schema is no SDL: ${error.message.replace(/^Syntax Error: |\.$/g, "")}${where}`);
  }
}

interface Roots {
  /** True if the schema says which its root types are. */
  readonly isWritten: boolean;
  readonly names: readonly [query?: string | undefined, mutation?: string | undefined];
  readonly description: string;
}

function findRoots(definitions: readonly DefinitionNode[]): Roots {
  const nodes = definitions.filter(
    (node) => node.kind === Kind.SCHEMA_DEFINITION || node.kind === Kind.SCHEMA_EXTENSION,
  );
  const operations = nodes.flatMap(({ operationTypes = [] }) => operationTypes);
  const find = (operation: OperationTypeNode): string | undefined =>
    operations.find((each) => each.operation === operation)?.type.name.value;
  const described = nodes.find((node) => node.kind === Kind.SCHEMA_DEFINITION);
  return {
    isWritten: operations.length > 0,
    names: [find(OperationTypeNode.QUERY), find(OperationTypeNode.MUTATION)],
    description: described?.description?.value ?? "",
  };
}

type TypeNodeParts = readonly [TypeDefinitionNode | TypeExtensionNode, ...(TypeDefinitionNode | TypeExtensionNode)[]];

/** Joins each definition of a type with its extensions; services of a federation only have extensions. */
function mergeExtensions(definitions: readonly DefinitionNode[]): readonly TypeNodeParts[] {
  const parts: TypeNodeParts[] = [];
  const byKey = new Map<string, TypeDefinitionNode | TypeExtensionNode>();
  const extensions = new Map<string, TypeExtensionNode[]>();
  for (const node of definitions) {
    if (isExtension(node)) {
      const key = getKey(node);
      const list = extensions.get(key);
      if (list === undefined) extensions.set(key, [node]);
      else list.push(node);
    } else if (isType(node)) {
      // A second definition of a name is a problem of `checkSchema`.
      const key = getKey(node);
      if (byKey.has(key)) parts.push([node]);
      else byKey.set(key, node);
    }
  }
  for (const [key, node] of byKey) {
    parts.push([node, ...(extensions.get(key) ?? [])]);
    extensions.delete(key);
  }
  for (const [first, ...others] of extensions.values()) if (first !== undefined) parts.push([first, ...others]);
  return parts;
}

function getKey({ kind, name }: TypeDefinitionNode | TypeExtensionNode): string {
  return `${kind.replace("Extension", "Definition")} ${name.value}`;
}

function isType(node: DefinitionNode): node is TypeDefinitionNode {
  return node.kind.endsWith("TypeDefinition");
}

function isExtension(node: DefinitionNode): node is TypeExtensionNode {
  return node.kind.endsWith("TypeExtension");
}

function toType(parts: TypeNodeParts): SchemaType {
  const [first] = parts;
  const name = first.name.value;
  const [description = ""] = parts.flatMap((part) => ("description" in part ? (part.description?.value ?? []) : []));
  switch (first.kind) {
    case Kind.SCALAR_TYPE_DEFINITION:
    case Kind.SCALAR_TYPE_EXTENSION:
      return { kind: "scalar", name, description };
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.OBJECT_TYPE_EXTENSION:
    case Kind.INTERFACE_TYPE_DEFINITION:
    case Kind.INTERFACE_TYPE_EXTENSION:
      return {
        kind: first.kind.startsWith("Object") ? "type" : "interface",
        name,
        description,
        interfaces: parts.flatMap((part) => ("interfaces" in part ? (part.interfaces ?? []) : [])).map(toName),
        fields: listFields(parts).flatMap((field) => (field.kind === Kind.FIELD_DEFINITION ? [toField(field)] : [])),
      };
    case Kind.UNION_TYPE_DEFINITION:
    case Kind.UNION_TYPE_EXTENSION: {
      const members = parts.flatMap((part) => ("types" in part ? (part.types ?? []) : [])).map(toName);
      return { kind: "union", name, description, members };
    }
    case Kind.ENUM_TYPE_DEFINITION:
    case Kind.ENUM_TYPE_EXTENSION: {
      const values = parts.flatMap((part) => ("values" in part ? (part.values ?? []) : [])).map(toDeprecable);
      return { kind: "enum", name, description, values };
    }
    case Kind.INPUT_OBJECT_TYPE_DEFINITION:
    case Kind.INPUT_OBJECT_TYPE_EXTENSION: {
      const hasOneValue = parts.some(({ directives = [] }) => directives.some((each) => each.name.value === "oneOf"));
      const fields = listFields(parts).flatMap((field) =>
        field.kind === Kind.INPUT_VALUE_DEFINITION ? [toArgument(field)] : [],
      );
      return { kind: "input", name, description, hasOneValue, fields };
    }
  }
}

function listFields(parts: TypeNodeParts): readonly (FieldDefinitionNode | InputValueDefinitionNode)[] {
  return parts.flatMap((part): readonly (FieldDefinitionNode | InputValueDefinitionNode)[] =>
    "fields" in part ? (part.fields ?? []) : [],
  );
}

const toName = ({ name }: { readonly name: { readonly value: string } }): string => name.value;

function toField(node: FieldDefinitionNode): SchemaField {
  return {
    ...toDeprecable(node),
    type: writeType(node.type),
    arguments: (node.arguments ?? []).map(toArgument),
  };
}

function toArgument(node: InputValueDefinitionNode): SchemaArgument {
  const { defaultValue } = node;
  return {
    ...toDeprecable(node),
    type: writeType(node.type),
    ...(defaultValue !== undefined && { default: printLiteral(defaultValue) }),
  };
}

function toDeprecable(node: FieldDefinitionNode | InputValueDefinitionNode | EnumValueDefinitionNode): Deprecable {
  const deprecated = findDeprecation(node.directives);
  return {
    name: node.name.value,
    description: node.description?.value ?? "",
    ...(deprecated !== undefined && { deprecated }),
  };
}

function findDeprecation(directives: readonly ConstDirectiveNode[] = []): string | undefined {
  const found = directives.find(({ name }) => name.value === "deprecated");
  if (found === undefined) return undefined;
  const reason = found.arguments?.find(({ name }) => name.value === "reason")?.value;
  return reason?.kind === Kind.STRING ? reason.value : "No longer supported";
}

function toDirective(node: DirectiveDefinitionNode): SchemaDirective {
  return {
    name: node.name.value,
    description: node.description?.value ?? "",
    arguments: (node.arguments ?? []).map(toArgument),
    isRepeatable: node.repeatable,
    locations: node.locations.map(({ value }) => value),
  };
}

function writeType(node: TypeNode): TypeReference {
  const wrappers: ("list" | "required")[] = [];
  let at = node;
  while (at.kind !== Kind.NAMED_TYPE) {
    wrappers.push(at.kind === Kind.LIST_TYPE ? "list" : "required");
    at = at.type;
  }
  return toTypeReference(at.name.value, wrappers);
}
