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
      if (!ts.isMethodSignature(member) || (before !== undefined && getName(before) === getName(member))) continue;
      const result = member.type === undefined ? "" : `: ${member.type.getText(file)}`;
      const name = member.name.getText(file);
      if (isOwnMethod(member)) additions.push({ at: node.end - 1, text: `${name}(...values: any[]): Promise<any>; ` });
      else additions.push({ at: member.getStart(file), text: `${name}(...values: any[])${result}; ` });
      methods.add(getName(member));
    }
  });
  return { text: withAdditions(declarations, additions), methods };
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
  const [, positional, objectSignature] = getSignatures(signature);
  if (positional === undefined) return undefined;
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

interface MethodNode extends ts.MethodSignature {
  readonly parent: ts.TypeLiteralNode;
}

function isMethod(node: ts.Node): node is MethodNode {
  return ts.isMethodSignature(node) && ts.isTypeLiteralNode(node.parent);
}

/** True for a method of `device` itself, whose signatures differ in their results: the compiler chooses among them. */
const isOwnMethod = (signature: ts.MethodSignature): boolean =>
  ts.isTypeLiteralNode(signature.parent) && ts.isVariableDeclaration(signature.parent.parent);

/** All signatures of a method: they follow each other. */
function getSignatures(signature: MethodNode): readonly ts.MethodSignature[] {
  const name = getName(signature);
  return signature.parent.members.filter(
    (member) => ts.isMethodSignature(member) && getName(member) === name,
  ) as ts.MethodSignature[];
}

/** True for the type of an object that a method takes or gives; not for `device` and its skills. */
export function isDataType(type: ts.Node): boolean {
  if (!ts.isTypeLiteralNode(type)) return false;
  let at: ts.Node = type;
  while (!ts.isMethodSignature(at) && !ts.isTypeAliasDeclaration(at)) {
    if (ts.isVariableDeclaration(at)) return false;
    at = at.parent;
  }
  return true;
}

function getPath(method: MethodNode): string {
  const names = [getName(method)];
  for (let owner: ts.Node = method.parent.parent; ts.isPropertySignature(owner); owner = owner.parent.parent)
    names.unshift(getName(owner));
  return names.join(".");
}

function getName(node: ts.Node): string {
  const { name } = node as Partial<ts.NamedDeclaration>;
  return name !== undefined && (ts.isIdentifier(name) || ts.isStringLiteral(name)) ? name.text : "";
}
