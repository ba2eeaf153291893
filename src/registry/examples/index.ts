import type { Method } from "../../model/catalog.ts";
import { isRecord } from "../../model/json.ts";
import { propertyName, quoted } from "../declarations/text.ts";
import { acceptsValue } from "./accepts.ts";
import { createExample } from "./value.ts";

/** Maximum positional arguments; more are written by name. */
const POSITIONAL = 3;

/** Maximum schemas checked for one example. */
const CHECK_STEPS = 10_000;

/**
 * Generates the required arguments of a method from its schema, with values within all bounds. They are valid unless no
 * value is valid.
 */
export function exampleArguments(method: Pick<Method, "input">): Readonly<Record<string, unknown>> {
  const value = createExample(method.input, method.input);
  return isRecord(value) ? value : {};
}

/**
 * Writes an example call as in a snippet: `await device.MathSkill.add(1, 1)`. Includes the first parameter if none is
 * required.
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

/** Writes a JSON value as JavaScript. */
function literal(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (!isRecord(value)) return String(value);
  const members = Object.entries(value).map(([key, inner]) => `${memberKey(key)}: ${literal(inner)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

/** Writes a key. In a literal, a bare `__proto__` would set the prototype. */
function memberKey(key: string): string {
  return key === "__proto__" ? `["__proto__"]` : propertyName(key);
}
