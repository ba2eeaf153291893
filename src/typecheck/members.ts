import ts from "typescript";

import { suggestNames } from "../shared/suggest.ts";
import { isDataType } from "./device.ts";
import type { TypeFinding } from "./findings.ts";
import { type JsonKind, getKind, getParts } from "./json-kinds.ts";
import { findMisspelling } from "./misspellings.ts";
import type { TypedProgram } from "./typed-program.ts";
import { findSourceMethod } from "./certainty/method-origin.ts";
import { isAccess, isWritten, getKey, getMember } from "./syntax.ts";
import { KIND_WORDS, listed } from "./messages-text.ts";

/**
 * A member that a result of `device` does not have, read at this node. Of an array or a text that is certain, and of an
 * object if the name is a declared one misspelt; any other name may be one that the schema keeps quiet about. `isTested`
 * tells the names of which the program itself asks whether they are there.
 */
export function findInMember(
  node: ts.Node,
  typed: TypedProgram,
  isTested: (name: string) => boolean,
): readonly TypeFinding[] {
  const reach = toReach(node);
  if (reach === undefined || reach.name.startsWith("__")) return [];
  const lack = findLack(typed.getType(reach.object), reach.name, typed);
  if (lack === undefined) return [];
  const suggestion = findMisspelling(reach.name, lack.names);
  const tested = reach.hasDefault || isTested(reach.name);
  if (tested && suggestion.length === 0) return [];
  return [
    {
      code: "MEMBER_UNKNOWN",
      node: reach.node,
      message: `"${reach.name}" does not exist ${formatLocation(lack, reach, typed)}`,
      certain: !tested && (suggestion.length > 0 || lack.kind !== "object"),
      suggestions: suggestion.length > 0 ? suggestion : suggestNames(reach.name, lack.names),
      evidence: { trusted: [reach.object], constants: [], missing: reach.name },
    },
  ];
}

function formatLocation({ kind, names }: MissingMember, { object }: MemberAccess, typed: TypedProgram): string {
  if (kind !== "object") return `on ${KIND_WORDS[kind]}`;
  const method = findSourceMethod(object, typed);
  return `in the result${method === undefined ? "" : ` of ${method}`}; declared members: ${listed(names)}`;
}

/** A place where a member is read by its name. */
interface MemberAccess {
  readonly name: string;
  readonly node: ts.Node;
  readonly object: ts.Expression | ts.ObjectBindingPattern;
  readonly hasDefault: boolean;
}

function toReach(node: ts.Node): MemberAccess | undefined {
  if (isAccess(node)) {
    const member = getMember(node);
    if (member === undefined || isWritten(node) || isBuiltinMethod(member.name, node.expression)) return undefined;
    return { ...member, object: node.expression, hasDefault: false };
  }
  if (!ts.isBindingElement(node) || node.dotDotDotToken !== undefined) return undefined;
  if (!ts.isObjectBindingPattern(node.parent)) return undefined;
  const key = node.propertyName ?? node.name;
  const name = ts.isIdentifier(key) ? key.text : getKey(ts.isPropertyName(key) ? key : undefined);
  if (name === undefined) return undefined;
  return { name, node: key, object: node.parent, hasDefault: node.initializer !== undefined };
}

/**
 * `list.map(…).join` is there: what a builtin gives has what builtins have. To find the types of such a chain is what takes
 * longest in most programs.
 */
function isBuiltinMethod(name: string, object: ts.Expression): boolean {
  if (!BUILTIN_METHODS.has(name) || !ts.isCallExpression(object)) return false;
  const callee = object.expression;
  return ts.isPropertyAccessExpression(callee) && BUILTIN_METHODS.has(callee.name.text);
}

const BUILTIN_METHODS: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(Array.prototype),
  ...Object.getOwnPropertyNames(String.prototype),
]);

/** A missing member, with the members that the value has. */
interface MissingMember {
  /** `object` if one of its forms is one: only arrays and simple values cannot have more than their kind has. */
  readonly kind: JsonKind;
  readonly names: readonly string[];
}

/** `undefined` if the value has the member, or may have it. */
function findLack(type: ts.Type, name: string, typed: TypedProgram): MissingMember | undefined {
  const lacks = (type.isUnion() ? type.types : [type]).map((form) => findFormLack(form, name, typed));
  const [first] = lacks;
  if (first === undefined || lacks.includes(undefined)) return undefined;
  const names = new Set(lacks.flatMap((lack) => lack?.names ?? []));
  return { kind: lacks.some((lack) => lack?.kind === "object") ? "object" : first.kind, names: [...names] };
}

function findFormLack(type: ts.Type, name: string, typed: TypedProgram): MissingMember | undefined {
  const { checker } = typed;
  if (checker.getPropertyOfType(checker.getApparentType(type), name) !== undefined) return undefined;
  const parts = getParts(type);
  const kinds = new Set(parts.map((part) => getKind(part, checker)));
  const [kind] = kinds;
  if (kind === undefined || kinds.size > 1) return undefined;
  const isClosed = kind === "object" ? parts.every((part) => isDeclared(part, typed)) : !mayHave(kind, name);
  if (!isClosed) return undefined;
  const members = parts.flatMap((part) => checker.getPropertiesOfType(checker.getApparentType(part)));
  return { kind, names: members.map((member) => member.name) };
}

/** True for an object of which the declarations name all members. */
function isDeclared(type: ts.Type, { checker, getOrigin }: TypedProgram): boolean {
  const declarations = type.symbol?.declarations ?? [];
  const isData = declarations.every((declaration) => getOrigin(declaration) === "device" && isDataType(declaration));
  return declarations.length > 0 && isData && checker.getIndexInfosOfType(type).length === 0;
}

function mayHave(kind: JsonKind, name: string): boolean {
  return /^\d+$/.test(name) || (kind === "string" && DATE_MEMBERS.has(name));
}

/** A date is declared as the text that JSON makes of it, and may still be a date for the program. */
const DATE_MEMBERS: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Date.prototype));
