import type { Method } from "../../model/catalog.ts";
import { isRecord } from "../../model/json.ts";
import { propertyName, quoted } from "../declarations/text.ts";
import { acceptsValue } from "./accepts.ts";
import { createExample } from "./value.ts";

/** Arguments that are written one after the other; more are written by name. */
const POSITIONAL = 3;

/** Schemas that are looked at to check one example. */
const CHECK_STEPS = 10_000;

/**
 * Arguments for a method, made from its schema alone: those it requires, with values within every bound. They validate
 * against the schema unless nothing does (T7).
 */
export function exampleArguments(method: Pick<Method, "input">): Readonly<Record<string, unknown>> {
  const value = createExample(method.input, method.input);
  return isRecord(value) ? value : {};
}

/**
 * `await device.MathSkill.add(1, 1)`: a call with such arguments, as a snippet writes it; with the first parameter where
 * none is required.
 */
export function exampleCall(method: Method): string {
  const given = tellingArguments(method);
  const names = Object.keys(given);
  const order = method.parameters.slice(0, names.length);
  const simple = Object.values(given).every((value) => typeof value !== "object" || value === null);
  const positional = simple && names.length <= POSITIONAL && order.every(({ name }) => Object.hasOwn(given, name));
  const text = positional ? order.map(({ name }) => literal(given[name])).join(", ") : literal(given);
  return `await device.${method.path}(${text})`;
}

function tellingArguments(method: Method): Readonly<Record<string, unknown>> {
  const [first] = method.parameters;
  if (first === undefined || first.required) return exampleArguments(method);
  const telling = exampleArguments({ input: { ...method.input, required: [first.name] } });
  const isValid = acceptsValue(telling, method.input, { root: method.input, stepsLeft: CHECK_STEPS });
  return isValid ? telling : exampleArguments(method);
}

/** A JSON value as JavaScript writes it. */
function literal(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (!isRecord(value)) return String(value);
  const members = Object.entries(value).map(([key, inner]) => `${memberKey(key)}: ${literal(inner)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

/** In a literal, a bare `__proto__` would set the prototype. */
function memberKey(key: string): string {
  return key === "__proto__" ? `["__proto__"]` : propertyName(key);
}
