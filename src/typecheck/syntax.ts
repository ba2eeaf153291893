import ts from "typescript";

/** An expression without parentheses and `!`, which change nothing. */
export function bare(node: ts.Expression): ts.Expression {
  let inner = node;
  while (ts.isParenthesizedExpression(inner) || ts.isNonNullExpression(inner)) inner = inner.expression;
  return inner;
}

/** The outermost expression that is the same value: the node in its parentheses. */
export function wrapped(node: ts.Node): ts.Node {
  let outer = node;
  while (ts.isParenthesizedExpression(outer.parent) || ts.isNonNullExpression(outer.parent)) outer = outer.parent;
  return outer;
}

export function forEachNode(root: ts.Node, visit: (node: ts.Node) => void): void {
  visit(root);
  ts.forEachChild(root, (child) => forEachNode(child, visit));
}

/** A function that stands where it is used. */
export function isInlineFunction(node: ts.Node): node is ts.ArrowFunction | ts.FunctionExpression {
  return ts.isArrowFunction(node) || ts.isFunctionExpression(node);
}

export type Access = ts.PropertyAccessExpression | ts.ElementAccessExpression;

export function isAccess(node: ts.Node): node is Access {
  return ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node);
}

/** The name of the member that is accessed, and where it stands; `undefined` where only a run can tell. */
export function getMember(access: Access): { readonly name: string; readonly node: ts.Node } | undefined {
  if (ts.isPropertyAccessExpression(access)) {
    const { name } = access;
    return ts.isIdentifier(name) ? { name: name.text, node: name } : undefined;
  }
  const key = access.argumentExpression;
  return ts.isStringLiteralLike(key) ? { name: key.text, node: key } : undefined;
}

export function isAssignment(node: ts.Node): node is ts.BinaryExpression {
  return ts.isBinaryExpression(node) && isAssignmentOperator(node.operatorToken.kind);
}

export function isAssignmentOperator(kind: ts.SyntaxKind): boolean {
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
}

/** True where something is put in the place of the node, or taken away. */
export function isWritten(node: ts.Node): boolean {
  const outer = wrapped(node);
  const { parent } = outer;
  if (isAssignment(parent)) return parent.left === outer;
  if (ts.isDeleteExpression(parent)) return true;
  if (ts.isPrefixUnaryExpression(parent) || ts.isPostfixUnaryExpression(parent)) return isStep(parent);
  return isInPattern(outer);
}

/** `++` and `--`. */
export function isStep(node: ts.PrefixUnaryExpression | ts.PostfixUnaryExpression): boolean {
  return node.operator === ts.SyntaxKind.PlusPlusToken || node.operator === ts.SyntaxKind.MinusMinusToken;
}

/** True for `x.a` in `[x.a] = list`, `({ a: x.a } = object)` and `for (x.a of list)`. */
function isInPattern(node: ts.Node): boolean {
  let at = node;
  for (;;) {
    const { parent } = at;
    if (ts.isForOfStatement(parent) || ts.isForInStatement(parent)) return parent.initializer === at;
    if (isAssignment(parent)) return parent.left === at;
    if (ts.isPropertyAssignment(parent) && parent.initializer === at) at = parent.parent;
    else if (ts.isArrayLiteralExpression(parent) || ts.isSpreadElement(parent) || ts.isSpreadAssignment(parent))
      at = parent;
    else if (ts.isObjectLiteralExpression(parent)) at = parent;
    else return false;
  }
}

/** The value that a function gives back where it is no more than one expression, or each that it returns. */
export function getResults(func: ts.FunctionLikeDeclaration): readonly (ts.Expression | undefined)[] {
  if (func.body === undefined) return [undefined];
  if (!ts.isBlock(func.body)) return [func.body];
  const results: (ts.Expression | undefined)[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isReturnStatement(node)) results.push(node.expression);
    else if (!ts.isFunctionLike(node)) ts.forEachChild(node, visit);
  };
  visit(func.body);
  return results;
}

/** The name of a member of an object in the text; `undefined` where only a run can tell. */
export function getKey(name: ts.PropertyName | undefined): string | undefined {
  if (name === undefined || ts.isPrivateIdentifier(name)) return undefined;
  if (!ts.isComputedPropertyName(name)) return name.text;
  return ts.isStringLiteralLike(name.expression) ? name.expression.text : undefined;
}

/** Returns the value of a property in an object literal. */
export function getValue(property: ts.ObjectLiteralElementLike): ts.Expression | undefined {
  if (ts.isPropertyAssignment(property)) return property.initializer;
  return ts.isShorthandPropertyAssignment(property) ? property.name : undefined;
}

/** An object in the text, also where a variable stands for it. */
export function findObjectLiteral(
  node: ts.Expression,
  checker: ts.TypeChecker,
): ts.ObjectLiteralExpression | undefined {
  const value = bare(node);
  if (!ts.isIdentifier(value)) return ts.isObjectLiteralExpression(value) ? value : undefined;
  const declaration = checker.getSymbolAtLocation(value)?.valueDeclaration;
  const initial =
    declaration && ts.isVariableDeclaration(declaration) && declaration.initializer && bare(declaration.initializer);
  return initial && ts.isObjectLiteralExpression(initial) ? initial : undefined;
}
