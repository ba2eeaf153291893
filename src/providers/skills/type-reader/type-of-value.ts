import type { JsonSchema } from "../../../model/json.ts";
import { literalValue } from "./literals.ts";
import { type SchemaReader, type TypeScope, createScope } from "./reader.ts";
import { getName, nodeAt, type SyntaxNode } from "./syntax.ts";
import { valueToSchema } from "./unions.ts";

/** Reads `typeof UNITS`: the type of a constant with a literal value. */
export function readValueType(node: SyntaxNode, scope: TypeScope, reader: SchemaReader): JsonSchema {
  const found = reader.files.find(scope.names, getName(nodeAt(node, "exprName")) ?? "");
  if (found.kind === "value" && found.node.type === "VariableDeclarator") {
    const annotation = nodeAt(nodeAt(found.node, "id"), "typeAnnotation");
    if (annotation !== undefined) return reader.type(annotation, createScope(found.names));
    const init = nodeAt(found.node, "init");
    const value = literalValue(init, found.names, reader.files);
    if (value !== undefined) return valueToSchema(value, isConstant(init));
  }
  return reader.unreadable(node, scope, "its value is only known when the skill runs");
}

/** True for `… as const`, also with `satisfies` around it. */
function isConstant(init: SyntaxNode | undefined): boolean {
  if (init?.type === "TSSatisfiesExpression") return isConstant(nodeAt(init, "expression"));
  return init?.type === "TSAsExpression" && getName(nodeAt(nodeAt(init, "typeAnnotation"), "typeName")) === "const";
}
