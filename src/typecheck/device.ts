import ts from "typescript";

import { forEachNode } from "./syntax.ts";

/** Declarations in the form that checks need. */
export interface DeviceDeclarations {
  readonly text: string;
  /** The names of all methods. */
  readonly methods: ReadonlySet<string>;
}

/**
 * The declarations with one more signature before those of each method, which takes anything. So every call finds its
 * method at once, and the compiler finds no fault with arguments: it takes long to explain, and does not know all the ways
 * to call a method. The methods of `device` itself have it last.
 */
export function withAnyCall(declarations: string): DeviceDeclarations {
  const file = ts.createSourceFile("/device.d.ts", declarations, ts.ScriptTarget.ESNext, true);
  const methods = new Set<string>();
  const additions: { readonly at: number; readonly text: string }[] = [];
  forEachNode(file, (node) => {
    if (!ts.isTypeLiteralNode(node)) return;
    for (const [index, member] of node.members.entries()) {
      const before = node.members[index - 1];
      if (!isMethod(member) || takesAnything(member)) continue;
      if (before && isMethod(before) && !takesAnything(before) && getName(before) === getName(member)) continue;
      const name = member.name?.getText(file) ?? "";
      if (isOwnMethod(member)) additions.push({ at: node.end - 1, text: `${name}(...values: any[]): Promise<any>; ` });
      else {
        const calls = listCalls(member, file);
        additions.push({ at: member.getStart(file), text: calls.map((call) => `${name}${call}; `).join("") });
      }
      methods.add(getName(member));
    }
  });
  return { text: withAdditions(declarations, additions), methods };
}

/**
 * The signatures that take anything. The result of a method of an API depends on its last argument: it is the whole response
 * if that has a flag, and may be if the flag is computed. An argument of the type `any` fits everything, so it comes first.
 */
function listCalls(method: MethodNode, file: ts.SourceFile): readonly string[] {
  const [plain, response, byName] = getSignatures(method).filter((each) => !takesAnything(each));
  const result = plain?.type === undefined ? "" : `: ${plain.type.getText(file)}`;
  const any = `(...values: any[])${result}`;
  const args = byName === undefined ? undefined : response?.parameters[0]?.type;
  if (args === undefined || !ts.isTypeLiteralNode(args)) return [any];
  const flag = args.members.at(-1)?.name?.getText(file);
  const withLast = (type: string): string => `(...values: [...any[], ${type}])`;
  return [
    `${withLast("{ readonly __any: never }")}${result}`,
    `${withLast(`{ ${flag}: true; [name: string]: any }`)}: ${response?.type?.getText(file)}`,
    `${withLast(`{ ${flag}: any; [name: string]: any }`)}: Promise<any>`,
    any,
  ];
}

function withAdditions(text: string, additions: { readonly at: number; readonly text: string }[]): string {
  const parts: string[] = [];
  let end = 0;
  for (const { at, text: added } of additions.sort((a, b) => a.at - b.at)) {
    parts.push(text.slice(end, at), added);
    end = at;
  }
  return parts.join("") + text.slice(end);
}

/** A method of `device` as its declaration tells it. */
export interface DeviceMethod {
  /** `Skill.method`, or `node.Skill.method`. */
  readonly path: string;
  readonly parameters: readonly DeviceParameter[];
  /** Takes any object, and names no parameter. */
  readonly isOpen: boolean;
}

export interface DeviceParameter {
  readonly name: string;
  readonly required: boolean;
  readonly declaration: ts.ParameterDeclaration;
}

/** The method that a signature belongs to; `undefined` for signatures of anything else. */
export function readMethod(signature: ts.Node): DeviceMethod | undefined {
  if (!isMethod(signature) || isOwnMethod(signature)) return undefined;
  const [positional, ...others] = getSignatures(signature).filter((each) => !takesAnything(each));
  if (positional === undefined) return undefined;
  const objectSignature = others.at(-1);
  const [byName] = objectSignature?.parameters ?? [];
  const names = byName?.type !== undefined && ts.isTypeLiteralNode(byName.type) ? byName.type.members.map(getName) : [];
  return {
    path: getPath(signature),
    parameters: positional.parameters.map((parameter, at) => ({
      name: names[at] ?? getName(parameter),
      required: parameter.questionToken === undefined,
      declaration: parameter,
    })),
    isOpen: objectSignature === undefined,
  };
}

/** A signature of a method; without a name in the type of a method that has members itself. */
type MethodNode = (ts.MethodSignature | ts.CallSignatureDeclaration) & { readonly parent: ts.TypeLiteralNode };

function isMethod(node: ts.Node): node is MethodNode {
  return isSignature(node) && ts.isTypeLiteralNode(node.parent);
}

function isSignature(node: ts.Node): node is ts.MethodSignature | ts.CallSignatureDeclaration {
  return ts.isMethodSignature(node) || ts.isCallSignatureDeclaration(node);
}

function takesAnything({ parameters: [first] }: MethodNode): boolean {
  return first?.dotDotDotToken !== undefined;
}

/** True for a method of `device` itself, whose signatures differ in their results: the compiler chooses among them. */
const isOwnMethod = (signature: MethodNode): boolean => ts.isVariableDeclaration(signature.parent.parent);

/** All signatures of a method: they follow each other. */
function getSignatures(signature: MethodNode): readonly MethodNode[] {
  const { kind, parent } = signature;
  const isSame = (member: ts.TypeElement): member is MethodNode =>
    member.kind === kind && getName(member) === getName(signature);
  return parent.members.filter(isSame);
}

/** True for the type of an object that a method takes or gives; not for `device` and its skills. */
export function isDataType(type: ts.Node): boolean {
  if (!ts.isTypeLiteralNode(type)) return false;
  let at: ts.Node = type;
  while (!isSignature(at) && !ts.isTypeAliasDeclaration(at)) {
    if (ts.isVariableDeclaration(at)) return false;
    at = at.parent;
  }
  return true;
}

function getPath(method: MethodNode): string {
  const names = ts.isMethodSignature(method) ? [getName(method)] : [];
  for (let owner: ts.Node = method.parent.parent; ts.isPropertySignature(owner); owner = owner.parent.parent)
    names.unshift(getName(owner));
  return names.join(".");
}

function getName(node: ts.Node): string {
  if (ts.isCallSignatureDeclaration(node)) return getName(node.parent.parent);
  const { name } = node as Partial<ts.NamedDeclaration>;
  return name !== undefined && (ts.isIdentifier(name) || ts.isStringLiteral(name)) ? name.text : "";
}
