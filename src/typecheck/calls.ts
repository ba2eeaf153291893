import ts from "typescript";

import { bind, type Bound } from "./binding.ts";
import type { DeclaredMethod, DeclaredParameter } from "./device.ts";
import { type Finding, type Grounds, together } from "./findings.ts";
import { Fitting } from "./fits.ts";
import { kindsOf } from "./kinds.ts";
import { misspelt } from "./near.ts";
import type { Reading } from "./reading.ts";
import { keyOf, valueOf } from "./syntax.ts";
import { listed, wordsForMisfit } from "./words.ts";

/** What cannot be right about the arguments of a call; nothing for a call of anything but a method of `device`. */
export function findInCall(call: ts.CallExpression, reading: Reading): readonly Finding[] {
  const method = reading.methodOf(call.expression);
  // `f(name=value)` is an argument by name, which whoever reads the snippet has yet to write as one.
  if (method === undefined || method.isOpen || call.arguments.some(isPythonic)) return [];
  const bound = bind(call, method, reading);
  const findings = [
    ...findTooMany(bound, method, reading),
    ...bound.placed.flatMap((value, at) => findUnfit(value, method.parameters[at], method, reading)),
    ...(bound.named?.properties.flatMap((property) => findInProperty(property, bound, method, reading)) ?? []),
    ...findMissing(call, bound, method),
  ];
  const callee: Grounds = { trusted: [call.expression], kept: [] };
  return findings.map((finding) => ({ ...finding, grounds: together(finding.grounds, callee) }));
}

function isPythonic(argument: ts.Expression): boolean {
  return ts.isBinaryExpression(argument) && argument.operatorToken.kind === ts.SyntaxKind.EqualsToken;
}

function findTooMany({ placed }: Bound, method: DeclaredMethod, reading: Reading): readonly Finding[] {
  const { path, parameters } = method;
  const extra = placed[parameters.length];
  if (extra === undefined || kindsOf(reading.typeOf(extra), reading.checker).has(undefined)) return [];
  const names = parameters.map(({ name }) => name);
  const most = names.length === 0 ? "no arguments" : `at most ${names.length} (${listed(names)})`;
  const message = `${path} takes ${most}, not ${placed.length}`;
  const grounds = { trusted: [extra], kept: [] };
  return [{ code: "ARGUMENT_COUNT", node: extra, message, certain: true, suggestions: [], grounds }];
}

function findUnfit(
  value: ts.Expression,
  parameter: DeclaredParameter | undefined,
  { path: method }: DeclaredMethod,
  reading: Reading,
): readonly Finding[] {
  if (parameter === undefined) return [];
  const fitting = new Fitting(reading);
  fitting.fit(value, reading.typeOfParameter(parameter), parameter.name);
  const misfits = fitting.misfits.map((misfit): Finding => {
    const { node, path } = misfit;
    const message = `"${path}" of ${method} ${wordsForMisfit(misfit, reading.checker)}`;
    const grounds = { trusted: [node], kept: [] };
    return { code: "ARGUMENT_TYPE", node, message, certain: true, suggestions: [], grounds };
  });
  // JSON Schema allows names that it does not mention, so this is only a guess.
  const strangers = fitting.strangers.flatMap(({ node, path, name, names }): readonly Finding[] => {
    const suggestions = misspelt(name, names);
    if (suggestions.length === 0) return [];
    const message = `"${path}" of ${method} is not declared, valid are ${listed(names)}`;
    const grounds = { trusted: [], kept: [] };
    return [{ code: "ARGUMENT_UNKNOWN", node, message, certain: false, suggestions, grounds }];
  });
  return [...misfits, ...strangers];
}

/** Of an argument by name. One that is like no other may be right: a method can take more than it names. */
function findInProperty(
  property: ts.ObjectLiteralElementLike,
  bound: Bound,
  method: DeclaredMethod,
  reading: Reading,
): readonly Finding[] {
  const name = keyOf(property.name);
  const value = valueOf(property);
  if (name === undefined || property.name === undefined) return [];
  const parameter = method.parameters.find((each) => each.name === name);
  if (parameter !== undefined) {
    const findings = value === undefined ? [] : findUnfit(value, parameter, method, reading);
    return findings.map((finding) => ({ ...finding, grounds: together(finding.grounds, bound.grounds) }));
  }
  const suggestions = misspelt(name, namesLeft(bound, method));
  if (suggestions.length === 0) return [];
  const names = method.parameters.map((each) => each.name);
  const message = `"${name}" is not an argument of ${method.path}, valid are ${listed(names)}`;
  const { grounds } = bound;
  return [{ code: "ARGUMENT_UNKNOWN", node: property.name, message, certain: true, suggestions, grounds }];
}

/** The names that are not yet given. */
function namesLeft({ placed, named }: Bound, { parameters }: DeclaredMethod): readonly string[] {
  const given = new Set(named?.properties.map(({ name }) => keyOf(name)));
  return parameters.slice(placed.length).flatMap(({ name }) => (given.has(name) ? [] : [name]));
}

/** Told once for a call; a name that is only misspelt is not missing. */
function findMissing(call: ts.CallExpression, bound: Bound, method: DeclaredMethod): readonly Finding[] {
  const { named, isWhole, grounds } = bound;
  if (!isWhole) return [];
  const left = namesLeft(bound, method);
  const meant = new Set(named?.properties.flatMap(({ name }) => misspelt(keyOf(name) ?? "", left)));
  const missing = method.parameters.filter(({ name, required }) => required && left.includes(name) && !meant.has(name));
  if (missing.length === 0) return [];
  const names = missing.map(({ name }) => `"${name}"`).join(", ");
  const message = `${names} of ${method.path} ${missing.length === 1 ? "is" : "are"} required`;
  return [{ code: "ARGUMENT_MISSING", node: named ?? call, message, certain: true, suggestions: [], grounds }];
}
