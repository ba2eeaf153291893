import { type DocumentNode, type GraphQLSchema, Kind, type OperationDefinitionNode } from "graphql";

import type { QueryProblem } from "../../../../model/skill.ts";
import { formatList } from "../../../../shared/format-text.ts";
import type { QueryKind } from "./checked-document.ts";
import { createProblem } from "./parse-text.ts";
import { getNameRange, getRange } from "./ranges.ts";

/** The names of operations that a message repeats. */
const MAX_NAMES = 5;

/** Finds the operation of a text: it has one, of the kind that its method sends. */
export function findOperation(
  { definitions }: DocumentNode,
  kind: QueryKind,
  schema: GraphQLSchema,
): { readonly operation: OperationDefinitionNode } | { readonly problem: QueryProblem } {
  const operations = definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION);
  const [operation, second] = operations;
  if (operation === undefined)
    return { problem: createProblem(`The text has no operation; write ${kind} { … } beside its fragments`, [0, 0]) };
  if (second !== undefined) {
    const names = formatList(operations.map(formatName), MAX_NAMES);
    const message = `The text has ${operations.length} operations (${names}), and a call sends one; write a call for each`;
    return { problem: createProblem(message, getNameRange(second)) };
  }
  const message = describeKind(operation, kind, schema);
  return message === undefined ? { operation } : { problem: createProblem(message, getKeywordRange(operation)) };
}

/** The name of an operation, or its beginning. */
function formatName({ name, selectionSet: { selections } }: OperationDefinitionNode): string {
  const [first] = selections;
  return name?.value ?? (first?.kind === Kind.FIELD ? `{ ${first.name.value} … }` : "{ … }");
}

function describeKind(operation: OperationDefinitionNode, kind: QueryKind, schema: GraphQLSchema): string | undefined {
  const written: string = operation.operation;
  if (written === "subscription")
    return "A call has one answer, so a subscription cannot be sent; write a query, and call it again for later values";
  if (written !== kind) return `This is a ${written}: call ${getMethodName(written)}, not ${getMethodName(kind)}`;
  return schema.getRootType(operation.operation) == null ? `The API has no type for a ${kind}` : undefined;
}

function getMethodName(kind: string): string {
  return kind === "mutation" ? "mutate" : "query";
}

/** The word `query` or `mutation`; the first bracket of the short form. */
function getKeywordRange(operation: OperationDefinitionNode): readonly [number, number] {
  const [start, end] = getRange(operation);
  const { startToken } = operation.loc ?? {};
  return startToken === undefined ? [start, end] : [startToken.start, startToken.end];
}
