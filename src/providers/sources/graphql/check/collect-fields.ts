import {
  type DirectiveNode,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isAbstractType,
  isCompositeType,
  Kind,
  type SelectionSetNode,
} from "graphql";

import type { Fragments } from "./measure-selection.ts";

/** A selection of fields of a type. */
export interface TypedSelection {
  readonly set: SelectionSetNode;
  readonly parent: GraphQLCompositeType;
  /** True if a directive decides at run time whether it counts. */
  readonly isOptional: boolean;
}

/** The fields with one key in an answer. */
export interface FieldGroup {
  readonly nodes: FieldNode[];
  /** `undefined` for fields of introspection. */
  readonly type: GraphQLOutputType | undefined;
  /** True if the answer may lack it. */
  isOptional: boolean;
}

interface Document {
  readonly schema: GraphQLSchema;
  readonly fragments: Fragments;
}

/** Collects the fields that selections give for a type of object, by their keys in the answer, as a server does. */
export function collectFields(
  selections: readonly TypedSelection[],
  type: GraphQLObjectType,
  document: Document,
): ReadonlyMap<string, FieldGroup> {
  const groups = new Map<string, FieldGroup>();
  for (const selection of selections) collect(selection, type, document, groups);
  return groups;
}

function collect(
  { set, parent, isOptional }: TypedSelection,
  type: GraphQLObjectType,
  document: Document,
  groups: Map<string, FieldGroup>,
): void {
  for (const node of set.selections) {
    const mayLack = isOptional || hasCondition(node.directives);
    if (node.kind === Kind.FIELD) addField(node, parent, mayLack, groups);
    else {
      const inner = getFragment(node, parent, document);
      if (inner !== undefined && holds(inner.parent, type, document.schema))
        collect({ ...inner, isOptional: mayLack }, type, document, groups);
    }
  }
}

function addField(
  node: FieldNode,
  parent: GraphQLCompositeType,
  isOptional: boolean,
  groups: Map<string, FieldGroup>,
): void {
  const key = (node.alias ?? node.name).value;
  const group = groups.get(key);
  if (group !== undefined) {
    group.nodes.push(node);
    group.isOptional &&= isOptional;
    return;
  }
  const fields = "getFields" in parent ? parent.getFields() : {};
  const type = Object.hasOwn(fields, node.name.value) ? fields[node.name.value]?.type : undefined;
  groups.set(key, { nodes: [node], type, isOptional });
}

type FragmentNode = Exclude<SelectionSetNode["selections"][number], FieldNode>;

/** The selection of a fragment, and the type that it is of. */
function getFragment(
  node: FragmentNode,
  parent: GraphQLCompositeType,
  { schema, fragments }: Document,
): Pick<TypedSelection, "set" | "parent"> | undefined {
  const fragment = node.kind === Kind.FRAGMENT_SPREAD ? fragments.get(node.name.value) : node;
  if (fragment === undefined) return undefined;
  const { typeCondition, selectionSet: set } = fragment;
  if (typeCondition === undefined) return { set, parent };
  const type = schema.getType(typeCondition.name.value);
  return isCompositeType(type) ? { set, parent: type } : undefined;
}

function holds(condition: GraphQLCompositeType, type: GraphQLObjectType, schema: GraphQLSchema): boolean {
  return condition === type || (isAbstractType(condition) && schema.isSubType(condition, type));
}

/** `@include` and `@skip`. */
function hasCondition(directives: readonly DirectiveNode[] | undefined): boolean {
  return directives?.some(({ name }) => name.value === "include" || name.value === "skip") ?? false;
}

/** Lists the types that fragments of selections name, without those of inner fields. */
export function listConditions(selections: readonly TypedSelection[], fragments: Fragments): readonly string[] {
  const names = new Set<string>();
  const visited = new Set<string>();
  const visit = ({ selections: nodes }: SelectionSetNode): void => {
    for (const node of nodes) {
      if (node.kind === Kind.FIELD) continue;
      if (node.kind === Kind.FRAGMENT_SPREAD) {
        if (visited.has(node.name.value)) continue;
        visited.add(node.name.value);
      }
      const fragment = node.kind === Kind.FRAGMENT_SPREAD ? fragments.get(node.name.value) : node;
      if (fragment === undefined) continue;
      if (fragment.typeCondition !== undefined) names.add(fragment.typeCondition.name.value);
      visit(fragment.selectionSet);
    }
  };
  for (const { set } of selections) visit(set);
  return [...names];
}
