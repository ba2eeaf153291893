import {
  type FieldNode,
  getNamedType,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  isAbstractType,
  isCompositeType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from "graphql";

import type { QueryProblem } from "../../../../model/skill.ts";
import { collectFields } from "./collect-fields.ts";
import type { Fragments } from "./measure-selection.ts";
import { createProblem } from "./parse-text.ts";
import { getNameRange } from "./ranges.ts";

/** Lists the names of the root fields, one for each key of the answer, without those of introspection. */
export function listRootFields(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: Fragments,
): readonly string[] {
  const root = schema.getRootType(operation.operation);
  if (root == null) return [];
  const selection = { set: operation.selectionSet, parent: root, isOptional: false };
  const groups = collectFields([selection], root, { schema, fragments });
  const names = [...groups.values()].flatMap(({ nodes }) => [...new Set(nodes.map(({ name }) => name.value))]);
  return names.filter((name) => !name.startsWith("__"));
}

interface InnerFields {
  /** Those of the type of the operation. */
  readonly fields: readonly string[];
  /** Those of the type of queries, in a mutation. */
  readonly queryFields: readonly string[];
}

/**
 * Lists the root fields that a text selects below its root, each as often as it is selected: the type of queries is also that of a
 * field of some APIs (`relay` of GitHub, `query` in the results of PostGraphile). The text has no mistakes.
 */
export function listInnerFields(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: Fragments,
): InnerFields | { readonly problem: QueryProblem } {
  const own = schema.getRootType(operation.operation);
  const query = schema.getQueryType();
  const mutation = schema.getMutationType();
  const fields: string[] = [];
  const queryFields: string[] = [];
  let problem: QueryProblem | undefined;
  const visit = ({ selections }: SelectionSetNode, parent: GraphQLCompositeType, isInner: boolean): void => {
    for (const node of selections) {
      if (node.kind !== Kind.FIELD) {
        const fragment = node.kind === Kind.FRAGMENT_SPREAD ? fragments.get(node.name.value) : node;
        const condition = fragment?.typeCondition && schema.getType(fragment.typeCondition.name.value);
        if (fragment !== undefined)
          visit(fragment.selectionSet, isCompositeType(condition) ? condition : parent, isInner);
        continue;
      }
      const field = findField(parent, node);
      if (isInner && field !== undefined) {
        const reaches = (root: GraphQLObjectType | null | undefined): boolean =>
          root != null && mayBelongTo(field, parent, root, schema);
        if (reaches(own)) fields.push(node.name.value);
        else if (reaches(query)) queryFields.push(node.name.value);
        else if (reaches(mutation)) problem ??= refuseMutation(node);
      }
      const type = field && getNamedType(field.type);
      if (node.selectionSet !== undefined && isCompositeType(type)) visit(node.selectionSet, type, true);
    }
  };
  if (own != null) visit(operation.selectionSet, own, false);
  return problem === undefined ? { fields, queryFields } : { problem };
}

type AnyField = GraphQLField<unknown, unknown>;

function findField(parent: GraphQLCompositeType, node: FieldNode): AnyField | undefined {
  const fields = "getFields" in parent ? parent.getFields() : {};
  return Object.hasOwn(fields, node.name.value) ? fields[node.name.value] : undefined;
}

/** True if a selected field may be one of a root type. The values that each object has, such as `id` of `Node`, are not. */
function mayBelongTo(
  { args, type }: AnyField,
  parent: GraphQLCompositeType,
  root: GraphQLObjectType,
  schema: GraphQLSchema,
): boolean {
  if (parent === root) return true;
  if (!isAbstractType(parent) || !schema.isSubType(parent, root)) return false;
  return args.length > 0 || isCompositeType(getNamedType(type));
}

function refuseMutation(node: FieldNode): QueryProblem {
  const message = `"${node.name.value}" is a root field of mutations, and a query cannot contain it`;
  return createProblem(`${message}; write it as the root field of a mutation`, getNameRange(node));
}
