import ts from "typescript";

import type { DeclaredMethod, DeclaredParameter } from "./device.ts";
import type { Grounds } from "./findings.ts";
import { type Kind, kindsOf } from "./kinds.ts";
import type { Reading } from "./reading.ts";
import { bare, keyOf, objectBehind } from "./syntax.ts";

/** The arguments of a call, each with its place or its name. */
export interface Bound {
  /** In the order of the parameters. */
  readonly placed: readonly ts.Expression[];
  /** The object that holds the rest by name. */
  readonly named: ts.ObjectLiteralExpression | undefined;
  /** False if there may be more. */
  readonly isWhole: boolean;
  /** What makes the last argument a value, or names. */
  readonly grounds: Grounds;
}

const NO_GROUNDS: Grounds = { trusted: [], kept: [] };

/**
 * Gives each argument of a call its parameter, as the run will do it with values: an object in last place holds arguments
 * by name, unless the next parameter takes objects and no name in it is the name of a parameter that is still open.
 */
export function bind(call: ts.CallExpression, method: DeclaredMethod, reading: Reading): Bound {
  const given = call.arguments.slice(0, call.arguments.findLastIndex((argument) => !isUndefined(argument)) + 1);
  const spread = given.findIndex((argument) => ts.isSpreadElement(argument));
  if (spread >= 0) return { placed: given.slice(0, spread), named: undefined, isWhole: false, grounds: NO_GROUNDS };
  const last = given.at(-1);
  if (last === undefined) return { placed: [], named: undefined, isWhole: true, grounds: NO_GROUNDS };
  const before = given.slice(0, -1);
  const open = method.parameters.slice(before.length);
  const object = objectBehind(last, reading.checker);
  const role = object === undefined ? roleOfValue(last, open, reading) : roleOfObject(object, open, reading);
  const grounds = groundsOf(last, object);
  switch (role) {
    case "value":
      return { placed: given, named: undefined, isWhole: true, grounds };
    case "names":
      return { placed: before, named: object, isWhole: object?.properties.every(isNamed) === true, grounds };
    case "unclear":
      return { placed: before, named: undefined, isWhole: false, grounds };
  }
}

/** `undefined` at the end of the arguments is as good as nothing. */
function isUndefined(argument: ts.Expression): boolean {
  return (ts.isIdentifier(argument) && argument.text === "undefined") || ts.isVoidExpression(argument);
}

function isNamed({ name }: ts.ObjectLiteralElementLike): boolean {
  return keyOf(name) !== undefined;
}

/** Of an object in the text nothing has to be trusted, but that the variable in which it is still holds it. */
function groundsOf(last: ts.Expression, object: ts.ObjectLiteralExpression | undefined): Grounds {
  if (object === undefined) return { trusted: [last], kept: [] };
  const value = bare(last);
  return ts.isIdentifier(value) ? { trusted: [], kept: [value] } : NO_GROUNDS;
}

type Role = "value" | "names" | "unclear";

function roleOfObject(object: ts.ObjectLiteralExpression, open: readonly DeclaredParameter[], reading: Reading): Role {
  const names = object.properties.map(({ name }) => keyOf(name));
  const wanted = kindsWanted(open, reading);
  if (names.includes("toJSON")) return "unclear";
  if (names.some((name) => open.some((parameter) => parameter.name === name)) || !takesObject(wanted)) return "names";
  if (names.length > 0) return names.includes(undefined) ? "unclear" : "value";
  if (open[0]?.required !== true) return "names";
  return wanted.has(undefined) ? "unclear" : "value";
}

/** An object with none of the names, where no object is wanted, is as wrong by name as it is as a value. */
function roleOfValue(last: ts.Expression, open: readonly DeclaredParameter[], reading: Reading): Role {
  const type = reading.typeOf(last);
  const kinds = kindsOf(type, reading.checker);
  if (kinds.has(undefined)) return "unclear";
  if (!kinds.has("object")) return "value";
  const members = reading.checker.getPropertiesOfType(type);
  const hasName = members.some(({ name }) => open.some((parameter) => parameter.name === name));
  const isStrange = kinds.size === 1 && members.length > 0 && !hasName;
  return isStrange && open.length > 0 && !takesObject(kindsWanted(open, reading)) ? "value" : "unclear";
}

/** The kinds that the next parameter takes. */
function kindsWanted([next]: readonly DeclaredParameter[], reading: Reading): ReadonlySet<Kind | undefined> {
  return next === undefined ? new Set() : kindsOf(reading.typeOfParameter(next), reading.checker);
}

function takesObject(kinds: ReadonlySet<Kind | undefined>): boolean {
  return kinds.has("object") || kinds.has(undefined);
}
