import { isRecord } from "../model/json.ts";
import { UNKNOWN } from "../model/plan.ts";

/** A place in a value as a JSON pointer: `/filters/0/name`; empty for the whole value. */
export type Pointer = string;

/** Formats a pointer: `filters[0].name` for `/filters/0/name`, `_root` for the whole value. */
export function fieldAt(pointer: Pointer, root: unknown): string {
  let field = "";
  let value = root;
  for (const key of parsePointer(pointer)) {
    field += Array.isArray(value) ? `[${key}]` : memberText(key, field === "");
    value = innerValue(value, key);
  }
  return field === "" ? "_root" : field;
}

/** Returns the value at a place, or `undefined`. */
export function valueAt(pointer: Pointer, root: unknown): unknown {
  return parsePointer(pointer).reduce(innerValue, root);
}

export function pointerTo(pointer: Pointer, key: string): Pointer {
  return `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

export function isWithin(inner: Pointer, outer: Pointer): boolean {
  return inner === outer || inner.startsWith(`${outer}/`);
}

/** Finds the places of `UNKNOWN` in a value. */
export function findUnknownPointers(value: unknown, pointer: Pointer = ""): readonly Pointer[] {
  if (value === UNKNOWN) return [pointer];
  if (!isRecord(value) && !Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => findUnknownPointers(inner, pointerTo(pointer, key)));
}

/** Removes the property at a place from its object. */
export function removeAt(pointer: Pointer, root: unknown): void {
  const keys = parsePointer(pointer);
  const holder = keys.slice(0, -1).reduce(innerValue, root);
  const last = keys.at(-1);
  if (isRecord(holder) && last !== undefined) Reflect.deleteProperty(holder, last);
}

/** Replaces the value at a place by another one. */
export function replaceAt(pointer: Pointer, root: unknown, value: unknown): void {
  const keys = parsePointer(pointer);
  const holder = keys.slice(0, -1).reduce(innerValue, root);
  const last = keys.at(-1);
  if ((isRecord(holder) || Array.isArray(holder)) && last !== undefined && Object.hasOwn(holder, last))
    Object.defineProperty(holder, last, { value });
}

export function parsePointer(pointer: Pointer): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function innerValue(value: unknown, key: string): unknown {
  if (!isRecord(value) && !Array.isArray(value)) return undefined;
  return Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

function memberText(key: string, first: boolean): string {
  if (!/^[\p{ID_Start}$_][\p{ID_Continue}$-]*$/u.test(key)) return `[${JSON.stringify(key)}]`;
  return first ? key : `.${key}`;
}
