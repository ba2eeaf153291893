import type { JsonSchema } from "../model/json.ts";

/** Maximum length of the part of a description that is read. */
const READ_UNITS = 400;

const MAXIMUM_IN_TEXT =
  /\b(?:max(?:imum)?|at most|up to|(?:not|no) more than|capped at|cannot exceed|limit of)\W{1,3}(?:(?:is|of|value)\W+){0,2}(\d{1,6})\b/i;
const RANGE_IN_TEXT =
  /(?:\bbetween |\brange:? ?|\bfrom |\((?=[^()]{3,20}\)))(\d{1,6}) ?(?:-|–|to|and|\.\.) ?(\d{1,6})(?![\d.%]| ?\w+\))/i;

/** `1..25`, by the schema or by what its description says of the maximum. */
export function formatRange(schema: JsonSchema): string | undefined {
  const text = readDescription(schema);
  const [, low, high = MAXIMUM_IN_TEXT.exec(text)?.[1]] = RANGE_IN_TEXT.exec(text) ?? [];
  const [least, most] = [toBound(schema["minimum"]) ?? low, toBound(schema["maximum"]) ?? high];
  return least === undefined && most === undefined ? undefined : `${least ?? ""}..${most ?? ""}`;
}

/** Ignores the bounds of safe integers, which some generators write without meaning. */
function toBound(value: unknown): string | undefined {
  return typeof value === "number" && Math.abs(value) < Number.MAX_SAFE_INTEGER ? String(value) : undefined;
}

/** The part of a description that is read, up to its last whole word. */
export function readDescription({ description }: JsonSchema): string {
  if (typeof description !== "string") return "";
  return description.length <= READ_UNITS ? description : description.slice(0, READ_UNITS).replace(/\S*$/, "");
}
