import ts from "typescript";

import type { Evidence, EvidenceNode } from "../findings.ts";
import { bare, getMember, getResults, isAccess, isAssignmentOperator, isInlineFunction } from "../syntax.ts";
import type { TypedProgram } from "../typed-program.ts";
import { type ProgramChanges, findChanges } from "./changes.ts";

/** Methods whose results, or the first parameter of whose callbacks, may hold more than their types know. */
const MIXING: ReadonlySet<string> = new Set("concat with toSpliced fill splice reduce reduceRight".split(" "));

/**
 * Tells findings that certainly hold from guesses. JavaScript may change values against their types, so the only types that
 * count are those of literals and of results of `device`, read through constants, functions and builtins, in a program that
 * does not change the members in question.
 */
export class CertaintyAnalysis {
  readonly #typed: TypedProgram;
  readonly #changes: ProgramChanges;
  /** A value that depends on itself is not trusted. */
  readonly #results = new Map<ts.Node, boolean>();

  constructor(typed: TypedProgram) {
    this.#typed = typed;
    this.#changes = findChanges(typed);
  }

  holds({ trusted, constants, missing }: Evidence): boolean {
    const { isUnclear, members } = this.#changes;
    if (isUnclear || this.#isWritten(missing) || (constants.length > 0 && members.size > 0)) return false;
    return constants.every((name) => this.#isConstant(name)) && this.#trustsAll(trusted);
  }

  #isConstant(name: ts.Identifier): boolean {
    const symbol = this.#typed.findSymbol(name);
    return symbol?.declarations?.length === 1 && !this.#changes.variables.has(symbol);
  }

  #isWritten(member: string | undefined): boolean {
    return member !== undefined && this.#changes.members.has(member);
  }

  #trustsAll(nodes: readonly (EvidenceNode | undefined)[]): boolean {
    return nodes.every((node) => node === undefined || this.#trusts(node));
  }

  #trusts(node: EvidenceNode): boolean {
    const cached = this.#results.get(node);
    if (cached !== undefined) return cached;
    this.#results.set(node, false);
    const isPattern = ts.isObjectBindingPattern(node) || ts.isArrayBindingPattern(node);
    const isTrusted = isPattern ? this.#trustsDeclaration(node.parent) : this.#trustsValue(bare(node));
    this.#results.set(node, isTrusted);
    return isTrusted;
  }

  #trustsValue(node: ts.Expression): boolean {
    if (ts.isAwaitExpression(node)) return this.#trusts(node.expression);
    if (ts.isIdentifier(node)) return this.#trustsName(node);
    if (isAccess(node)) return !this.#isWritten(getMember(node)?.name) && this.#trusts(node.expression);
    if (ts.isCallExpression(node)) return this.#trustsCall(node);
    if (ts.isArrayLiteralExpression(node)) return this.#trustsAll(node.elements);
    if (isInlineFunction(node)) return this.#trustsAll(getResults(node));
    return isArithmetic(node) || ALWAYS_TRUSTED.has(node.kind);
  }

  #trustsName(name: ts.Identifier): boolean {
    const [declaration] = this.#typed.findSymbol(name)?.declarations ?? [];
    if (declaration === undefined) return name.text === "undefined";
    if (this.#typed.getOrigin(declaration) !== "program") return true;
    return this.#isConstant(name) && this.#trustsDeclaration(declaration);
  }

  #trustsDeclaration(node: ts.Node): boolean {
    if (ts.isBindingElement(node)) {
      const member = node.propertyName ?? node.name;
      const isWritten = ts.isIdentifier(member) && this.#isWritten(member.text);
      return !isWritten && node.initializer === undefined && this.#trusts(node.parent);
    }
    if (ts.isParameter(node)) return this.#trustsParameter(node);
    if (!ts.isVariableDeclaration(node) || node.type !== undefined) return false;
    const loop = node.parent.parent;
    if (node.initializer !== undefined) return this.#trusts(node.initializer);
    return ts.isForOfStatement(loop) && this.#trusts(loop.expression);
  }

  /** Trusts a parameter of a function that is handed to a builtin, such as `map` or `then`. */
  #trustsParameter({ type, initializer, dotDotDotToken, parent: func }: ts.ParameterDeclaration): boolean {
    const call = func.parent;
    if (type ?? initializer ?? dotDotDotToken) return false;
    if (!isInlineFunction(func) || !ts.isCallExpression(call) || !isAccess(call.expression)) return false;
    const isBuiltin = this.#typed.getOrigin(this.#typed.findDeclaration(call)) === "builtin";
    return isBuiltin && !isMixing(call.expression) && this.#trusts(call.expression.expression);
  }

  #trustsCall(call: ts.CallExpression): boolean {
    const declaration = this.#typed.findDeclaration(call);
    const callee = bare(call.expression);
    if (declaration === undefined || call.typeArguments !== undefined || isMixing(callee)) return false;
    const origin = this.#typed.getOrigin(declaration);
    if (origin === "device") return this.#trusts(callee);
    if (origin === "program") return this.#trustsOwn(callee, declaration);
    const depending = declaration.typeParameters === undefined ? [] : call.arguments;
    return this.#trustsAll([isAccess(callee) ? callee.expression : callee, ...depending]);
  }

  /** Trusts a function of the program whose results are all trusted. */
  #trustsOwn(callee: ts.Expression, declaration: ts.SignatureDeclaration): boolean {
    const isFixed = ts.isIdentifier(callee) ? this.#isConstant(callee) : isInlineFunction(callee);
    const isPlain = ts.isFunctionDeclaration(declaration) || isInlineFunction(declaration);
    if (!isFixed || !isPlain || declaration.type !== undefined || declaration.asteriskToken !== undefined) return false;
    return this.#trustsAll(getResults(declaration));
  }
}

function isMixing(callee: ts.Expression): boolean {
  return isAccess(callee) && MIXING.has(getMember(callee)?.name ?? "");
}

/** True for an operator that always gives a value of the same type. */
function isArithmetic(node: ts.Expression): boolean {
  if (!ts.isBinaryExpression(node)) return false;
  const { kind } = node.operatorToken;
  return !VALUE_OPERATORS.has(kind) && !isAssignmentOperator(kind);
}

/** Operators whose result has the type of an operand. */
const VALUE_OPERATORS: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.PlusToken,
  ts.SyntaxKind.CommaToken,
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
]);

/** Literals, and operators whose result has one type whatever their operand is. */
const ALWAYS_TRUSTED: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.StringLiteral,
  ts.SyntaxKind.NumericLiteral,
  ts.SyntaxKind.NoSubstitutionTemplateLiteral,
  ts.SyntaxKind.TemplateExpression,
  ts.SyntaxKind.TrueKeyword,
  ts.SyntaxKind.FalseKeyword,
  ts.SyntaxKind.NullKeyword,
  ts.SyntaxKind.PrefixUnaryExpression,
  ts.SyntaxKind.TypeOfExpression,
]);
