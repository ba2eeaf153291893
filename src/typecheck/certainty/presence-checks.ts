import ts from "typescript";

import { forEachNode, isAccess, getMember, wrapped } from "../syntax.ts";

/** The names of members of which a program asks somewhere whether they are there. */
export function findTestedNames(file: ts.SourceFile): ReadonlySet<string> {
  const names = new Set<string>();
  forEachNode(file, (node) => {
    if (isAccess(node) && isTested(node)) names.add(getMember(node)?.name ?? "");
    const isIn = ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.InKeyword;
    if (isIn && ts.isStringLiteralLike(node.left)) names.add(node.left.text);
    if (ts.isCallExpression(node)) for (const name of namesAskedFor(node)) names.add(name);
  });
  return names;
}

/** True where only matters whether the value is there, or where another takes its place if it is not. */
function isTested(node: ts.Node): boolean {
  const outer = wrapped(node);
  const { parent } = outer;
  if (ts.isBinaryExpression(parent)) return isTestedBy(parent, outer);
  if (ts.isPrefixUnaryExpression(parent)) return parent.operator === ts.SyntaxKind.ExclamationToken;
  if (ts.isConditionalExpression(parent)) return parent.condition === outer;
  if (ts.isForStatement(parent)) return parent.condition === outer;
  if (isAccess(parent) || ts.isCallExpression(parent)) {
    return (parent.questionDotToken !== undefined && parent.expression === outer) || isTestArgument(parent, outer);
  }
  return (
    ts.isTypeOfExpression(parent) || ts.isIfStatement(parent) || ts.isWhileStatement(parent) || ts.isDoStatement(parent)
  );
}

function isTestedBy({ left, right, operatorToken: { kind } }: ts.BinaryExpression, node: ts.Node): boolean {
  if (ALTERNATIVES.has(kind)) return true;
  if (COMPARISONS.has(kind)) return isNothing(left === node ? right : left);
  if (kind === ts.SyntaxKind.AmpersandAmpersandToken) return left === node || isTested(left.parent);
  return kind === ts.SyntaxKind.InstanceOfKeyword && left === node;
}

const ALTERNATIVES: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.QuestionQuestionToken,
  ts.SyntaxKind.BarBarToken,
]);

const COMPARISONS: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.EqualsEqualsToken,
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
]);

function isNothing(node: ts.Expression): boolean {
  return (
    node.kind === ts.SyntaxKind.NullKeyword ||
    ts.isVoidExpression(node) ||
    (ts.isIdentifier(node) && node.text === "undefined")
  );
}

/** Functions that are called to find out what a value is. */
const TESTS: ReadonlySet<string> = new Set([
  "Array.isArray",
  "Boolean",
  "isNaN",
  "Number.isFinite",
  "Number.isInteger",
]);

function isTestArgument(parent: ts.Node, node: ts.Node): boolean {
  return ts.isCallExpression(parent) && parent.expression !== node && TESTS.has(parent.expression.getText());
}

/** `Object.hasOwn(object, "name")`, `object.hasOwnProperty("name")`. */
function namesAskedFor({ expression, arguments: args }: ts.CallExpression): readonly string[] {
  const asks = ts.isPropertyAccessExpression(expression) && /^hasOwn(?:Property)?$/.test(expression.name.text);
  return asks ? args.flatMap((argument) => (ts.isStringLiteralLike(argument) ? [argument.text] : [])) : [];
}
