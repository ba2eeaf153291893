import ts from "typescript";

import { type DeviceMethod, type DeviceParameter, readMethod } from "./device.ts";
import { isAccess, getMember } from "./syntax.ts";

/** A program with the types of everything in it. */
export interface TypedProgram {
  readonly file: ts.SourceFile;
  readonly checker: ts.TypeChecker;
  /** The source of a declaration; an undeclared name counts as the program's own. */
  readonly getOrigin: (declaration: ts.Node | undefined) => "device" | "builtin" | "program";
  readonly getType: (node: ts.Expression | ts.BindingPattern) => ts.Type;
  readonly getParameterType: (parameter: DeviceParameter) => ts.Type;
  /** The method of `device` that an expression stands for. */
  readonly findMethod: (callee: ts.Expression) => DeviceMethod | undefined;
  /** The declaration of the called function; `undefined` if it is unknown. */
  readonly findDeclaration: (call: ts.CallExpression | ts.NewExpression) => ts.SignatureDeclaration | undefined;
  /** The symbol of a name; `undefined` if it is only the name of a member. */
  readonly findSymbol: (name: ts.Identifier) => ts.Symbol | undefined;
}

export interface SourceFiles {
  readonly library: ts.SourceFile;
  readonly device: ts.SourceFile;
  readonly program: ts.SourceFile;
  /** The names of the methods of `device`. */
  readonly methods: ReadonlySet<string>;
}

export function createTypedProgram(
  { library, device, program, methods }: SourceFiles,
  checker: ts.TypeChecker,
): TypedProgram {
  return {
    file: program,
    checker,
    getOrigin(declaration) {
      const home = declaration?.getSourceFile();
      if (home === device) return "device";
      return home === library ? "builtin" : "program";
    },
    getType(node) {
      if (!ts.isIdentifier(node) || !ts.isShorthandPropertyAssignment(node.parent))
        return checker.getTypeAtLocation(node);
      const value = checker.getShorthandAssignmentValueSymbol(node.parent);
      return value ? checker.getTypeOfSymbolAtLocation(value, node) : checker.getTypeAtLocation(node);
    },
    getParameterType: ({ declaration }) => checker.getTypeAtLocation(declaration),
    findMethod(callee) {
      // Most calls are of something else, and it takes long to find out of what: for that, all arguments are looked at.
      if (isAccess(callee) && !methods.has(getMember(callee)?.name ?? "")) return undefined;
      const [signature] = checker.getTypeAtLocation(callee).getCallSignatures();
      const declaration = signature?.declaration;
      return declaration?.getSourceFile() === device ? readMethod(declaration) : undefined;
    },
    findDeclaration(call) {
      const declaration = checker.getResolvedSignature(call)?.declaration;
      return declaration && !ts.isJSDocSignature(declaration) ? declaration : undefined;
    },
    findSymbol(name) {
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
