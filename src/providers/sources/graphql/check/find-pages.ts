import {
  type FieldNode,
  getNamedType,
  type GraphQLCompositeType,
  type GraphQLSchema,
  isCompositeType,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
} from "graphql";

import type { ConnectionPages } from "./checked-document.ts";
import type { Fragments } from "./measure-selection.ts";

/** The members and arguments of the connections of Relay, of one direction. */
interface Direction {
  readonly cursor: readonly string[];
  readonly size: string;
  readonly more: string;
  readonly end: string;
  readonly backward?: true;
}

const DIRECTIONS: readonly Direction[] = [
  { cursor: ["after", "cursor"], size: "first", more: "hasNextPage", end: "endCursor" },
  { cursor: ["before"], size: "last", more: "hasPreviousPage", end: "startCursor", backward: true },
];

/**
 * Finds the connection of a query whose pages can be followed: its cursor is a variable, no list is around it, and
 * `pageInfo` is selected. `undefined` without one, and for several.
 */
export function findPages(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: Fragments,
): ConnectionPages | undefined {
  const root = schema.getRootType(operation.operation);
  if (root == null || operation.operation !== OperationTypeNode.QUERY) return undefined;
  const found: ConnectionPages[] = [];
  const defaults = new Set(listVariablesWithDefault(operation));
  const visit = (set: SelectionSetNode, parent: GraphQLCompositeType, path: readonly string[]): void => {
    for (const { node, parent: owner } of listFields(set, parent, { schema, fragments })) {
      const type = "getFields" in owner ? owner.getFields()[node.name.value]?.type : undefined;
      const inner = isNonNullType(type) ? type.ofType : type;
      if (node.selectionSet === undefined || inner === undefined || isListType(inner)) continue;
      const composite = getNamedType(inner);
      if (!isCompositeType(composite)) continue;
      const ownPath = [...path, (node.alias ?? node.name).value];
      const inside = listFields(node.selectionSet, composite, { schema, fragments }).map((each) => each.node);
      const pages = readConnection(node, inside, ownPath, fragments);
      if (pages !== undefined) found.push(withoutDefault(pages, defaults));
      visit(node.selectionSet, composite, ownPath);
    }
  };
  visit(operation.selectionSet, root, []);
  return found.length === 1 ? found[0] : undefined;
}

function listVariablesWithDefault({ variableDefinitions = [] }: OperationDefinitionNode): readonly string[] {
  return variableDefinitions.flatMap(({ variable, defaultValue }) => (defaultValue ? [variable.name.value] : []));
}

/** Leaves the size of a page to the default that the text gives its variable. */
function withoutDefault({ size, ...pages }: ConnectionPages, defaults: ReadonlySet<string>): ConnectionPages {
  return { ...pages, ...(size !== undefined && !defaults.has(size) && { size }) };
}

/** Lists the fields of a selection, with those of its fragments. */
function listFields(
  { selections }: SelectionSetNode,
  parent: GraphQLCompositeType,
  document: { readonly schema: GraphQLSchema; readonly fragments: Fragments },
): readonly { readonly node: FieldNode; readonly parent: GraphQLCompositeType }[] {
  return selections.flatMap((node) => {
    if (node.kind === Kind.FIELD) return [{ node, parent }];
    const fragment = node.kind === Kind.FRAGMENT_SPREAD ? document.fragments.get(node.name.value) : node;
    if (fragment === undefined) return [];
    const condition = fragment.typeCondition && document.schema.getType(fragment.typeCondition.name.value);
    return listFields(fragment.selectionSet, isCompositeType(condition) ? condition : parent, document);
  });
}

function readConnection(
  node: FieldNode,
  inside: readonly FieldNode[],
  path: readonly string[],
  fragments: Fragments,
): ConnectionPages | undefined {
  const list = (["nodes", "edges"] as const).find((name) => findPlain(inside, name) !== undefined);
  const info = findPlain(inside, "pageInfo")?.selectionSet;
  if (list === undefined || info === undefined) return undefined;
  const names = new Set(listPlainNames(info, fragments));
  const direction = DIRECTIONS.find(({ cursor }) => findVariable(node, cursor) !== undefined);
  const cursor = direction && findVariable(node, direction.cursor);
  if (direction === undefined || cursor === undefined) return undefined;
  if (!names.has(direction.more) || !names.has(direction.end)) return undefined;
  const size = findVariable(node, [direction.size]);
  return {
    path,
    list,
    cursor,
    ...(size !== undefined && { size }),
    ...(direction.backward !== undefined && { backward: direction.backward }),
  };
}

/** A field whose key in the answer is its name. */
function findPlain(nodes: readonly FieldNode[], name: string): FieldNode | undefined {
  return nodes.find((node) => node.name.value === name && (node.alias ?? node.name).value === name);
}

function listPlainNames({ selections }: SelectionSetNode, fragments: Fragments): readonly string[] {
  return selections.flatMap((node) => {
    if (node.kind === Kind.FIELD) return node.alias === undefined ? [node.name.value] : [];
    const fragment = node.kind === Kind.FRAGMENT_SPREAD ? fragments.get(node.name.value) : node;
    return fragment === undefined ? [] : listPlainNames(fragment.selectionSet, fragments);
  });
}

/** The variable of the first of some arguments that a field has. */
function findVariable({ arguments: args = [] }: FieldNode, names: readonly string[]): string | undefined {
  const argument = args.find(({ name }) => names.includes(name.value));
  return argument?.value.kind === Kind.VARIABLE ? argument.value.name.value : undefined;
}
