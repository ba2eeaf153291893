import type { AnyNode } from "acorn";
import { type Inspection, parentOf } from "./inspection.ts";

/** Does nothing. What matters is that the engine notes where it stands. */
const MARK = "0+0";

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
export function markPatterns(inspection: Inspection): void {
  const { report } = inspection;
  for (const node of inspection.scopes.parents.keys()) {
    if (node.type === "AssignmentExpression" && isPattern(node.left)) {
      if (parentOf(node, inspection)?.type === "ExpressionStatement") report.wrap(node, `(${MARK},`, ")");
    } else if (takesApart(node)) {
      const statement = withLabels(node, inspection);
      const { start } = statement;
      const isInList = LISTS.has(parentOf(statement, inspection)?.type ?? "Program");
      if (isInList) report.wrap({ start, end: start }, `${MARK};`, "");
    }
  }
}

/** True for a declaration, and for a loop whose variable is one, with a pattern. */
function takesApart(node: AnyNode): boolean {
  if (node.type === "VariableDeclaration")
    return node.declarations.some(({ id, init }) => init != null && isPattern(id));
  if (node.type !== "ForOfStatement") return false;
  const { left } = node;
  return isPattern(left.type === "VariableDeclaration" ? left.declarations[0]?.id : left);
}

function isPattern(node: AnyNode | undefined): boolean {
  return node?.type === "ObjectPattern" || node?.type === "ArrayPattern";
}

function withLabels(node: AnyNode, inspection: Inspection): AnyNode {
  const parent = parentOf(node, inspection);
  return parent?.type === "LabeledStatement" ? withLabels(parent, inspection) : node;
}
