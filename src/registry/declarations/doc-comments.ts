import { isRecord } from "../../model/json.ts";
import { flattened } from "./text.ts";

/** Longest JSON of a default that is shown. */
const DEFAULT_UNITS = 60;

/** Adds constraints that neither the type nor the description shows: `Results to return (default 10; 1 to 20)`. */
export function documented(description: string, schema: unknown): string {
  const text = flattened(description);
  const facts = isRecord(schema) ? listFacts(schema, text).join("; ") : "";
  if (facts === "") return text;
  return text === "" ? facts : `${text} (${facts})`;
}

/** Formats a default for a signature; `undefined` without a default, or if it is too long. */
export function shownDefault(schema: unknown): string | undefined {
  if (!isRecord(schema) || schema["default"] === undefined) return undefined;
  const text = flattened(JSON.stringify(schema["default"]));
  return text.length <= DEFAULT_UNITS ? text : undefined;
}

function listFacts(schema: Record<string, unknown>, text: string): readonly string[] {
  const standard = shownDefault(schema);
  const pattern = schema["pattern"];
  const facts = [
    standard === undefined || saysDefault(text, standard) ? "" : `default ${standard}`,
    holdsJson(schema) ? TEXT_HOLDING_JSON : "",
    typeof schema["format"] === "string" ? schema["format"].slice(0, 40) : "",
    formatRange(schema["minimum"], schema["maximum"], ""),
    beyond("over", schema["exclusiveMinimum"]),
    beyond("under", schema["exclusiveMaximum"]),
    formatRange(schema["minLength"], schema["maxLength"], "character"),
    formatRange(schema["minItems"], schema["maxItems"], "item"),
    typeof pattern === "string" && pattern.length <= 80 ? `matches ${pattern}` : "",
  ];
  return facts.filter((fact) => fact !== "" && !saysRange(text, fact));
}

export const TEXT_HOLDING_JSON = "text holding JSON";

/** True if a value that is a string is JSON. */
export function holdsJson({ contentMediaType, anyOf }: Record<string, unknown>): boolean {
  if (contentMediaType === "application/json") return true;
  return Array.isArray(anyOf) && anyOf.some((branch) => isRecord(branch) && holdsJson({ ...branch, anyOf: undefined }));
}

/** True for `The default is false`, and for `false (default)`. */
function saysDefault(text: string, standard: string): boolean {
  const value = standard.replace(/^"(.*)"$/, "$1");
  const words = text.split(/[^\w.-]+/);
  return value !== "" && /\bdefault/i.test(text) && words.some((word) => word === value || word === `${value}.`);
}

/** True if a text has both numbers of `1 to 20`. */
function saysRange(text: string, fact: string): boolean {
  const [, from = "", to = ""] = /^(-?[\d.]+) to (-?[\d.]+)/.exec(fact) ?? [];
  const numbers = new Set(text.match(/\d[\d.]*(?<!\.)/g));
  return to !== "" && [from, to].every((bound) => numbers.has(bound.replace("-", "")));
}

/** `1 to 20 items`, `at least 1 item`; the unit in the singular, empty for plain numbers. */
function formatRange(from: unknown, to: unknown, unit: string): string {
  const [least, most] = [toNumber(from), toNumber(to)];
  const of = (count: number): string => (unit === "" ? "" : ` ${unit}${count === 1 ? "" : "s"}`);
  if (most !== undefined) return least === undefined ? `at most ${most}${of(most)}` : `${least} to ${most}${of(most)}`;
  return least === undefined || (least === 0 && unit !== "") ? "" : `at least ${least}${of(least)}`;
}

function beyond(word: string, bound: unknown): string {
  const value = toNumber(bound);
  return value === undefined ? "" : `${word} ${value}`;
}

/** Ignores the bounds of safe integers, which some generators write without meaning. */
function toNumber(value: unknown): number | undefined {
  return typeof value === "number" && Math.abs(value) < Number.MAX_SAFE_INTEGER ? value : undefined;
}
