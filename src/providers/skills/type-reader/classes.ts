import { basename } from "node:path";

import { isMemberName } from "../../../shared/names/skill-names.ts";
import type { MethodMetadata } from "../../../model/skill.ts";
import { type Doc, docAmong } from "./jsdoc/docs.ts";
import { isClass, isFunction, withDeclaredType } from "./exports.ts";
import type { FileReader } from "./files.ts";
import { readFacts } from "./jsdoc/metadata.ts";
import { type ReadMethod, readMethod, tagWarnings, bindTypeParameters } from "./methods.ts";
import { type ScopedType, type TypeScope, createScope } from "./reader.ts";
import { isPrivate } from "./shapes.ts";
import { getKey, getName, nodeAt, nodesAt, type SyntaxNode } from "./syntax.ts";

/** A class that becomes a skill. */
export interface ClassSite {
  readonly skill: string;
  readonly node: SyntaxNode;
  readonly doc: Doc;
  readonly scope: TypeScope;
  readonly inherited: Partial<MethodMetadata>;
}

export interface ReadMembers {
  readonly methods: readonly ReadMethod[];
  readonly warnings: readonly string[];
}

/**
 * Reads the public methods of a class and of base classes with available source. Returns `undefined` if the doc comment
 * hides the class.
 */
export function readClass(
  { skill, node, doc, scope, inherited }: ClassSite,
  files: FileReader,
): ReadMembers | undefined {
  const facts = readFacts(doc, inherited);
  if (facts.hidden) return undefined;
  const members = [...collectMembers({ node, scope }, files).values()];
  const methods = members.flatMap((member) => readMethod({ skill, ...member, inherited: facts.metadata }, files) ?? []);
  return { methods, warnings: [...tagWarnings(facts, skill, scope), ...misnamed(node, skill, scope)] };
}

/** Reports methods with names that a model cannot call. */
function misnamed(node: SyntaxNode, skill: string, { source }: TypeScope): readonly string[] {
  return nodesAt(nodeAt(node, "body"), "body").flatMap((member) => {
    const name = getKey(member);
    if (name === undefined || !isPublic(name, member) || member["static"] === true) return [];
    if (getFunction(member) === undefined || isMemberName(name) || SPOKEN_FOR.has(name)) return [];
    const where = `${basename(source.file)}:${member.loc.start.line}`;
    return `Cannot offer the method "${name}" of "${skill}" (${where}): it cannot be called by that name; rename it`;
  });
}

/** Conversion methods that JavaScript calls itself; they are not reported. */
const SPOKEN_FOR: ReadonlySet<string> = new Set(["toString", "valueOf", "toJSON"]);

interface ClassMember {
  readonly name: string;
  readonly fn: SyntaxNode;
  readonly doc: Doc;
  readonly scope: TypeScope;
}

/** A class declaration with its type arguments. */
interface ClassPlace {
  readonly node: SyntaxNode;
  readonly scope: TypeScope;
  readonly typeArguments?: readonly ScopedType[];
}

const MAX_BASES = 20;

/** Collects members by name. A member of the class, even if it is not a method, hides that of its base. */
function collectMembers(
  { node, scope: outer, typeArguments = [] }: ClassPlace,
  files: FileReader,
  depth = 0,
): ReadonlyMap<string, ClassMember> {
  const scope: TypeScope = { ...outer, typeArguments: bindTypeParameters(node, outer, typeArguments) };
  const body = nodeAt(node, "body");
  const members = nodesAt(body, "body");
  const own = new Map<string, ClassMember>();
  const names = new Set<string>();
  for (const [index, member] of members.entries()) {
    const name = getKey(member);
    if (name === undefined || member["static"] === true || member.type.startsWith("TSAbstract")) continue;
    const fn = getFunction(member);
    if (fn?.type === "TSDeclareMethod") continue;
    names.add(name);
    own.delete(name);
    if (fn !== undefined && isExposed(name, member))
      own.set(name, { name, fn, doc: docAmong(scope.source, members, index, body), scope });
  }
  const base = depth < MAX_BASES ? findBaseClass(node, scope, files) : undefined;
  const above = base === undefined ? [] : [...collectMembers(base, files, depth + 1)];
  return new Map([...own, ...above.filter(([name]) => !names.has(name))]);
}

/** Returns the function of a method, or of a field that holds one. */
function getFunction(member: SyntaxNode): SyntaxNode | undefined {
  const value = nodeAt(member, "value");
  if (member.type === "MethodDefinition") {
    const { kind, typeParameters } = member;
    return kind === "method" && value !== undefined ? { ...value, typeParameters } : undefined;
  }
  if (member.type !== "PropertyDefinition" || value === undefined || !isFunction(value)) return undefined;
  return withDeclaredType(value, member);
}

/** Excludes private members, names that start with `_`, the health check, and names of `Object.prototype`. */
function isExposed(name: string, member: SyntaxNode): boolean {
  return isPublic(name, member) && isMemberName(name) && !(name in Object.prototype);
}

function isPublic(name: string, member: SyntaxNode): boolean {
  return !isPrivate(member) && !name.startsWith("_") && name !== "healthCheck";
}

function findBaseClass(node: SyntaxNode, scope: TypeScope, files: FileReader): ClassPlace | undefined {
  const name = getName(nodeAt(node, "superClass"));
  const found = name === undefined ? undefined : files.find(scope.names, name);
  if (found?.kind !== "value") return undefined;
  const base = found.node.type === "VariableDeclarator" ? nodeAt(found.node, "init") : found.node;
  if (base === undefined || !isClass(base)) return undefined;
  const typeArguments = nodesAt(nodeAt(node, "superTypeParameters"), "params").map((each) => ({ node: each, scope }));
  return { node: base, scope: createScope(found.names), typeArguments };
}
