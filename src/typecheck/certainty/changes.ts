import ts from "typescript";

import { bare, forEachNode, getMember, isAccess, isWritten } from "../syntax.ts";
import type { TypedProgram } from "../typed-program.ts";

/** The changes that a program makes, anywhere in it. */
export interface ProgramChanges {
  /** True if it changes objects or lists without naming what it changes. */
  readonly isUnclear: boolean;
  /** The variables that are assigned again, or hold a list of the program that grows. */
  readonly variables: ReadonlySet<ts.Symbol>;
  /** The names of members that are assigned or deleted. */
  readonly members: ReadonlySet<string>;
}

/** Builtins that change objects, or call a function that may. */
const CHANGING: ReadonlySet<string> = new Set(
  "assign defineProperty defineProperties setPrototypeOf Reflect Proxy apply call bind".split(" "),
);

/** Builtins that change the items of what they are called on. */
const CHANGING_ITEMS: ReadonlySet<string> = new Set("push unshift splice fill copyWithin add set append".split(" "));

export function findChanges(typed: TypedProgram): ProgramChanges {
  const variables = new Set<ts.Symbol>();
  const members = new Set<string>();
  let isUnclear = false;

  function visit(node: ts.Node): void {
    if (ts.isIdentifier(node)) visitName(node);
    if (!isAccess(node)) return;
    const name = getMember(node)?.name;
    isUnclear ||= CHANGING.has(name ?? "");
    if (isWritten(node)) {
      isUnclear ||= name === undefined;
      members.add(name ?? "");
    } else if (CHANGING_ITEMS.has(name ?? "") && typed.findMethod(node) === undefined) visitList(node.expression);
  }

  function visitName(name: ts.Identifier): void {
    isUnclear ||= CHANGING.has(name.text);
    if (isWritten(name)) add(name);
  }

  /** A list or collection literal of the program holds no results that are read elsewhere. */
  function visitList(list: ts.Expression): void {
    const value = bare(list);
    const declaration = ts.isIdentifier(value) ? typed.findSymbol(value)?.valueDeclaration : undefined;
    const initial = declaration && ts.isVariableDeclaration(declaration) ? declaration.initializer : undefined;
    const isOwn = initial !== undefined && (ts.isArrayLiteralExpression(initial) || ts.isNewExpression(initial));
    if (isOwn && ts.isIdentifier(value)) add(value);
    else isUnclear = true;
  }

  function add(name: ts.Identifier): void {
    const symbol = typed.findSymbol(name);
    if (symbol !== undefined) variables.add(symbol);
  }

  forEachNode(typed.file, visit);
  return { isUnclear, variables, members };
}
