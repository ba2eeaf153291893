import type { Method, Parameter } from "./catalog.ts";
import { isRecord, type JsonSchema } from "./json.ts";
import { UNKNOWN } from "./plan.ts";
import { sentence } from "../errors.ts";

/** One reason why arguments do not fit a method (T6). */
export interface ArgumentProblem {
  /** Where: `query`, `filters[0].name`; `_root` for the input as a whole. */
  readonly field: string;
  readonly type:
    | "field_missing"
    | "type_mismatch"
    | "null_value"
    | "string_too_short"
    | "string_too_long"
    | "pattern_mismatch"
    | "enum_violation"
    | "below_minimum"
    | "above_maximum"
    | "too_few_items"
    | "too_many_items"
    | "unknown_field"
    /** The schema cannot tell: its pattern is broken, or checking this value takes too long. */
    | "invalid_pattern";
  /** The predicate that follows the field's name in a message: `must be a number, not "5"`. */
  readonly reason: string;
  readonly suggestions: readonly string[];
}

export type ArgumentBinding =
  | {
      readonly kind: "bound";
      readonly input: Record<string, unknown>;
      /** False before a run, when an `UNKNOWN` argument may turn out to hold further arguments by name. */
      readonly complete: boolean;
    }
  | { readonly kind: "unfit"; readonly problems: readonly ArgumentProblem[] };

/**
 * Gives each argument of a call the name of its parameter (S1).
 *
 * Arguments take the parameters in order: the required ones, then the optional ones. `undefined` leaves its parameter
 * out. A plain object in last place is different: it holds arguments by name, alone or after others, as in
 * `("weather", { count: 5 })`. It is the value of the next parameter only if that takes an object and no key of it is
 * the name of a parameter that is still open; `{}` only if that parameter is required and says that it is an object,
 * because `{}` usually means no arguments. Whatever is meant otherwise can be said by name.
 *
 * `UNKNOWN` arguments take a place and are not checked.
 */
export function bindArguments(method: Method, args: readonly unknown[]): ArgumentBinding {
  const present = args.slice(0, args.findLastIndex((argument) => argument !== undefined) + 1);
  const last = present.at(-1);
  const before = present.slice(0, -1);
  if (last === UNKNOWN) return bound(method, before, {}, false);
  if (isPlainObject(last) && holdsNames(last, before.length, method)) {
    // Refused before anything is copied: each further step would take time for every name.
    const count = Object.keys(last).length;
    if (count > method.parameters.length + MAX_UNKNOWN_NAMES && !isOpenToNames(method))
      return unfit(tooMany(count, method.parameters));
    return bound(method, before, last, true);
  }
  return bound(method, present, {}, true);
}

/** A call with more names beside its parameters is refused as a whole. */
const MAX_UNKNOWN_NAMES = 64;

/** `Cannot call a method with these arguments: "query" is required; use search(query: string) (ARGUMENTS_INVALID)`. */
export function argumentsMessage(method: Method, problems: readonly ArgumentProblem[]): string {
  const listed = problems.slice(0, MAX_SHOWN_PROBLEMS).map((problem) => formatProblem(problem));
  const more = problems.length > listed.length ? [`and ${problems.length - listed.length} more`] : [];
  return sentence("ARGUMENTS_INVALID", `${[...listed, ...more].join("; ")}; use ${method.skill}.${method.signature}`);
}

const MAX_SHOWN_PROBLEMS = 8;

/** `"cuont" is not an argument, valid are query, count (did you mean count?)`. */
export function formatProblem({ field, type, reason, suggestions }: ArgumentProblem, whole = "the call"): string {
  const subject = field === "_root" ? whole : `"${field}"`;
  // The reason of a value that is not in an enum lists the enum already.
  const hint =
    suggestions.length === 0 || type === "enum_violation" ? "" : ` (did you mean ${suggestions.join(" or ")}?)`;
  return `${subject} ${reason}${hint}`;
}

/** The schema itself behind local references (`#/$defs/…`); `undefined` where they lead nowhere or in a circle. */
export function schemaBehind(schema: unknown, root: JsonSchema): unknown {
  let current = schema;
  for (let hops = 0; hops < REFERENCE_HOPS; hops++) {
    if (!isRecord(current) || typeof current["$ref"] !== "string") return current;
    current = atPointer(root, current["$ref"]);
  }
  return undefined;
}

const REFERENCE_HOPS = 16;

function atPointer(root: JsonSchema, reference: string): unknown {
  const [base, ...keys] = reference.split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  let current: unknown = base === "#" ? root : undefined;
  for (const key of keys) {
    const holder: unknown = current;
    current =
      (isRecord(holder) || Array.isArray(holder)) && Object.hasOwn(holder, key) ? Reflect.get(holder, key) : undefined;
  }
  return current;
}

/** True for `{…}` as a program writes it: no date, no bytes, no instance of a class. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function bound(
  method: Method,
  positional: readonly unknown[],
  byName: Readonly<Record<string, unknown>>,
  complete: boolean,
): ArgumentBinding {
  const { parameters } = method;
  if (positional.slice(parameters.length).some(isCertain)) return unfit(tooMany(positional.length, parameters));
  const input = new Map<string, unknown>();
  for (const [at, parameter] of parameters.entries()) {
    if (positional[at] !== undefined) input.set(parameter.name, positional[at]);
  }
  const twice = Object.keys(byName).filter((name) => isCertain(byName[name]) && isCertain(input.get(name)));
  if (twice.length > 0) return unfit(...twice.map(givenTwice));
  for (const [name, value] of Object.entries(byName)) if (value !== undefined) input.set(name, value);
  // Both keep a key `__proto__` as data; a spread also keeps the symbol that notes how numbers were written.
  const isNamed = positional.length === 0 && input.size === Object.keys(byName).length;
  return { kind: "bound", input: isNamed ? { ...byName } : Object.fromEntries(input), complete };
}

function isCertain(value: unknown): boolean {
  return value !== undefined && value !== UNKNOWN;
}

function unfit(...problems: readonly ArgumentProblem[]): ArgumentBinding {
  return { kind: "unfit", problems };
}

function tooMany(count: number, parameters: readonly Parameter[]): ArgumentProblem {
  const names = parameters.map(({ name }) => name).join(", ");
  const most = parameters.length === 0 ? "no arguments" : `at most ${parameters.length} (${names})`;
  return { field: "_root", type: "too_many_items", reason: `takes ${most}, not ${count}`, suggestions: [] };
}

function givenTwice(name: string): ArgumentProblem {
  return { field: name, type: "unknown_field", reason: "is given both by place and by name", suggestions: [] };
}

/** Whether an object at a place is arguments by name, and not the value of the parameter at that place. */
function holdsNames(object: Readonly<Record<string, unknown>>, index: number, method: Method): boolean {
  const open = method.parameters.slice(index);
  const [next] = open;
  if (next === undefined) return true;
  if (method.definition.isPositional === true && index > 0) return false;
  const keys = Object.keys(object);
  if (keys.length === 0) return !(next.required && takesObject(next.schema, method.input) === "yes");
  const names = new Set(open.map(({ name }) => name));
  return keys.some((key) => names.has(key)) || takesObject(next.schema, method.input) === "no";
}

type ObjectParameter = "yes" | "no" | "anything";

/** Whether a schema accepts objects; `anything` if it does not restrict types. */
function takesObject(schema: unknown, root: JsonSchema, depth = 0): ObjectParameter {
  const target = schemaBehind(schema, root);
  if (target === false || depth > REFERENCE_HOPS) return "no";
  if (!isRecord(target)) return "anything";
  const types = [target["type"]].flat().filter((type) => TYPES.has(type));
  if (types.length > 0) return types.includes("object") ? "yes" : "no";
  if (OBJECT_KEYWORDS.some((keyword) => Object.hasOwn(target, keyword))) return "yes";
  if (Array.isArray(target["enum"]) || Object.hasOwn(target, "const")) return "no";
  const branches = [target["anyOf"], target["oneOf"], target["allOf"]].flatMap((branch) =>
    Array.isArray(branch) ? branch.map((each: unknown) => takesObject(each, root, depth + 1)) : [],
  );
  if (branches.length === 0 || branches.includes("anything")) return branches.includes("yes") ? "yes" : "anything";
  return branches.includes("yes") ? "yes" : "no";
}

/** Other types do not restrict the value. */
const TYPES: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean", "array", "object", "null"]);

const OBJECT_KEYWORDS = ["properties", "additionalProperties", "patternProperties", "propertyNames"] as const;

const MAX_SUBSCHEMA_DEPTH = 8;

/**
 * True if a method accepts arguments that it does not name. JSON Schema allows them by default; here a schema must allow
 * them with `additionalProperties`, `unevaluatedProperties` or `patternProperties`, or name no argument at all.
 */
export function isOpenToNames(method: Method): boolean {
  const parts = getSubschemas(method.input, method.input, MAX_SUBSCHEMA_DEPTH);
  if (parts.some((part) => isRecord(part["patternProperties"]))) return true;
  const settings = parts.flatMap((part) => CLOSING.map((keyword) => part[keyword]));
  if (method.parameters.length === 0) return !settings.includes(false);
  return settings.some((setting) => (setting ?? false) !== false);
}

const CLOSING = ["additionalProperties", "unevaluatedProperties"] as const;

/** Returns a schema and the subschemas that apply to the same value. */
function getSubschemas(schema: unknown, root: JsonSchema, depth: number): readonly JsonSchema[] {
  if (!isRecord(schema) || depth === 0) return [];
  const inner = [schema["allOf"], schema["anyOf"], schema["oneOf"], schema["then"], schema["else"]].flat();
  const referred = schema["$ref"] === undefined ? undefined : schemaBehind(schema, root);
  return [schema, ...[...inner, referred].flatMap((part) => getSubschemas(part, root, depth - 1))];
}
