import { isDeepStrictEqual } from "node:util";

import type { AnyNode, VariableDeclaration } from "acorn";

import { literalName, literalWithoutNames, walk } from "../../gatekeeper/index.ts";
import type { Json } from "../../model/json.ts";
import type { ProgramSource } from "../../model/program.ts";

export type ProgramTree = Extract<ProgramSource, { readonly kind: "program" }>["tree"];

/** Plain data that a program states as a literal. */
export interface FoundLiteral {
  readonly value: Json;
  /** Offsets in the text. */
  readonly start: number;
  readonly end: number;
}

/** A constant at the top level of a program. `literal` is missing if its value is computed. */
export interface Constant {
  readonly name: string;
  readonly start: number;
  readonly literal: FoundLiteral | undefined;
  /** The statement that declares it. */
  readonly statement: VariableDeclaration;
}

/** Finds `const NAME = …` at the top level of a program. */
export function findConstant({ body }: ProgramTree, name: string): Constant | undefined {
  for (const statement of body) {
    if (statement.type !== "VariableDeclaration" || statement.kind !== "const") continue;
    const found = statement.declarations.find(({ id }) => id.type === "Identifier" && id.name === name);
    if (found != null)
      return { name, start: found.start, literal: found.init ? readLiteral(found.init) : undefined, statement };
  }
  return undefined;
}

/** A literal at a place where a variable can stand, with the name of the property whose value it is. */
export interface UsedLiteral extends FoundLiteral {
  readonly property: string | undefined;
}

/** Finds the literals of a program at places where a variable can stand. */
export function findLiterals(tree: ProgramTree): readonly UsedLiteral[] {
  const found: UsedLiteral[] = [];
  walk(tree, {
    enter(node, parent) {
      const literal = canBeVariable(node, parent) ? readLiteral(node) : undefined;
      const property = parent?.type === "Property" ? literalName(parent.key, parent.computed) : undefined;
      if (literal !== undefined) found.push({ ...literal, property });
    },
  });
  return found;
}

/** Finds the first place where a program uses a name as a variable. */
export function findName(tree: ProgramTree, name: string): number | undefined {
  let at: number | undefined;
  walk(tree, {
    enter(node) {
      if (node.type === "Identifier" && node.name === name) at ??= node.start;
    },
  });
  return at;
}

/** True for a program that reads `device.input`. */
export function readsInput(tree: ProgramTree): boolean {
  let isFound = false;
  walk(tree, {
    enter(node) {
      if (node.type !== "MemberExpression" || node.object.type !== "Identifier") return;
      isFound ||= node.object.name === "device" && literalName(node.property, node.computed) === "input";
    },
  });
  return isFound;
}

/** Names a place in a text, with columns from 1: `line 2, column 9`. */
export function formatPlace(text: string, offset: number): string {
  const before = text.slice(0, offset);
  return `line ${before.split("\n").length}, column ${offset - before.lastIndexOf("\n")}`;
}

const LITERAL_NODES: ReadonlySet<string> = new Set([
  "Literal",
  "UnaryExpression",
  "TemplateLiteral",
  "ArrayExpression",
  "ObjectExpression",
]);

/** Their literals are names and texts of the language, or parts of a larger literal. */
const FIXED_PARENTS: ReadonlySet<string> = new Set([
  "UnaryExpression",
  "TaggedTemplateExpression",
  "MethodDefinition",
  "PropertyDefinition",
]);

/** False for names and texts of the language, and for parts of a larger literal. */
function canBeVariable(node: AnyNode, parent: AnyNode | undefined): boolean {
  if (!LITERAL_NODES.has(node.type) || parent === undefined || FIXED_PARENTS.has(parent.type)) return false;
  if (parent.type === "Property") return parent.value === node;
  if (parent.type === "ExpressionStatement") return parent.directive == null;
  return parent.type !== "MemberExpression" || parent.object !== node;
}

/** Reads a literal that is JSON; `undefined` for any other expression. */
function readLiteral(node: AnyNode): FoundLiteral | undefined {
  const value = literalWithoutNames(node);
  const text: string | undefined = JSON.stringify(value);
  const isJson = text !== undefined && isDeepStrictEqual(JSON.parse(text), value);
  return isJson ? { value: value as Json, start: node.start, end: node.end } : undefined;
}
