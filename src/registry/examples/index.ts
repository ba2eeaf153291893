import type { Method } from "../../model/catalog.ts";
import { isRecord } from "../../model/json.ts";
import { propertyName, quoted } from "../declarations/text.ts";
import { getShownParameters } from "../parameters.ts";
import { createExample } from "./value.ts";
import { formatMethodAccess } from "../../shared/names/method-paths.ts";

/** Maximum parameters of a method that is shown with positional arguments. */
const MAX_POSITIONAL = 2;

/**
 * Generates the required arguments of a method from its schema, with values within all bounds. They are valid unless no
 * value was found that is.
 */
export function exampleArguments({ input }: Pick<Method, "input">): Readonly<Record<string, unknown>> {
  const value = createExample(input);
  return isRecord(value) ? value : {};
}

/**
 * Writes an example call as in a program: `await device.MathSkill.add(1, 1)`. Includes the first parameter if none is
 * required.
 */
export function exampleCall(method: Method): string {
  const args = createArguments(method);
  const names = Object.keys(args);
  const parameters = getShownParameters(method);
  const order = parameters.slice(0, names.length);
  const simple = Object.values(args).every((value) => typeof value !== "object" || value === null);
  const fits = parameters.length <= MAX_POSITIONAL && order.every(({ name }) => Object.hasOwn(args, name));
  const text =
    names.length === 0 ? "" : simple && fits ? order.map(({ name }) => literal(args[name])).join(", ") : literal(args);
  return `await ${formatMethodAccess(method.path)}(${text})`;
}

function createArguments(method: Method): Readonly<Record<string, unknown>> {
  const [first] = getShownParameters(method);
  const { required } = method.input;
  const isEmpty = first !== undefined && !first.required && !(Array.isArray(required) && required.length > 0);
  return exampleArguments(isEmpty ? { input: { ...method.input, required: [first.name] } } : method);
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
