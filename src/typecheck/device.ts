import ts from "typescript";

/** A method of `device` as its declaration tells it. */
export interface DeclaredMethod {
  /** `Skill.method`. */
  readonly path: string;
  readonly parameters: readonly DeclaredParameter[];
  /** Takes any object, and names no parameter. */
  readonly isOpen: boolean;
}

export interface DeclaredParameter {
  readonly name: string;
  readonly required: boolean;
  /** Missing where nothing is said of it. */
  readonly type: ts.TypeNode | undefined;
}

/** The method that a signature belongs to; `undefined` for signatures of anything else. */
export function methodOf(signature: ts.Node): DeclaredMethod | undefined {
  if (!ts.isMethodSignature(signature) || !ts.isTypeLiteralNode(signature.parent)) return undefined;
  const [positional, named] = signature.parent.members.filter(
    (member) => ts.isMethodSignature(member) && nameOf(member) === nameOf(signature),
  ) as ts.MethodSignature[];
  if (positional === undefined) return undefined;
  const [byName] = named?.parameters ?? [];
  const names = byName?.type !== undefined && ts.isTypeLiteralNode(byName.type) ? byName.type.members.map(nameOf) : [];
  return {
    path: pathOf(signature),
    parameters: positional.parameters.map((parameter, at) => ({
      name: names[at] ?? nameOf(parameter),
      required: parameter.questionToken === undefined,
      type: parameter.type,
    })),
    isOpen: named === undefined,
  };
}

/**
 * What has such a type, for people: `the result of UserSkill.get`, or the name of the type. `undefined` for `device` and
 * its skills, whose members others look after.
 */
export function ownerOf(type: ts.Node): string | undefined {
  if (!ts.isTypeLiteralNode(type)) return undefined;
  let at: ts.Node = type;
  while (!ts.isMethodSignature(at) && !ts.isTypeAliasDeclaration(at)) {
    if (ts.isSourceFile(at) || at.parent === undefined) return undefined;
    at = at.parent;
  }
  return ts.isMethodSignature(at) ? `the result of ${pathOf(at)}` : pathOf(at);
}

/** Of a method or a type, with the skill before it. */
function pathOf(node: ts.MethodSignature | ts.TypeAliasDeclaration): string {
  const skill = ts.isMethodSignature(node) ? node.parent.parent : node.parent.parent;
  return `${nameOf(skill)}.${nameOf(node)}`;
}

function nameOf(node: ts.Node): string {
  const name = (node as Partial<ts.NamedDeclaration>).name;
  if (name === undefined) return "";
  return ts.isIdentifier(name) || ts.isStringLiteral(name) ? name.text : name.getText();
}
