import type { AnyNode } from "acorn";
import { type CheckContext, getParent } from "../context.ts";

/** An expression without effect; the engine records its position. */
const POSITION_MARKER = "0+0";

/** Parents that hold a list of statements. `export` is already removed. */
const LISTS: ReadonlySet<string> = new Set([
  "Program",
  "BlockStatement",
  "StaticBlock",
  "SwitchCase",
  "ExportNamedDeclaration",
]);

/** Writes markers where the engine would give an error the position of another statement. */
export function markPositions(context: CheckContext): void {
  markDestructuring(context);
  markConstantWrites(context);
}

/**
 * Writes a marker before destructuring, as in `const { a } = value` and `for (const [key] of list)`. The engine compiles the
 * pattern first and records no position for it: an error there would have the position of the previous statement.
 */
function markDestructuring(context: CheckContext): void {
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

/**
 * Writes a marker and a condition before statements that assign to a constant, and so always throw: the engine gives the
 * error the position of the last code before the next branch, which it never reaches.
 */
function markConstantWrites({ scopes, report }: CheckContext): void {
  for (const { kind, writes } of scopes.bindings) {
    if (kind !== "const") continue;
    for (const name of writes) {
      const write = scopes.parents.get(name);
      if (write !== undefined && scopes.parents.get(write)?.type === "ExpressionStatement")
        report.wrap(write, `${POSITION_MARKER}||(`, ")");
    }
  }
}

/** True for a declaration with a pattern, and for a `for of` loop over a pattern. */
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
