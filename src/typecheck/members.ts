import ts from "typescript";

import { nearest } from "../model/nearest.ts";
import { isDataType } from "./device.ts";
import type { Finding } from "./findings.ts";
import { type Kind, kindOf, partsOf } from "./kinds.ts";
import { misspelt } from "./near.ts";
import type { Reading } from "./reading.ts";
import { methodBehind } from "./source.ts";
import { isAccess, isWritten, keyOf, memberOf } from "./syntax.ts";
import { KIND_WORDS, listed } from "./words.ts";

/**
 * A member that a result of `device` does not have, read at this node. Of an array or a text that is certain, and of an
 * object if the name is a declared one misspelt; any other name may be one that the schema keeps quiet about. `isTested`
 * tells the names of which the snippet itself asks whether they are there.
 */
export function findInMember(node: ts.Node, reading: Reading, isTested: (name: string) => boolean): readonly Finding[] {
  const reach = reachOf(node);
  if (reach === undefined || reach.name.startsWith("__")) return [];
  const lack = lackOf(reading.typeOf(reach.object), reach.name, reading);
  if (lack === undefined) return [];
  const meant = misspelt(reach.name, lack.names);
  const tested = reach.hasDefault || isTested(reach.name);
  if (tested && meant.length === 0) return [];
  return [
    {
      code: "MEMBER_UNKNOWN",
      node: reach.node,
      message: `"${reach.name}" does not exist ${placeOf(lack, reach, reading)}`,
      certain: !tested && (meant.length > 0 || lack.kind !== "object"),
      suggestions: meant.length > 0 ? meant : nearest(reach.name, lack.names),
      grounds: { trusted: [reach.object], kept: [] },
    },
  ];
}

function placeOf({ kind, names }: Lack, { object }: Reach, reading: Reading): string {
  if (kind !== "object") return `on ${KIND_WORDS[kind]}`;
  const method = methodBehind(object, reading);
  return `in the result${method === undefined ? "" : ` of ${method}`}, declared are ${listed(names)}`;
}

/** A place where a member is read by its name. */
interface Reach {
  readonly name: string;
  readonly node: ts.Node;
  readonly object: ts.Expression | ts.ObjectBindingPattern;
  readonly hasDefault: boolean;
}

function reachOf(node: ts.Node): Reach | undefined {
  if (isAccess(node)) {
    const member = memberOf(node);
    if (member === undefined || isWritten(node) || isOfBuiltins(member.name, node.expression)) return undefined;
    return { ...member, object: node.expression, hasDefault: false };
  }
  if (!ts.isBindingElement(node) || node.dotDotDotToken !== undefined) return undefined;
  if (!ts.isObjectBindingPattern(node.parent)) return undefined;
  const key = node.propertyName ?? node.name;
  const name = ts.isIdentifier(key) ? key.text : keyOf(ts.isPropertyName(key) ? key : undefined);
  if (name === undefined) return undefined;
  return { name, node: key, object: node.parent, hasDefault: node.initializer !== undefined };
}

/**
 * `list.map(…).join` is there: what a builtin gives has what builtins have. To find the types of such a chain is what takes
 * longest in most snippets.
 */
function isOfBuiltins(name: string, object: ts.Expression): boolean {
  if (!BUILTIN_METHODS.has(name) || !ts.isCallExpression(object)) return false;
  const callee = object.expression;
  return ts.isPropertyAccessExpression(callee) && BUILTIN_METHODS.has(callee.name.text);
}

const BUILTIN_METHODS: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(Array.prototype),
  ...Object.getOwnPropertyNames(String.prototype),
]);

/** What a value has instead of a member. */
interface Lack {
  /** `object` if one of its forms is one: only arrays and simple values cannot have more than their kind has. */
  readonly kind: Kind;
  readonly names: readonly string[];
}

/** `undefined` if the value has the member, or may have it. */
function lackOf(type: ts.Type, name: string, reading: Reading): Lack | undefined {
  const lacks = (type.isUnion() ? type.types : [type]).map((form) => lackOfForm(form, name, reading));
  const [first] = lacks;
  if (first === undefined || lacks.includes(undefined)) return undefined;
  const names = new Set(lacks.flatMap((lack) => lack?.names ?? []));
  return { kind: lacks.some((lack) => lack?.kind === "object") ? "object" : first.kind, names: [...names] };
}

function lackOfForm(type: ts.Type, name: string, reading: Reading): Lack | undefined {
  const { checker } = reading;
  if (checker.getPropertyOfType(checker.getApparentType(type), name) !== undefined) return undefined;
  const parts = partsOf(type);
  const kinds = new Set(parts.map((part) => kindOf(part, checker)));
  const [kind] = kinds;
  if (kind === undefined || kinds.size > 1) return undefined;
  const isClosed = kind === "object" ? parts.every((part) => isDeclared(part, reading)) : !mayHave(kind, name);
  if (!isClosed) return undefined;
  const members = parts.flatMap((part) => checker.getPropertiesOfType(checker.getApparentType(part)));
  return { kind, names: members.map((member) => member.name) };
}

/** True for an object of which the declarations name all members. */
function isDeclared(type: ts.Type, { checker, originOf }: Reading): boolean {
  const declarations = type.symbol?.declarations ?? [];
  const isData = declarations.every((declaration) => originOf(declaration) === "device" && isDataType(declaration));
  return declarations.length > 0 && isData && checker.getIndexInfosOfType(type).length === 0;
}

function mayHave(kind: Kind, name: string): boolean {
  return /^\d+$/.test(name) || (kind === "string" && DATE_MEMBERS.has(name));
}

/** A date is declared as the text that JSON makes of it, and may still be a date for the snippet. */
const DATE_MEMBERS: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Date.prototype));
