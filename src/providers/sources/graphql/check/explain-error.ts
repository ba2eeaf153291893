import {
  type ASTNode,
  type DocumentNode,
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLError,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isRequiredArgument,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from "graphql";

import type { QueryProblem } from "../../../../model/skill.ts";
import { formatChoices, formatList } from "../../../../shared/format-text.ts";
import { suggestNames } from "../../../../shared/suggest.ts";
import { getFragments } from "./measure-selection.ts";
import { createProblem } from "./parse-text.ts";
import { getNameRange, getRange, type TextRange } from "./ranges.ts";

/** Names that a message lists where none is similar to the one that was written. */
const MAX_LISTED = 20;

/** Fields of an example of a selection. */
const MAX_EXAMPLE_FIELDS = 3;

/** The types at one node of a text. */
interface NodeTypes {
  readonly parent: GraphQLCompositeType | null | undefined;
  readonly type: GraphQLOutputType | null | undefined;
  readonly input: GraphQLInputType | null | undefined;
  readonly args: readonly GraphQLArgument[];
}

/** A correction of a mistake: texts to write in its place, or names that are possible there. */
interface Correction {
  readonly range: TextRange;
  readonly suggestions: readonly string[];
  /** The hint if no name is similar. */
  readonly otherwise?: string | undefined;
}

/** Turns errors of the rules of the specification into problems: with the place of the wrong name, and what to write there. */
export function explainErrors(
  errors: readonly GraphQLError[],
  document: DocumentNode,
  schema: GraphQLSchema,
): readonly QueryProblem[] {
  if (errors.length === 0) return [];
  const nodeTypes = findPlaces(errors, document, schema);
  return errors
    .map((error) => explainError(error, nodeTypes, { document, schema }))
    .toSorted((a, b) => (a.range?.[0] ?? 0) - (b.range?.[0] ?? 0));
}

function findPlaces(
  errors: readonly GraphQLError[],
  document: DocumentNode,
  schema: GraphQLSchema,
): ReadonlyMap<ASTNode, NodeTypes> {
  const nodes = new Set(errors.flatMap((error) => error.nodes ?? []));
  const nodeTypes = new Map<ASTNode, NodeTypes>();
  const types = new TypeInfo(schema);
  const enter = (node: ASTNode): undefined => {
    if (!nodes.has(node)) return undefined;
    const args = (types.getDirective() ?? types.getFieldDef())?.args ?? [];
    nodeTypes.set(node, { parent: types.getParentType(), type: types.getType(), input: types.getInputType(), args });
    return undefined;
  };
  visit(document, visitWithTypeInfo(types, { enter }));
  return nodeTypes;
}

function explainError(
  error: GraphQLError,
  nodeTypes: ReadonlyMap<ASTNode, NodeTypes>,
  { document, schema }: { readonly document: DocumentNode; readonly schema: GraphQLSchema },
): QueryProblem {
  const [node] = error.nodes ?? [];
  const { statement, names } = readMessage(error.message);
  if (node === undefined) return createProblem(statement, [0, 0], names);
  const advice = advise(node, names, { types: nodeTypes.get(node), document, schema });
  const { range, suggestions, otherwise } = advice;
  const hint =
    suggestions.length > 0 ? `did you mean ${formatChoices(suggestions.map((each) => `"${each}"`))}?` : otherwise;
  return createProblem(hint === undefined ? statement : `${statement}; ${hint}`, range, suggestions);
}

/** Reads the suggestions out of `… on type "Issue". Did you mean "title"?`: the errors of the package have them nowhere else. */
function readMessage(message: string): { readonly statement: string; readonly names: readonly string[] } {
  const [statement = "", hint = ""] = message.split(" Did you mean ", 2);
  return {
    statement: statement.replace(/\.$/, ""),
    names: [...hint.matchAll(/"(\w+)"/g)].map(([, name = ""]) => name),
  };
}

interface AdviceFacts {
  readonly types: NodeTypes | undefined;
  readonly document: DocumentNode;
  readonly schema: GraphQLSchema;
}

function advise(node: ASTNode, names: readonly string[], facts: AdviceFacts): Correction {
  const range = getNameRange(node);
  const { types, document, schema } = facts;
  const fragments = (): readonly string[] => [...getFragments(document).keys()];
  if (node.kind === Kind.FIELD) return adviseField(node, names, types, schema);
  if (node.kind === Kind.ARGUMENT)
    return chooseName(node.name.value, names, { range, names: types?.args.map(({ name }) => name) ?? [] });
  if (node.kind === Kind.ENUM || node.kind === Kind.STRING)
    return adviseEnum(node.value, names, { range, type: types?.input });
  if (node.kind === Kind.FRAGMENT_SPREAD) return chooseName(node.name.value, names, { range, names: fragments() });
  if (node.kind === Kind.NAME) return chooseName(node.value, names, { range, names: fragments() });
  if (node.kind === Kind.DIRECTIVE)
    return chooseName(node.name.value, names, { range, names: schema.getDirectives().map(({ name }) => name) });
  if (node.kind === Kind.VARIABLE)
    return adviseVariable(node.name.value, { range: getRange(node), document, type: types?.input });
  return { range, suggestions: names };
}

/** Suggests names that are similar, and else lists the names that are possible. */
function chooseName(
  written: string,
  suggested: readonly string[],
  { range, names }: { readonly range: TextRange; readonly names: readonly string[] },
): Correction {
  if (names.includes(written)) return { range, suggestions: [] };
  const suggestions = suggested.length > 0 ? suggested : suggestNames(written, names);
  const list = names.length === 0 ? undefined : `possible: ${formatList(names, MAX_LISTED)}`;
  return { range, suggestions, otherwise: list };
}

/** A field that its type does not have, lacks an argument, or has a wrong selection. */
function adviseField(
  node: Extract<ASTNode, { kind: Kind.FIELD }>,
  suggested: readonly string[],
  types: NodeTypes | undefined,
  schema: GraphQLSchema,
): Correction {
  const name = node.name.value;
  const range = getNameRange(node);
  const parent = types?.parent;
  if (parent == null) return { range, suggestions: [] };
  const fields = "getFields" in parent ? Object.keys(parent.getFields()) : [];
  if (!fields.includes(name) && name !== "__typename" && !name.startsWith("__")) {
    const owners = isAbstractType(parent) ? findTypesWith(name, suggested, parent, schema) : [];
    if (owners.length > 0)
      return { range: getRange(node), suggestions: owners.map((type) => `... on ${type} { ${name} }`) };
    return chooseName(name, suggested, { range, names: fields });
  }
  const type = types?.type == null ? undefined : getNamedType(types.type);
  const needsSelection = type !== undefined && !isLeafType(type) && node.selectionSet === undefined;
  const suggestions = needsSelection ? [`${name} { ${listExampleFields(type).join(" ")} }`] : [];
  return { range, suggestions };
}

/** The suggested names that are types with the field. */
function findTypesWith(
  field: string,
  suggested: readonly string[],
  parent: GraphQLCompositeType,
  schema: GraphQLSchema,
): readonly string[] {
  return suggested.filter((name) => {
    const type = schema.getType(name);
    return type !== undefined && type !== parent && "getFields" in type && Object.hasOwn(type.getFields(), field);
  });
}

/** Fields that can be selected by their names alone, the id first. */
function listExampleFields(type: GraphQLNamedType): readonly string[] {
  if (!("getFields" in type) || isInputObjectType(type)) return ["__typename"];
  const plain = Object.values(type.getFields())
    .filter(({ type: result, args }) => isLeafType(getNamedType(result)) && !args.some(isRequiredArgument))
    .map(({ name }) => name);
  const ordered = [...plain.filter((name) => name === "id"), ...plain.filter((name) => name !== "id")];
  return ordered.length === 0 ? ["__typename"] : ordered.slice(0, MAX_EXAMPLE_FIELDS);
}

function adviseEnum(
  written: string,
  suggested: readonly string[],
  { range, type }: { readonly range: TextRange; readonly type: GraphQLInputType | null | undefined },
): Correction {
  const inner = type == null ? undefined : getNamedType(type);
  if (!isEnumType(inner)) return { range, suggestions: suggested };
  const names = inner.getValues().map(({ name }) => name);
  // A value in quotes.
  if (names.includes(written)) return { range, suggestions: [written] };
  return chooseName(written, suggested, { range, names });
}

/** A variable that is not declared: a similar one that is, or its declaration. */
function adviseVariable(
  name: string,
  {
    range,
    document,
    type,
  }: {
    readonly range: TextRange;
    readonly document: DocumentNode;
    readonly type: GraphQLInputType | null | undefined;
  },
): Correction {
  const declared = document.definitions.flatMap((each) =>
    each.kind === Kind.OPERATION_DEFINITION ? (each.variableDefinitions ?? []) : [],
  );
  const names = declared.map(({ variable }) => variable.name.value);
  if (names.includes(name)) return { range, suggestions: [] };
  const suggestions = suggestNames(name, names).map((each) => `$${each}`);
  const otherwise =
    type == null ? undefined : `declare it after the name of the operation: ($${name}: ${String(type)})`;
  return { range, suggestions, otherwise };
}
