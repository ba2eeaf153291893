import ts from "typescript";

import type { EvidenceNode, Evidence } from "../findings.ts";
import type { TypedProgram } from "../typed-program.ts";
import { findMutatedVariables } from "./mutations.ts";
import { bare, isAccess, isAssignmentOperator, isInlineFunction, getResults } from "../syntax.ts";

/** Methods whose results, or the first parameter of whose callbacks, may hold more than their types know. */
const MIXING: ReadonlySet<string> = new Set("concat with toSpliced fill splice reduce reduceRight".split(" "));

/**
 * Whether the compiler is right about the type of a value, also in a snippet that breaks its rules: where the value comes
 * from literals, operators, methods of `device` and builtins, on a way that can be followed.
 */
export class CertaintyAnalysis {
  readonly #typed: TypedProgram;
  readonly #unsteady: ReadonlySet<ts.Symbol>;
  /** A value that depends on itself is not trusted. */
  readonly #known = new Map<ts.Node, boolean>();

  constructor(typed: TypedProgram) {
    this.#typed = typed;
    this.#unsteady = findMutatedVariables(typed);
  }

  /** Whether everything is as it seems. */
  holds({ trusted, kept }: Evidence): boolean {
    return kept.every((name) => this.#isKept(name)) && trusted.every((ground) => this.#trusts(ground));
  }

  #trusts(ground: EvidenceNode): boolean {
    const known = this.#known.get(ground);
    if (known !== undefined) return known;
    this.#known.set(ground, false);
    const isTrusted =
      ts.isObjectBindingPattern(ground) || ts.isArrayBindingPattern(ground)
        ? this.#trustsPattern(ground)
        : this.#trustsValue(bare(ground));
    this.#known.set(ground, isTrusted);
    return isTrusted;
  }

  #isKept(name: ts.Identifier): boolean {
    const symbol = this.#typed.findSymbol(name);
    return symbol !== undefined && symbol.declarations?.length === 1 && !this.#unsteady.has(symbol);
  }

  #trustsAll(values: readonly (ts.Expression | undefined)[]): boolean {
    return values.every((value) => value === undefined || this.#trusts(value));
  }

  #trustsValue(node: ts.Expression): boolean {
    if (ts.isAwaitExpression(node) || ts.isSatisfiesExpression(node) || ts.isSpreadElement(node))
      return this.#trusts(node.expression);
    if (ts.isIdentifier(node)) return this.#trustsName(node);
    if (isAccess(node)) return this.#trusts(node.expression);
    if (ts.isCallExpression(node)) return this.#trustsCall(node);
    if (ts.isBinaryExpression(node)) return this.#trustsOperation(node);
    if (ts.isConditionalExpression(node)) return this.#trustsAll([node.whenTrue, node.whenFalse]);
    if (ts.isArrayLiteralExpression(node)) return this.#trustsAll(node.elements);
    if (ts.isObjectLiteralExpression(node)) return node.properties.every((property) => this.#trustsProperty(property));
    if (isInlineFunction(node)) return this.#trustsAll(getResults(node));
    return ALWAYS_TRUSTED.has(node.kind);
  }

  #trustsProperty(property: ts.ObjectLiteralElementLike): boolean {
    if (ts.isPropertyAssignment(property)) return this.#trusts(property.initializer);
    if (ts.isShorthandPropertyAssignment(property)) return this.#trusts(property.name);
    return ts.isSpreadAssignment(property) && this.#trusts(property.expression);
  }

  /** `"" + x` is a text whatever x is; what other operators than these give does not depend on types. */
  #trustsOperation({ left, right, operatorToken: { kind } }: ts.BinaryExpression): boolean {
    if (CHOOSING.has(kind)) return this.#trustsAll([left, right]);
    if (kind === ts.SyntaxKind.CommaToken || kind === ts.SyntaxKind.EqualsToken) return this.#trusts(right);
    if (kind !== ts.SyntaxKind.PlusToken) return !isAssignmentOperator(kind);
    return this.#trustsAll([left, right]) || [left, right].some((side) => this.#isText(side) && this.#trusts(side));
  }

  #isText(node: ts.Expression): boolean {
    return (this.#typed.getType(node).flags & ts.TypeFlags.StringLike) !== 0;
  }

  #trustsName(name: ts.Identifier): boolean {
    const symbol = this.#typed.findSymbol(name);
    const [declaration] = symbol?.declarations ?? [];
    if (declaration === undefined) return name.text === "undefined";
    if (this.#typed.getOrigin(declaration) !== "snippet") return true;
    if (!this.#isKept(name)) return false;
    if (ts.isVariableDeclaration(declaration)) return this.#trustsVariable(declaration);
    if (ts.isParameter(declaration)) return this.#trustsParameter(declaration);
    if (!ts.isBindingElement(declaration)) return false;
    return this.#trusts(declaration.parent) && this.#trustsAll([declaration.initializer]);
  }

  #trustsPattern({ parent }: ts.BindingPattern): boolean {
    if (ts.isVariableDeclaration(parent)) return this.#trustsVariable(parent);
    if (ts.isParameter(parent)) return this.#trustsParameter(parent);
    return this.#trusts(parent.parent) && this.#trustsAll([parent.initializer]);
  }

  #trustsVariable({ type, initializer, parent }: ts.VariableDeclaration): boolean {
    if (type !== undefined) return false;
    if (initializer !== undefined) return this.#trusts(initializer);
    const list = parent.parent;
    return ts.isForInStatement(list) || (ts.isForOfStatement(list) && this.#trusts(list.expression));
  }

  /** Whether the type of a callback's parameter is certain, for callbacks of builtins such as `map` or `then`. */
  #trustsParameter({ type, initializer, parent: func, dotDotDotToken }: ts.ParameterDeclaration): boolean {
    const call = func.parent;
    if (type ?? initializer ?? dotDotDotToken) return false;
    if (!isInlineFunction(func) || !ts.isCallExpression(call) || !isAccess(call.expression)) return false;
    const others = call.arguments.filter((argument) => !isInlineFunction(argument));
    const declaration = this.#typed.findDeclaration(call);
    if (this.#typed.getOrigin(declaration) !== "builtin" || !this.#trustsAll(others)) return false;
    const isSum = ts.isPropertyAccessExpression(call.expression) && MIXING.has(call.expression.name.text);
    return this.#trusts(call.expression.expression) && !(isSum && others.length > 0);
  }

  #trustsCall(call: ts.CallExpression): boolean {
    const declaration = this.#typed.findDeclaration(call);
    if (declaration === undefined || call.typeArguments !== undefined) return false;
    switch (this.#typed.getOrigin(declaration)) {
      case "device":
        return this.#trusts(call.expression);
      case "builtin":
        return this.#trustsBuiltin(call, declaration);
      case "snippet":
        return this.#trustsOwn(call, declaration);
    }
  }

  #trustsBuiltin({ expression, arguments: given }: ts.CallExpression, declaration: ts.SignatureDeclaration): boolean {
    if (ts.isPropertyAccessExpression(expression) && MIXING.has(expression.name.text)) return false;
    const dependsOnArguments = declaration.typeParameters !== undefined;
    const isReached = isAccess(expression) ? this.#trusts(expression.expression) : this.#trusts(expression);
    return isReached && (!dependsOnArguments || this.#trustsAll(given));
  }

  #trustsOwn({ expression }: ts.CallExpression, declaration: ts.SignatureDeclaration): boolean {
    const callee = bare(expression);
    const symbol = ts.isIdentifier(callee) ? this.#typed.findSymbol(callee) : undefined;
    const isKnown = symbol === undefined ? isInlineFunction(callee) : !this.#unsteady.has(symbol);
    const isPlain = ts.isFunctionDeclaration(declaration) || isInlineFunction(declaration);
    if (!isKnown || !isPlain || declaration.type !== undefined || declaration.asteriskToken !== undefined) return false;
    return this.#trustsAll(getResults(declaration));
  }
}

/** Operators that give one of their sides. */
const CHOOSING: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
]);

/** Nodes with a type that is always certain. */
const ALWAYS_TRUSTED: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.StringLiteral,
  ts.SyntaxKind.NumericLiteral,
  ts.SyntaxKind.NoSubstitutionTemplateLiteral,
  ts.SyntaxKind.TemplateExpression,
  ts.SyntaxKind.TrueKeyword,
  ts.SyntaxKind.FalseKeyword,
  ts.SyntaxKind.NullKeyword,
  ts.SyntaxKind.OmittedExpression,
  ts.SyntaxKind.PrefixUnaryExpression,
  ts.SyntaxKind.PostfixUnaryExpression,
  ts.SyntaxKind.TypeOfExpression,
  ts.SyntaxKind.VoidExpression,
  ts.SyntaxKind.DeleteExpression,
]);
