import ts from "typescript";

import { bind, type BoundArguments } from "./binding.ts";
import type { DeviceMethod, DeviceParameter } from "./device.ts";
import { type TypeFinding, type Evidence, combineEvidence } from "./findings.ts";
import { ArgumentMatcher } from "./assignability.ts";
import { getKinds } from "./json-kinds.ts";
import { findMisspelling } from "./misspellings.ts";
import type { TypedProgram } from "./typed-program.ts";
import { getKey, getValue } from "./syntax.ts";
import { listed, describeMismatch } from "./messages-text.ts";

/** Finds arguments that cannot be valid; returns an empty list for calls of other functions than `device` methods. */
export function findInCall(call: ts.CallExpression, typed: TypedProgram): readonly TypeFinding[] {
  const method = typed.findMethod(call.expression);
  // `f(name=value)` is a Python keyword argument, which a later step rewrites.
  if (method === undefined || method.isOpen || call.arguments.some(isPythonic)) return [];
  const bound = bind(call, method, typed);
  const findings = [
    ...findTooMany(bound, method, typed),
    ...bound.placed.flatMap((value, at) => findMismatches(value, method.parameters[at], method, typed)),
    ...(bound.byName?.properties.flatMap((property) => findInProperty(property, bound, method, typed)) ?? []),
    ...findMissing(call, bound, method),
  ];
  const callee: Evidence = { trusted: [call.expression], constants: [] };
  return findings.map((finding) => ({ ...finding, evidence: combineEvidence(finding.evidence, callee) }));
}

function isPythonic(argument: ts.Expression): boolean {
  return ts.isBinaryExpression(argument) && argument.operatorToken.kind === ts.SyntaxKind.EqualsToken;
}

function findTooMany({ placed }: BoundArguments, method: DeviceMethod, typed: TypedProgram): readonly TypeFinding[] {
  const { path, parameters } = method;
  const extra = placed[parameters.length];
  if (extra === undefined || getKinds(typed.getType(extra), typed.checker).has(undefined)) return [];
  const names = parameters.map(({ name }) => name);
  const most = names.length === 0 ? "no arguments" : `at most ${names.length} (${listed(names)})`;
  const message = `${path} takes ${most}, not ${placed.length}`;
  const evidence = { trusted: [extra], constants: [] };
  return [{ code: "ARGUMENT_COUNT", node: extra, message, certain: true, suggestions: [], evidence }];
}

function findMismatches(
  value: ts.Expression,
  parameter: DeviceParameter | undefined,
  { path: method }: DeviceMethod,
  typed: TypedProgram,
): readonly TypeFinding[] {
  if (parameter === undefined) return [];
  const fitting = new ArgumentMatcher(typed);
  fitting.fit(value, typed.getParameterType(parameter), parameter.name);
  const mismatches = fitting.mismatches.map((mismatch): TypeFinding => {
    const { node, path } = mismatch;
    const message = `"${path}" of ${method} ${describeMismatch(mismatch, typed.checker)}`;
    const evidence = { trusted: [node], constants: [] };
    return { code: "ARGUMENT_TYPE", node, message, certain: true, suggestions: [], evidence };
  });
  // JSON Schema allows names that it does not mention, so this is only a guess.
  const unknownProperties = fitting.unknownProperties.flatMap(({ node, path, name, names }): readonly TypeFinding[] => {
    const suggestions = findMisspelling(name, names);
    if (suggestions.length === 0) return [];
    const message = `"${path}" of ${method} is not declared, valid are ${listed(names)}`;
    const evidence = { trusted: [], constants: [] };
    return [{ code: "ARGUMENT_UNKNOWN", node, message, certain: false, suggestions, evidence }];
  });
  return [...mismatches, ...unknownProperties];
}

/** Checks a named argument. An unknown name may be valid, because a method can accept undeclared names. */
function findInProperty(
  property: ts.ObjectLiteralElementLike,
  bound: BoundArguments,
  method: DeviceMethod,
  typed: TypedProgram,
): readonly TypeFinding[] {
  const name = getKey(property.name);
  const value = getValue(property);
  if (name === undefined || property.name === undefined) return [];
  const parameter = method.parameters.find((each) => each.name === name);
  if (parameter !== undefined) {
    const findings = value === undefined ? [] : findMismatches(value, parameter, method, typed);
    return findings.map((finding) => ({ ...finding, evidence: combineEvidence(finding.evidence, bound.evidence) }));
  }
  const suggestions = findMisspelling(name, getFreeNames(bound, method));
  if (suggestions.length === 0) return [];
  const names = method.parameters.map((each) => each.name);
  const message = `"${name}" is not an argument of ${method.path}, valid are ${listed(names)}`;
  const { evidence } = bound;
  return [{ code: "ARGUMENT_UNKNOWN", node: property.name, message, certain: true, suggestions, evidence }];
}

/** Returns the names of the parameters without an argument. */
function getFreeNames({ placed, byName }: BoundArguments, { parameters }: DeviceMethod): readonly string[] {
  const namedKeys = new Set(byName?.properties.map(({ name }) => getKey(name)));
  return parameters.slice(placed.length).flatMap(({ name }) => (namedKeys.has(name) ? [] : [name]));
}

/** Reports the missing arguments of a call once; a misspelt name does not count as missing. */
function findMissing(call: ts.CallExpression, bound: BoundArguments, method: DeviceMethod): readonly TypeFinding[] {
  const { byName, isWhole, evidence } = bound;
  if (!isWhole) return [];
  const freeNames = getFreeNames(bound, method);
  const misspelt = new Set(byName?.properties.flatMap(({ name }) => findMisspelling(getKey(name) ?? "", freeNames)));
  const missing = method.parameters.filter(
    ({ name, required }) => required && freeNames.includes(name) && !misspelt.has(name),
  );
  if (missing.length === 0) return [];
  const names = missing.map(({ name }) => `"${name}"`).join(", ");
  const message = `${names} of ${method.path} ${missing.length === 1 ? "is" : "are"} required`;
  return [{ code: "ARGUMENT_MISSING", node: byName ?? call, message, certain: true, suggestions: [], evidence }];
}
