import ts from "typescript";

import type { DeclaredMethod, DeclaredParameter } from "./device.ts";
import type { Finding } from "./findings.ts";
import { Fitting } from "./fits.ts";
import { kindsOf } from "./kinds.ts";
import { misspelt } from "./near.ts";
import type { Reading } from "./reading.ts";
import { keyOf, literalBehind, valueOf } from "./syntax.ts";
import { listed, wordsForMisfit } from "./words.ts";

/** What cannot be right about the arguments of a call; nothing for a call of anything but a method of `device`. */
export function findInCall(call: ts.CallExpression, reading: Reading): readonly Finding[] {
  const method = reading.methodOf(call.expression);
  // `f(name=value)` is an argument by name, which whoever reads the snippet has yet to write as one.
  if (method === undefined || method.isOpen || call.arguments.some(isPythonic)) return [];
  const bound = bind(call, method, reading);
  const placed = bound.placed.flatMap((value, at) => findUnfit(value, method.parameters[at], method, reading));
  const named = bound.named === undefined ? [] : findInNames(bound.named, bound, method, reading);
  return [...findTooMany(bound, method, reading), ...placed, ...named, ...findMissing(call, bound, method)];
}

function isPythonic(argument: ts.Expression): boolean {
  return ts.isBinaryExpression(argument) && argument.operatorToken.kind === ts.SyntaxKind.EqualsToken;
}

/** The arguments of a call, each with its place or its name. */
interface Bound {
  /** In the order of the parameters. */
  readonly placed: readonly ts.Expression[];
  /** The object that holds the rest by name. */
  readonly named: ts.ObjectLiteralExpression | undefined;
  /** False if there may be more. */
  readonly isWhole: boolean;
  /** The last argument, whose type decided what it is. */
  readonly last: ts.Expression | undefined;
}

/**
 * Gives each argument of a call its parameter, as the run will do it with values: an object in last place holds arguments
 * by name, unless the next parameter takes objects and no name in it is the name of a parameter that is still open.
 */
function bind(call: ts.CallExpression, method: DeclaredMethod, reading: Reading): Bound {
  const given = call.arguments.slice(0, call.arguments.findLastIndex((argument) => !isUndefined(argument)) + 1);
  const spread = given.findIndex((argument) => ts.isSpreadElement(argument));
  if (spread >= 0) return { placed: given.slice(0, spread), named: undefined, isWhole: false, last: undefined };
  const last = given.at(-1);
  if (last === undefined) return { placed: [], named: undefined, isWhole: true, last };
  const before = given.slice(0, -1);
  const named = literalBehind(last, reading.checker);
  switch (roleOf(last, named, method.parameters.slice(before.length), reading)) {
    case "value":
      return { placed: given, named: undefined, isWhole: true, last };
    case "names":
      return {
        placed: before,
        named,
        isWhole: named?.properties.every(({ name }) => keyOf(name) !== undefined) === true,
        last,
      };
    case "unclear":
      return { placed: before, named: undefined, isWhole: false, last };
  }
}

/** `undefined` at the end of the arguments is as good as nothing. */
function isUndefined(argument: ts.Expression): boolean {
  return (ts.isIdentifier(argument) && argument.text === "undefined") || ts.isVoidExpression(argument);
}

type Role = "value" | "names" | "unclear";

function roleOf(
  last: ts.Expression,
  literal: ts.ObjectLiteralExpression | undefined,
  open: readonly DeclaredParameter[],
  reading: Reading,
): Role {
  const [next] = open;
  const wanted = next === undefined ? undefined : kindsOf(typeOf(next, reading), reading.checker);
  const takesObject = wanted !== undefined && (wanted.has("object") || wanted.has(undefined));
  const isOpen = (name: string | undefined): boolean => open.some((parameter) => parameter.name === name);
  if (literal !== undefined) {
    const names = literal.properties.map(({ name }) => keyOf(name));
    if (names.includes("toJSON")) return "unclear";
    if (names.some(isOpen) || !takesObject) return "names";
    if (names.length > 0) return names.includes(undefined) ? "unclear" : "value";
    if (next?.required !== true) return "names";
    return wanted.has(undefined) ? "unclear" : "value";
  }
  const type = reading.typeOf(last);
  const kinds = kindsOf(type, reading.checker);
  if (!kinds.has("object") && !kinds.has(undefined)) return "value";
  // An object with none of the names, where none is wanted, is as wrong by name as it is as a value.
  const members = reading.checker.getPropertiesOfType(type);
  const isStrange = members.length > 0 && !members.some(({ name }) => isOpen(name));
  return next !== undefined && !takesObject && isStrange && kinds.size === 1 && !kinds.has(undefined)
    ? "value"
    : "unclear";
}

function typeOf({ declaration }: DeclaredParameter, { checker }: Reading): ts.Type {
  return checker.getTypeAtLocation(declaration);
}

function findTooMany({ placed }: Bound, method: DeclaredMethod, reading: Reading): readonly Finding[] {
  const { path, parameters } = method;
  const extra = placed[parameters.length];
  if (extra === undefined || kindsOf(reading.typeOf(extra), reading.checker).has(undefined)) return [];
  const names = parameters.map(({ name }) => name);
  const most = names.length === 0 ? "no arguments" : `at most ${names.length} (${listed(names)})`;
  const message = `${path} takes ${most}, not ${placed.length}`;
  return [{ code: "ARGUMENT_COUNT", node: extra, message, certain: true, suggestions: [], grounds: [extra] }];
}

function findUnfit(
  value: ts.Expression,
  parameter: DeclaredParameter | undefined,
  { path: method }: DeclaredMethod,
  reading: Reading,
): readonly Finding[] {
  if (parameter === undefined) return [];
  const fitting = new Fitting(reading);
  fitting.fit(value, typeOf(parameter, reading), parameter.name);
  const misfits = fitting.misfits.map((misfit): Finding => {
    const message = `"${misfit.path}" of ${method} ${wordsForMisfit(misfit, reading.checker)}`;
    return {
      code: "ARGUMENT_TYPE",
      node: misfit.node,
      message,
      certain: true,
      suggestions: [],
      grounds: [misfit.node],
    };
  });
  // JSON Schema allows names that it does not mention, so this is only a guess.
  const strangers = fitting.strangers.flatMap(({ node, path, name, names }): Finding[] => {
    const suggestions = misspelt(name, names);
    const message = `"${path}" of ${method} is not declared, valid are ${listed(names)}`;
    return suggestions.length === 0
      ? []
      : [{ code: "ARGUMENT_UNKNOWN", node, message, certain: false, suggestions, grounds: [] }];
  });
  return [...misfits, ...strangers];
}

function findInNames(
  named: ts.ObjectLiteralExpression,
  { placed, last }: Bound,
  method: DeclaredMethod,
  reading: Reading,
): readonly Finding[] {
  const grounds = last === undefined ? [] : [last];
  return named.properties.flatMap((property): readonly Finding[] => {
    const name = keyOf(property.name);
    const value = valueOf(property);
    const parameter = method.parameters.find((each) => each.name === name);
    if (name === undefined || property.name === undefined) return [];
    if (parameter !== undefined && value !== undefined) {
      return findUnfit(value, parameter, method, reading).map((finding) => ({
        ...finding,
        grounds: [...finding.grounds, ...grounds],
      }));
    }
    const suggestions = parameter === undefined ? misspelt(name, namesLeft(named, placed.length, method)) : [];
    if (suggestions.length === 0) return [];
    const names = method.parameters.map((each) => each.name);
    const message = `"${name}" is not an argument of ${method.path}, valid are ${listed(names)}`;
    return [{ code: "ARGUMENT_UNKNOWN", node: property.name, message, certain: true, suggestions, grounds }];
  });
}

/** The names that are not yet given. */
function namesLeft(
  named: ts.ObjectLiteralExpression | undefined,
  placed: number,
  { parameters }: DeclaredMethod,
): readonly string[] {
  const given = new Set(named?.properties.map(({ name }) => keyOf(name)));
  return parameters.slice(placed).flatMap(({ name }) => (given.has(name) ? [] : [name]));
}

/** Told once for a call; a name that is only misspelt is not missing. */
function findMissing(
  call: ts.CallExpression,
  { placed, named, isWhole, last }: Bound,
  method: DeclaredMethod,
): readonly Finding[] {
  if (!isWhole) return [];
  const left = namesLeft(named, placed.length, method);
  const meant = new Set(named?.properties.flatMap(({ name }) => misspelt(keyOf(name) ?? "", left)));
  const missing = method.parameters.filter(({ name, required }) => required && left.includes(name) && !meant.has(name));
  if (missing.length === 0) return [];
  const names = missing.map(({ name }) => `"${name}"`).join(", ");
  const message = `${names} of ${method.path} ${missing.length === 1 ? "is" : "are"} required`;
  const grounds = last === undefined ? [] : [last];
  return [{ code: "ARGUMENT_MISSING", node: named ?? call, message, certain: true, suggestions: [], grounds }];
}
