import ts from "typescript";

/** A snippet with the types of everything in it. */
export interface Reading {
  readonly file: ts.SourceFile;
  readonly checker: ts.TypeChecker;
  /** Where something was declared; what was never declared counts as the snippet's own. */
  readonly originOf: (declaration: ts.Node | undefined) => "device" | "builtin" | "snippet";
  readonly typeOf: (node: ts.Expression | ts.BindingPattern) => ts.Type;
  /** What is called: `undefined` if nothing is known of it. */
  readonly declarationOf: (call: ts.CallExpression | ts.NewExpression) => ts.SignatureDeclaration | undefined;
  /** What a name stands for; `undefined` for one that is only the name of a member. */
  readonly symbolOf: (name: ts.Identifier) => ts.Symbol | undefined;
}

export interface Files {
  readonly library: ts.SourceFile;
  readonly device: ts.SourceFile;
  readonly snippet: ts.SourceFile;
}

export function createReading({ library, device, snippet }: Files, checker: ts.TypeChecker): Reading {
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
