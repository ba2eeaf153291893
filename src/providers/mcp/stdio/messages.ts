import { markNumbers } from "../../../shared/json/exact-json.ts";

/** Messages of one batch that are read, in one turn of the event loop. Servers of early versions answer a few calls in one. */
export const MAX_BATCH = 1_000;

/** The start of a message in a line that begins with other text. */
const MESSAGE_START = /\{\s*"(?:jsonrpc|id|method|result|error)"\s*:/;

/** Parses a line of output; `undefined` for noise. Text before a message, such as a prompt, is ignored. */
export function parseLine(line: string): object | undefined {
  const whole = parseObject(line);
  if (whole !== undefined) return whole;
  const start = line.search(MESSAGE_START);
  return start > 0 ? parseObject(line.slice(start)) : undefined;
}

/** Finds the id of a response of which only the two ends are left; `undefined` if neither contains it. */
export function findOverlongId(start: string, end: string): string | number | undefined {
  const found = ID_AT_START.exec(start) ?? ID_AT_END.exec(end);
  if (found?.[1] === undefined) return undefined;
  const id: unknown = JSON.parse(found[1]);
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

const ID = String.raw`"id"\s*:\s*(\d{1,15}|"[\w:-]{1,64}")`;
const VERSION = String.raw`"jsonrpc"\s*:\s*"2\.0"`;

/** Match only at the start and at the end, so that the content cannot contain a false id. */
const ID_AT_START = new RegExp(String.raw`^\s*\{\s*(?:${VERSION}\s*,\s*)?${ID}\s*,`);
const ID_AT_END = new RegExp(String.raw`,\s*(?:${VERSION}\s*,\s*)?${ID}\s*(?:,\s*${VERSION}\s*)?\}\s*$`);

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(markNumbers(text));
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined; // not JSON, so noise
  }
}
