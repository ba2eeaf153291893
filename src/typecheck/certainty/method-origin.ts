import ts from "typescript";

import type { EvidenceNode } from "../findings.ts";
import type { TypedProgram } from "../typed-program.ts";
import { bare, isAccess, isInlineFunction, getResults } from "../syntax.ts";

/** The path of the method that a value comes from, for people: the first that is found on the way back. */
export function findSourceMethod(value: EvidenceNode, typed: TypedProgram): string | undefined {
  const visited = new Set<ts.Node>();

  function find(at: ts.Node | undefined): string | undefined {
    if (at === undefined || visited.has(at)) return undefined;
    visited.add(at);
    const node = ts.isExpression(at) ? bare(at) : at;
    if (ts.isObjectBindingPattern(node) || ts.isArrayBindingPattern(node)) return findInDeclaration(node.parent);
    if (isInlineFunction(node) || ts.isFunctionDeclaration(node)) return findFirst(getResults(node));
    if (ts.isCallExpression(node)) return findInCall(node);
    if (ts.isIdentifier(node)) return findInDeclaration(typed.findSymbol(node)?.valueDeclaration);
    if (ts.isConditionalExpression(node)) return findFirst([node.whenTrue, node.whenFalse]);
    if (ts.isBinaryExpression(node)) return findFirst([node.left, node.right]);
    if (ts.isArrayLiteralExpression(node)) return findFirst(node.elements);
    const isPassedOn = isAccess(node) || ts.isAwaitExpression(node) || ts.isSpreadElement(node);
    return isPassedOn ? find(node.expression) : undefined;
  }

  function findInCall(call: ts.CallExpression): string | undefined {
    const method = typed.findMethod(call.expression);
    if (method !== undefined) return method.path;
    const declaration = typed.findDeclaration(call);
    const own = typed.getOrigin(declaration) === "program" ? declaration : undefined;
    return findFirst([own, isAccess(call.expression) ? call.expression : undefined, ...call.arguments]);
  }

  function findInDeclaration(declaration: ts.Node | undefined): string | undefined {
    if (declaration === undefined) return undefined;
    if (ts.isBindingElement(declaration)) return find(declaration.parent);
    if (ts.isParameter(declaration)) return findInParameter(declaration);
    if (!ts.isVariableDeclaration(declaration)) return undefined;
    const list = declaration.parent.parent;
    return find(declaration.initializer ?? (ts.isForOfStatement(list) ? list.expression : undefined));
  }

  function findInParameter({ parent: func }: ts.ParameterDeclaration): string | undefined {
    return ts.isCallExpression(func.parent) ? find(func.parent.expression) : undefined;
  }

  function findFirst(nodes: readonly (ts.Node | undefined)[]): string | undefined {
    for (const node of nodes) {
      const found = find(node);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  return find(value);
}
