import type { JsonSchema } from "../../../model/json.ts";
import { literalValue } from "./literals.ts";
import { type Reader, type Scope, scopeOf } from "./reader.ts";
import { nameOf, nodeAt, type SyntaxNode } from "./syntax.ts";
import { schemaOfValue } from "./unions.ts";

/** `typeof UNITS`: what a constant is, as far as it is written out. */
export function typeOfValue(node: SyntaxNode, scope: Scope, reader: Reader): JsonSchema {
  const found = reader.files.find(scope.names, nameOf(nodeAt(node, "exprName")) ?? "");
  if (found.kind === "value" && found.node.type === "VariableDeclarator") {
    const annotation = nodeAt(nodeAt(found.node, "id"), "typeAnnotation");
    if (annotation !== undefined) return reader.type(annotation, scopeOf(found.names));
    const init = nodeAt(found.node, "init");
    const value = literalValue(init, found.names, reader.files);
    if (value !== undefined) return schemaOfValue(value, isConstant(init));
  }
  return reader.unreadable(node, scope, "its value is only known when the skill runs");
}

/** `… as const`, also with `satisfies` around it. */
function isConstant(init: SyntaxNode | undefined): boolean {
  if (init?.type === "TSSatisfiesExpression") return isConstant(nodeAt(init, "expression"));
  return init?.type === "TSAsExpression" && nameOf(nodeAt(nodeAt(init, "typeAnnotation"), "typeName")) === "const";
}
