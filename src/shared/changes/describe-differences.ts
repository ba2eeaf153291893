import { isRecord } from "../../model/json.ts";
import { truncateText } from "../format-text.ts";

/** Maximum number of differences that are listed. */
const MAX_DIFFERENCES = 8;

/** Maximum number of characters of a value that are shown. */
const SHOWN_CHARACTERS = 80;

/** Characters before the first difference of two long values that are shown. */
const EQUAL_CHARACTERS = 20;

/** Describes where two values differ: `description: "a" → "b"`, `inputSchema.properties.path: was removed`. */
export function describeDifferences(before: unknown, after: unknown): readonly string[] {
  const found: string[] = [];
  compare(before, after, "", found);
  return found.length > MAX_DIFFERENCES
    ? [...found.slice(0, MAX_DIFFERENCES), `and ${found.length - MAX_DIFFERENCES} more`]
    : found;
}

function compare(before: unknown, after: unknown, path: string, found: string[]): void {
  if (before === after) return;
  if (isTree(before) && isTree(after) && Array.isArray(before) === Array.isArray(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      compare(own(before, key), own(after, key), path === "" ? key : `${path}.${key}`, found);
    }
  } else if (before === undefined) found.push(`${path}: was added, ${formatText(JSON.stringify(after))}`);
  else if (after === undefined) found.push(`${path}: was removed`);
  else found.push(`${path}: ${formatChange(JSON.stringify(before), JSON.stringify(after))}`);
}

/** Shows where two values begin to differ: the first characters of a long text may be the same. */
function formatChange(before: string, after: string): string {
  const isShort = Math.max(before.length, after.length) <= SHOWN_CHARACTERS;
  const start = isShort ? 0 : Math.max(0, findDifference(before, after) - EQUAL_CHARACTERS);
  const show = (text: string): string => formatText(start === 0 ? text : `…${text.slice(start)}`);
  return `${show(before)} → ${show(after)}`;
}

/** Returns the index of the first character that differs. */
function findDifference(before: string, after: string): number {
  let index = 0;
  while (index < before.length && before[index] === after[index]) index += 1;
  return index;
}

function own(tree: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(tree, key) ? tree[key] : undefined;
}

function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return isRecord(value) || Array.isArray(value);
}

/** Formats the JSON of a value, shortened, with invisible characters escaped. */
function formatText(text: string): string {
  return truncateText(text, SHOWN_CHARACTERS).replaceAll(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu,
    (hidden) => String.raw`\u{` + (hidden.codePointAt(0) ?? 0).toString(16) + "}",
  );
}
