import ts from "typescript";

import { nearest } from "../model/nearest.ts";
import { ownerOf } from "./device.ts";
import type { Finding } from "./findings.ts";
import { kindOf, partsOf } from "./kinds.ts";
import { misspelt } from "./near.ts";
import type { Reading } from "./reading.ts";
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
  const declared = lack.isData ? `, declared are ${listed(lack.names)}` : "";
  return [
    {
      code: "MEMBER_UNKNOWN",
      node: reach.node,
      message: `"${reach.name}" does not exist ${lack.where}${declared}`,
      certain: !tested && (meant.length > 0 || !lack.isData),
      suggestions: meant.length > 0 ? meant : nearest(reach.name, lack.names),
      grounds: [reach.object],
    },
  ];
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
    return member && !isWritten(node) ? { ...member, object: node.expression, hasDefault: false } : undefined;
  }
  if (!ts.isBindingElement(node) || node.dotDotDotToken !== undefined) return undefined;
  if (!ts.isObjectBindingPattern(node.parent)) return undefined;
  const key = node.propertyName ?? node.name;
  const name = ts.isIdentifier(key) ? key.text : keyOf(ts.isPropertyName(key) ? key : undefined);
  if (name === undefined) return undefined;
  return { name, node: key, object: node.parent, hasDefault: node.initializer !== undefined };
}

/** What a value has instead of a member. */
interface Lack {
  readonly where: string;
  readonly names: readonly string[];
  /** False for arrays and simple values, which cannot have more than their kind has. */
  readonly isData: boolean;
}

/** `undefined` if the value has the member, or may have it. */
function lackOf(type: ts.Type, name: string, reading: Reading): Lack | undefined {
  const lacks = (type.isUnion() ? type.types : [type]).map((form) => lackOfForm(form, name, reading));
  const [first] = lacks;
  if (first === undefined || lacks.includes(undefined)) return undefined;
  const names = [...new Set(lacks.flatMap((lack) => lack?.names ?? []))];
  return { where: first.where, names, isData: lacks.some((lack) => lack?.isData) };
}

function lackOfForm(type: ts.Type, name: string, { checker, originOf }: Reading): Lack | undefined {
  if (checker.getPropertyOfType(checker.getApparentType(type), name) !== undefined) return undefined;
  const parts = partsOf(type);
  const names = parts.flatMap((part) =>
    checker.getPropertiesOfType(checker.getApparentType(part)).map((each) => each.name),
  );
  const [part] = parts;
  const kind = part && kindOf(part, checker);
  if (part === undefined || kind === undefined) return undefined;
  if (kind !== "object") {
    const isCertain = parts.length === 1 && !/^\d+$/.test(name) && !(kind === "string" && DATE_MEMBERS.has(name));
    return isCertain ? { where: `on ${KIND_WORDS[kind]}`, names, isData: false } : undefined;
  }
  const owners = parts.map((part) => {
    const declarations = part.symbol?.declarations ?? [];
    const isDeclared = declarations.every((declaration) => originOf(declaration) === "device");
    const [declaration] = declarations;
    return isDeclared && declaration && checker.getIndexInfosOfType(part).length === 0
      ? ownerOf(declaration)
      : undefined;
  });
  return owners[0] === undefined || owners.includes(undefined)
    ? undefined
    : { where: `in ${owners[0]}`, names, isData: true };
}

/** A date is declared as the text that JSON makes of it, and may still be a date for the snippet. */
const DATE_MEMBERS: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Date.prototype));
