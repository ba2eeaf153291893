import type { AnyNode } from "acorn";
import { type CheckContext, getParent } from "../context.ts";

/** Does nothing. What matters is that the engine notes where it stands. */
const POSITION_MARKER = "0+0";

/** In these there may be another statement before one. The word `export` is gone by then. */
const LISTS: ReadonlySet<string> = new Set([
  "Program",
  "BlockStatement",
  "StaticBlock",
  "SwitchCase",
  "ExportNamedDeclaration",
]);

/**
 * Writes a mark before what takes values apart, as in `const { a } = value` and `for (const [key] of list)`. The engine
 * compiles that part first and notes no place for it: an error there would be told of the statement before.
 */
export function markDestructuring(context: CheckContext): void {
  const { report } = context;
  for (const node of context.scopes.parents.keys()) {
    if (node.type === "AssignmentExpression" && isPattern(node.left)) {
      if (getParent(node, context)?.type === "ExpressionStatement") report.wrap(node, `(${POSITION_MARKER},`, ")");
    } else if (isDestructuring(node)) {
      const statement = withLabels(node, context);
      const { start } = statement;
      const isInList = LISTS.has(getParent(statement, context)?.type ?? "Program");
      if (isInList) report.wrap({ start, end: start }, `${POSITION_MARKER};`, "");
    }
  }
}

/** True for a declaration, and for a loop whose variable is one, with a pattern. */
function isDestructuring(node: AnyNode): boolean {
  if (node.type === "VariableDeclaration")
    return node.declarations.some(({ id, init }) => init != null && isPattern(id));
  if (node.type !== "ForOfStatement") return false;
  const { left } = node;
  return isPattern(left.type === "VariableDeclaration" ? left.declarations[0]?.id : left);
}

function isPattern(node: AnyNode | undefined): boolean {
  return node?.type === "ObjectPattern" || node?.type === "ArrayPattern";
}

function withLabels(node: AnyNode, context: CheckContext): AnyNode {
  const parent = getParent(node, context);
  return parent?.type === "LabeledStatement" ? withLabels(parent, context) : node;
}
