import type { AnyNode, CallExpression } from "acorn";
import { bindArguments } from "../../model/arguments.ts";
import type { Method } from "../../model/catalog.ts";
import { UNKNOWN } from "../../model/plan.ts";
import type { CheckContext } from "../context.ts";
import { constantNode, literalValue } from "../ast/literals.ts";
import { literalName } from "../ast/walk.ts";
import type { MethodUse } from "./device.ts";

/** A text of a query language that a program writes, for the check by its API. */
export interface LiteralQuery {
  /** The call, as its index in the plan. */
  readonly site: number;
  readonly method: Method;
  readonly text: string;
  /** The values of its variables, with `UNKNOWN` in place of those that are known only at run time. */
  readonly variables: unknown;
  /** Offsets of the literal, and of the variables or else of the call, in the text of the program. */
  readonly literal: LiteralRange;
  readonly variablesRange: LiteralRange;
  /** The offset at which the text begins in the program; absent if the program writes it with escapes or in parts. */
  readonly textStart?: number;
}

interface LiteralRange {
  readonly start: number;
  readonly end: number;
}

/** Lists the texts that the calls of a program write as literals or constants. `uses` are in the order of the plan. */
export function listLiteralQueries(
  uses: readonly MethodUse[],
  argumentValues: ReadonlyMap<CallExpression, readonly unknown[] | undefined>,
  context: CheckContext,
): readonly LiteralQuery[] {
  return uses.flatMap(({ call, method }, site) => {
    const queryText = method?.definition.queryText;
    const values = call && argumentValues.get(call);
    if (queryText === undefined || method === undefined || call === undefined || values === undefined) return [];
    const binding = bindArguments(method, values);
    if (binding.kind === "unfit") return [];
    const text = binding.input[queryText.argument];
    if (typeof text !== "string") return [];
    const passed = binding.input[queryText.variables];
    const variables = passed ?? (binding.complete ? {} : UNKNOWN);
    const written = findArgument(queryText.argument, call, method);
    const node = written && (constantNode(written, context.scopes) ?? written);
    const start = node && findTextStart(node, text, context);
    return {
      site,
      method,
      text,
      variables,
      literal: node ?? call,
      variablesRange: findArgument(queryText.variables, call, method) ?? call,
      ...(start !== undefined && { textStart: start }),
    };
  });
}

/** The expression of an argument that is given by name or by position. */
function findArgument(name: string, call: CallExpression, { parameters }: Method): AnyNode | undefined {
  const last = call.arguments.at(-1);
  for (const property of last?.type === "ObjectExpression" ? last.properties : [])
    if (property.type === "Property" && literalName(property.key, property.computed) === name) return property.value;
  const byName = call.arguments.find(
    (each) => each.type === "AssignmentExpression" && each.left.type === "Identifier" && each.left.name === name,
  );
  if (byName?.type === "AssignmentExpression") return byName.right;
  const positional = call.arguments[parameters.findIndex((parameter) => parameter.name === name)];
  return positional?.type === "ObjectExpression" && name !== parameters[1]?.name ? undefined : positional;
}

/** The offset of the first character of a literal that stands in the program as it is. */
function findTextStart(node: AnyNode, text: string, { program, scopes }: CheckContext): number | undefined {
  if (literalValue(node, scopes) !== text) return undefined;
  return program.text.slice(node.start + 1, node.end - 1) === text ? node.start + 1 : undefined;
}
