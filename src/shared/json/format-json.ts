import { isPlainObject } from "../../model/arguments.ts";

/** Levels of lists and objects, as in the arguments of a call. */
const MAX_DEPTH = 200;

const MAX_PLACE_UNITS = 80;

/**
 * Writes a value as JSON. A date becomes its ISO text, and a BigInt a number where that is exact, else text; members that are
 * `undefined` are left out. Throws what `fail` creates for a value that is not JSON, and for one with too many levels or values.
 */
export function formatJson(value: unknown, fail: (why: string) => Error, maxValues = Infinity): string {
  const walk: Walk = { left: maxValues, maxValues, fail, path: [], hasBigInt: false };
  requireJson(value, walk);
  // A function for each member takes as long as all the rest.
  return walk.hasBigInt ? JSON.stringify(value, replaceBigInt) : JSON.stringify(value);
}

function replaceBigInt(_key: string, member: unknown): unknown {
  if (typeof member !== "bigint") return member;
  return Number.isSafeInteger(Number(member)) ? Number(member) : member.toString();
}

interface Walk {
  left: number;
  readonly maxValues: number;
  readonly fail: (why: string) => Error;
  /** Where the value is: names of members, and places in lists. */
  readonly path: (string | number)[];
  hasBigInt: boolean;
}

function requireJson(value: unknown, walk: Walk): void {
  const { fail, path, maxValues } = walk;
  if (--walk.left < 0) throw fail(`it has more than ${maxValues} values`);
  if (value === null || typeof value === "string" || typeof value === "boolean") return;
  if (typeof value === "bigint") return void (walk.hasBigInt = true);
  if (typeof value === "number" && Number.isFinite(value)) return;
  if (value instanceof Date && !Number.isNaN(value.getTime())) return;
  const isList = Array.isArray(value);
  if (!isList && !isPlainObject(value))
    throw fail(`${formatSubject(path)} is ${describeKind(value)}, and JSON has no such value`);
  if (path.length === MAX_DEPTH) throw fail(`it has more than ${MAX_DEPTH} levels`);
  // A list may have holes, which are `undefined`. An iterator for each list takes longer than all the rest.
  if (isList) for (let at = 0; at < value.length; at++) requireMember(at, value[at], walk);
  else for (const key of Object.keys(value)) if (value[key] !== undefined) requireMember(key, value[key], walk);
}

function requireMember(key: string | number, member: unknown, walk: Walk): void {
  walk.path.push(key);
  requireJson(member, walk);
  walk.path.pop();
}

/** `it`, or `its member "a.b[0]"` */
function formatSubject(path: Walk["path"]): string {
  const location = path.map((key, at) => (typeof key === "number" ? `[${key}]` : at === 0 ? key : `.${key}`)).join("");
  return location === "" ? "it" : `its member ${JSON.stringify(location.slice(0, MAX_PLACE_UNITS))}`;
}

function describeKind(value: unknown): string {
  if (typeof value === "number") return String(value);
  if (typeof value === "function") return "a function";
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return "bytes";
  if (typeof value === "object") return "an object of a class";
  return value === undefined ? "undefined" : "a symbol";
}
