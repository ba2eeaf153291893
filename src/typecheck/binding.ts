import ts from "typescript";

import type { DeviceMethod, DeviceParameter } from "./device.ts";
import type { Evidence } from "./findings.ts";
import { type JsonKind, getKinds } from "./json-kinds.ts";
import type { TypedProgram } from "./typed-program.ts";
import { bare, getKey, findObjectLiteral } from "./syntax.ts";

/** The arguments of a call, each with its place or its name. */
export interface BoundArguments {
  /** In the order of the parameters. */
  readonly placed: readonly ts.Expression[];
  /** The object that holds the rest by name. */
  readonly byName: ts.ObjectLiteralExpression | undefined;
  /** False if there may be more. */
  readonly isWhole: boolean;
  /** The evidence that the last argument is a value, or an object of named arguments. */
  readonly evidence: Evidence;
}

const NO_EVIDENCE: Evidence = { trusted: [], constants: [] };

/**
 * Gives each argument of a call its parameter, as the run will do it with values: an object in last place holds arguments
 * by name, unless the next parameter takes objects and no name in it is the name of a parameter that is still open.
 */
export function bind(call: ts.CallExpression, method: DeviceMethod, typed: TypedProgram): BoundArguments {
  const args = call.arguments.slice(0, call.arguments.findLastIndex((argument) => !isUndefined(argument)) + 1);
  const spread = args.findIndex((argument) => ts.isSpreadElement(argument));
  if (spread >= 0) return { placed: args.slice(0, spread), byName: undefined, isWhole: false, evidence: NO_EVIDENCE };
  const last = args.at(-1);
  if (last === undefined) return { placed: [], byName: undefined, isWhole: true, evidence: NO_EVIDENCE };
  const before = args.slice(0, -1);
  const open = method.parameters.slice(before.length);
  const object = findObjectLiteral(last, typed.checker);
  const role = object === undefined ? classifyValue(last, open, typed) : classifyObject(object, open, typed);
  const evidence = collectEvidence(last, object);
  switch (role) {
    case "value":
      return { placed: args, byName: undefined, isWhole: true, evidence };
    case "names":
      return { placed: before, byName: object, isWhole: object?.properties.every(isNamed) === true, evidence };
    case "unclear":
      return { placed: before, byName: undefined, isWhole: false, evidence };
  }
}

/** A trailing `undefined` is the same as a missing argument. */
function isUndefined(argument: ts.Expression): boolean {
  return (ts.isIdentifier(argument) && argument.text === "undefined") || ts.isVoidExpression(argument);
}

function isNamed({ name }: ts.ObjectLiteralElementLike): boolean {
  return getKey(name) !== undefined;
}

/** An object literal needs no trust, except that its variable must still hold it. */
function collectEvidence(last: ts.Expression, object: ts.ObjectLiteralExpression | undefined): Evidence {
  if (object === undefined) return { trusted: [last], constants: [] };
  const value = bare(last);
  return ts.isIdentifier(value) ? { trusted: [], constants: [value] } : NO_EVIDENCE;
}

type Role = "value" | "names" | "unclear";

function classifyObject(
  object: ts.ObjectLiteralExpression,
  open: readonly DeviceParameter[],
  typed: TypedProgram,
): Role {
  const names = object.properties.map(({ name }) => getKey(name));
  const kinds = kindsWanted(open, typed);
  if (names.includes("toJSON")) return "unclear";
  if (names.some((name) => open.some((parameter) => parameter.name === name)) || !takesObject(kinds)) return "names";
  if (names.length > 0) return names.includes(undefined) ? "unclear" : "value";
  if (open[0]?.required !== true) return "names";
  return kinds.has(undefined) ? "unclear" : "value";
}

/** An object with none of the names, where no object is wanted, is as wrong by name as it is as a value. */
function classifyValue(last: ts.Expression, open: readonly DeviceParameter[], typed: TypedProgram): Role {
  const type = typed.getType(last);
  const kinds = getKinds(type, typed.checker);
  if (kinds.has(undefined)) return "unclear";
  if (!kinds.has("object")) return "value";
  const members = typed.checker.getPropertiesOfType(type);
  const hasName = members.some(({ name }) => open.some((parameter) => parameter.name === name));
  const isStrange = kinds.size === 1 && members.length > 0 && !hasName;
  return isStrange && open.length > 0 && !takesObject(kindsWanted(open, typed)) ? "value" : "unclear";
}

/** The kinds that the next parameter takes. */
function kindsWanted([next]: readonly DeviceParameter[], typed: TypedProgram): ReadonlySet<JsonKind | undefined> {
  return next === undefined ? new Set() : getKinds(typed.getParameterType(next), typed.checker);
}

function takesObject(kinds: ReadonlySet<JsonKind | undefined>): boolean {
  return kinds.has("object") || kinds.has(undefined);
}
