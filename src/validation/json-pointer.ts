import { isRecord } from "../model/json.ts";
import { UNKNOWN } from "../model/plan.ts";

/** Where ajv found something: a JSON pointer, `/filters/0/name`; empty for the value as a whole. */
export type Pointer = string;

/** `filters[0].name` for `/filters/0/name`, `_root` for the whole. */
export function fieldAt(pointer: Pointer, root: unknown): string {
  let field = "";
  let place = root;
  for (const key of parsePointer(pointer)) {
    field += Array.isArray(place) ? `[${key}]` : memberText(key, field === "");
    place = innerValue(place, key);
  }
  return field === "" ? "_root" : field;
}

/** What stands at a place, `undefined` where nothing does. */
export function valueAt(pointer: Pointer, root: unknown): unknown {
  return parsePointer(pointer).reduce(innerValue, root);
}

export function pointerTo(pointer: Pointer, key: string): Pointer {
  return `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

export function isWithin(inner: Pointer, outer: Pointer): boolean {
  return inner === outer || inner.startsWith(`${outer}/`);
}

/** The places of `UNKNOWN` in a value. */
export function findUnknownPointers(value: unknown, pointer: Pointer = ""): readonly Pointer[] {
  if (value === UNKNOWN) return [pointer];
  if (!isRecord(value) && !Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => findUnknownPointers(inner, pointerTo(pointer, key)));
}

/** Puts a value in place of the one that stands there. */
export function putAt(pointer: Pointer, root: unknown, value: unknown): void {
  const keys = parsePointer(pointer);
  const holder = keys.slice(0, -1).reduce(innerValue, root);
  const last = keys.at(-1);
  // Not an assignment: `__proto__` is a name like any other here.
  if (typeof holder === "object" && holder !== null && last !== undefined && Object.hasOwn(holder, last))
    Object.defineProperty(holder, last, { value });
}

/** Takes what stands at a place out of the object that holds it. */
export function removeAt(pointer: Pointer, root: unknown): void {
  const keys = parsePointer(pointer);
  const holder = keys.slice(0, -1).reduce(innerValue, root);
  const last = keys.at(-1);
  if (isRecord(holder) && last !== undefined) Reflect.deleteProperty(holder, last);
}

export function parsePointer(pointer: Pointer): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function innerValue(place: unknown, key: string): unknown {
  if (!isRecord(place) && !Array.isArray(place)) return undefined;
  return Object.hasOwn(place, key) ? Reflect.get(place, key) : undefined;
}

function memberText(key: string, first: boolean): string {
  if (!/^[\p{ID_Start}$_][\p{ID_Continue}$-]*$/u.test(key)) return `[${JSON.stringify(key)}]`;
  return first ? key : `.${key}`;
}
