import ts from "typescript";

import { type DeclaredMethod, type DeclaredParameter, methodOf } from "./device.ts";
import { isAccess, memberOf } from "./syntax.ts";

/** A snippet with the types of everything in it. */
export interface Reading {
  readonly file: ts.SourceFile;
  readonly checker: ts.TypeChecker;
  /** Where something was declared; what was never declared counts as the snippet's own. */
  readonly originOf: (declaration: ts.Node | undefined) => "device" | "builtin" | "snippet";
  readonly typeOf: (node: ts.Expression | ts.BindingPattern) => ts.Type;
  readonly typeOfParameter: (parameter: DeclaredParameter) => ts.Type;
  /** The method of `device` that an expression stands for. */
  readonly methodOf: (callee: ts.Expression) => DeclaredMethod | undefined;
  /** What is called: `undefined` if nothing is known of it. */
  readonly declarationOf: (call: ts.CallExpression | ts.NewExpression) => ts.SignatureDeclaration | undefined;
  /** What a name stands for; `undefined` for one that is only the name of a member. */
  readonly symbolOf: (name: ts.Identifier) => ts.Symbol | undefined;
}

export interface Files {
  readonly library: ts.SourceFile;
  readonly device: ts.SourceFile;
  readonly snippet: ts.SourceFile;
  /** The names of the methods of `device`. */
  readonly methods: ReadonlySet<string>;
}

export function createReading({ library, device, snippet, methods }: Files, checker: ts.TypeChecker): Reading {
  return {
    file: snippet,
    checker,
    originOf(declaration) {
      const home = declaration?.getSourceFile();
      if (home === device) return "device";
      return home === library ? "builtin" : "snippet";
    },
    typeOf(node) {
      if (!ts.isIdentifier(node) || !ts.isShorthandPropertyAssignment(node.parent))
        return checker.getTypeAtLocation(node);
      const value = checker.getShorthandAssignmentValueSymbol(node.parent);
      return value ? checker.getTypeOfSymbolAtLocation(value, node) : checker.getTypeAtLocation(node);
    },
    typeOfParameter: ({ declaration }) => checker.getTypeAtLocation(declaration),
    methodOf(callee) {
      // Most calls are of something else, and it takes long to find out of what: for that, all arguments are looked at.
      if (isAccess(callee) && !methods.has(memberOf(callee)?.name ?? "")) return undefined;
      const [signature] = checker.getTypeAtLocation(callee).getCallSignatures();
      const declaration = signature?.declaration;
      return declaration?.getSourceFile() === device ? methodOf(declaration) : undefined;
    },
    declarationOf(call) {
      const declaration = checker.getResolvedSignature(call)?.declaration;
      return declaration && !ts.isJSDocSignature(declaration) ? declaration : undefined;
    },
    symbolOf(name) {
      const { parent } = name;
      if (ts.isShorthandPropertyAssignment(parent)) return checker.getShorthandAssignmentValueSymbol(parent);
      if (ts.isPropertyAccessExpression(parent) && parent.name === name) return undefined;
      const symbol = checker.getSymbolAtLocation(name);
      return symbol && (symbol.flags & (ts.SymbolFlags.Variable | ts.SymbolFlags.Function | ts.SymbolFlags.Class)) !== 0
        ? symbol
        : undefined;
    },
  };
}
