import ts from "typescript";

import type { TypedProgram } from "../typed-program.ts";
import { forEachNode, isAccess, isAssignment, isInlineFunction, isStep, getMember, getResults } from "../syntax.ts";

/**
 * Finds the variables that are reassigned, or that hold an object that the snippet changes. The compiler does not follow such
 * changes if they violate its rules, and snippets may violate them.
 *
 * A change of a value may change every value that contains it: `for (const user of users) user.score = 1` makes `users`
 * unsteady as well. If unsure, a variable is unsteady.
 */
export function findMutatedVariables(typed: TypedProgram): ReadonlySet<ts.Symbol> {
  const changes = new MutationFinder(typed);
  forEachNode(typed.file, (node) => changes.look(node));
  return changes.followed();
}

/** Builtins that change what they are called on, or put their arguments where others can change them. */
const CHANGING: ReadonlySet<string> = new Set([
  ..."push unshift splice fill copyWithin add set append call apply bind".split(" "),
  ..."assign defineProperty defineProperties setPrototypeOf".split(" "),
]);

const { StringLike, NumberLike, BooleanLike, BigIntLike, Null, Undefined, Void } = ts.TypeFlags;
const UNCHANGEABLE = StringLike | NumberLike | BooleanLike | BigIntLike | Null | Undefined | Void;

class MutationFinder {
  readonly #typed: TypedProgram;
  readonly #changed = new Set<ts.Symbol>();
  /** The values that flow into a variable, or out of a function. */
  readonly #sources = new Map<ts.Symbol, ts.Node[]>();

  constructor(typed: TypedProgram) {
    this.#typed = typed;
  }

  look(node: ts.Node): void {
    if (ts.isVariableDeclaration(node)) this.#lookAtVariable(node);
    else if (ts.isParameter(node)) this.#lookAtParameter(node);
    else if (ts.isFunctionDeclaration(node) && node.name !== undefined) this.#flow(node.name, node);
    else if (isAssignment(node)) this.#lookAtAssignment(node);
    else if (ts.isDeleteExpression(node)) this.#change(node.expression);
    else if (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) this.#lookAtStep(node);
    else if (ts.isForOfStatement(node) || ts.isForInStatement(node)) this.#lookAtLoop(node);
    else if (ts.isCallExpression(node) || ts.isNewExpression(node)) this.#lookAtCall(node);
    else if (ts.isTaggedTemplateExpression(node)) this.#change(node.template);
    else if (ts.isYieldExpression(node) && node.expression !== undefined) this.#hand(node.expression);
  }

  /** The changed variables, and all those from which they got what they hold. */
  followed(): ReadonlySet<ts.Symbol> {
    const open = [...this.#changed];
    for (let symbol = open.pop(); symbol !== undefined; symbol = open.pop()) {
      for (const other of (this.#sources.get(symbol) ?? []).flatMap((source) => this.#variablesIn(source))) {
        if (this.#changed.has(other)) continue;
        this.#changed.add(other);
        open.push(other);
      }
      this.#sources.delete(symbol);
    }
    return this.#changed;
  }

  #lookAtVariable({ name, initializer, parent }: ts.VariableDeclaration): void {
    const list = parent.parent;
    const source = initializer ?? (ts.isForOfStatement(list) ? list.expression : undefined);
    if (source !== undefined) this.#flow(name, source);
  }

  /** A callback receives values of the object of the called function, or the other arguments. */
  #lookAtParameter({ name, parent: func }: ts.ParameterDeclaration): void {
    if (!isInlineFunction(func) || !ts.isCallExpression(func.parent)) return;
    const { expression, arguments: given } = func.parent;
    for (const source of [expression, ...given]) if (source !== func) this.#flow(name, source);
  }

  #lookAtAssignment({ left, right }: ts.BinaryExpression): void {
    this.#change(left);
    if (ts.isIdentifier(left)) this.#flow(left, right);
    else this.#hand(right);
  }

  /** A number remains one. */
  #lookAtStep(node: ts.PrefixUnaryExpression | ts.PostfixUnaryExpression): void {
    if (isStep(node) && !ts.isIdentifier(node.operand)) this.#change(node.operand);
  }

  #lookAtLoop({ initializer, expression }: ts.ForInOrOfStatement): void {
    if (ts.isVariableDeclarationList(initializer)) return;
    this.#change(initializer);
    this.#hand(expression);
  }

  #lookAtCall(node: ts.CallExpression | ts.NewExpression): void {
    const { expression: callee, arguments: given = [] } = node;
    const origin = this.#typed.getOrigin(this.#typed.findDeclaration(node));
    const changes = isAccess(callee) && CHANGING.has(getMember(callee)?.name ?? "");
    const isBuiltin = origin === "builtin" && (isAccess(callee) || !this.#isOwnName(callee));
    if (origin === "device" || (isBuiltin && !changes && !this.#passesOn(node))) return;
    for (const argument of given) this.#hand(argument);
    // An unknown method is not a method of a result: all members of a result are known.
    if (isAccess(callee) && (changes || !this.#isUnknown(callee.expression))) this.#change(callee.expression);
  }

  #isOwnName(callee: ts.Expression): boolean {
    const symbol = ts.isIdentifier(callee) ? this.#typed.findSymbol(callee) : undefined;
    return this.#typed.getOrigin(symbol?.valueDeclaration) === "snippet";
  }

  /** True if a builtin is handed a function of the snippet that is not written right there. */
  #passesOn(node: ts.CallExpression | ts.NewExpression): boolean {
    const parameters = this.#typed.checker.getResolvedSignature(node)?.parameters ?? [];
    return (node.arguments ?? []).some((argument, at) => {
      const type = this.#typed.getType(argument);
      const parameter = parameters[Math.min(at, parameters.length - 1)];
      if (isInlineFunction(argument) || parameter === undefined) return false;
      if (this.#isUnknown(argument))
        return this.#typed.checker.getTypeOfSymbol(parameter).getCallSignatures().length > 0;
      return type.getCallSignatures().some(({ declaration }) => this.#typed.getOrigin(declaration) === "snippet");
    });
  }

  #isUnknown(value: ts.Expression): boolean {
    return (this.#typed.getType(value).flags & ts.TypeFlags.Any) !== 0;
  }

  /** Puts a value where others may change it. */
  #hand(value: ts.Expression): void {
    if (isInlineFunction(value) || (this.#typed.getType(value).flags & UNCHANGEABLE) !== 0) return;
    this.#change(value);
  }

  #change(target: ts.Node): void {
    for (const symbol of this.#variablesIn(findRoot(target))) this.#changed.add(symbol);
  }

  #flow(name: ts.BindingName, source: ts.Node): void {
    const sources = ts.isFunctionDeclaration(source) || isInlineFunction(source) ? getResults(source) : [source];
    for (const symbol of this.#variablesIn(name)) {
      const known = this.#sources.get(symbol) ?? [];
      for (const each of sources) if (each !== undefined) known.push(each);
      this.#sources.set(symbol, known);
    }
  }

  /** The variables that are named in a part of the snippet. */
  #variablesIn(node: ts.Node): readonly ts.Symbol[] {
    const symbols: ts.Symbol[] = [];
    forEachNode(node, (each) => {
      const symbol = ts.isIdentifier(each) ? this.#typed.findSymbol(each) : undefined;
      if (symbol !== undefined && this.#typed.getOrigin(symbol.valueDeclaration) === "snippet") symbols.push(symbol);
    });
    return symbols;
  }
}

/** Returns the root of a member access: `users` in `users[0].name`. */
function findRoot(target: ts.Node): ts.Node {
  let at = target;
  while (isAccess(at) || ts.isParenthesizedExpression(at) || ts.isNonNullExpression(at)) at = at.expression;
  return at;
}
