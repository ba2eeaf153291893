import { getLine, getText } from "./found-methods.ts";
import { push } from "./serialization.ts";
import {
  create,
  getPrototypeOf,
  indexOf,
  isArray,
  isoString,
  mapForEach,
  NativeString,
  ownKeys,
  setForEach,
  slice,
  stringify,
  symbolText,
  wellFormed,
} from "./primordials.ts";
import { URLSearchParams } from "./web/search-params.ts";
import { URL } from "./web/url.ts";

const MAX_DEPTH = 10;
const MAX_ITEMS = 200;
const MAX_TEXT = 20_000;
/** Maximum length of everything that one call prints. */
const MAX_CHARACTERS = 300_000;

/** Formats arguments for `console.log`: text as it is, the rest much as Node does, bounded in depth and length. */
export function inspectAll(values: readonly unknown[]): string {
  let text = "";
  for (let i = 0; i < values.length; i++) text += (i === 0 ? "" : " ") + show(values[i]);
  return printable(text);
}

/** Formats as `inspectAll` does, and puts arguments where the first text has specifiers: `%s`, `%d` and others of Node. */
export function formatMessage(values: readonly unknown[]): string {
  const template = values[0];
  if (typeof template !== "string" || values.length === 1) return inspectAll(values);
  let text = "";
  let from = 0;
  let next = 1;
  for (let at = indexOf(template, "%", 0); at >= 0; at = indexOf(template, "%", from > at ? from : at + 1)) {
    const letter = slice(template, at + 1, at + 2);
    const isPercent = letter === "%";
    const part = isPercent ? "%" : next < values.length ? formatAs(letter, values[next]) : undefined;
    if (part === undefined) continue;
    text += slice(template, from, at) + part;
    from = at + 2;
    if (!isPercent) next++;
  }
  text += slice(template, from);
  for (let i = next; i < values.length; i++) text += ` ${show(values[i])}`;
  return printable(text);
}

/** Returns undefined if a letter is no specifier. */
function formatAs(letter: string, value: unknown): string | undefined {
  switch (letter) {
    case "s":
    case "o":
    case "O":
      return letter === "s" ? show(value) : inspect(value, 0, []);
    case "d":
      return typeof value === "bigint" ? show(value) : show(toNumber(() => +(value as number)));
    case "i":
      return typeof value === "bigint" ? show(value) : show(toNumber(() => NativeParseInt(value as string)));
    case "f":
      return show(toNumber(() => NativeParseFloat(value as string)));
    case "j":
      return attempt(() => stringify(value));
    case "c":
      return "";
    default:
      return undefined;
  }
}

function toNumber(read: () => number): number {
  try {
    return read();
  } catch {
    return NaN; // a symbol, or an object of the program that threw
  }
}

function show(value: unknown): string {
  return (typeof value === "string" ? value : getLine(value)) ?? inspect(value, 0, []);
}

/** Replaces what a text cannot carry to the host, where it is UTF-8 and ends at the first NUL, and cuts it at the limit. */
function printable(text: string): string {
  const visible = wellFormed(
    text.length > MAX_CHARACTERS
      ? `${slice(text, 0, MAX_CHARACTERS)}… ${NativeString(text.length)} characters in all`
      : text,
  );
  let clean = "";
  let from = 0;
  for (let at = indexOf(visible, "\0", 0); at >= 0; at = indexOf(visible, "\0", from)) {
    clean += `${slice(visible, from, at)}\u2400`;
    from = at + 1;
  }
  return from === 0 ? visible : clean + slice(visible, from);
}

function inspect(value: unknown, depth: number, above: object[]): string {
  switch (typeof value) {
    case "string":
      return stringify(value.length > MAX_TEXT ? `${slice(value, 0, MAX_TEXT)}…` : value);
    case "bigint":
      return `${NativeString(value)}n`;
    case "symbol":
      return symbolText(value);
    case "function":
      return `[function ${attempt(() => value.name) || "anonymous"}]`;
    case "number":
      return value === 0 && 1 / value < 0 ? "-0" : NativeString(value);
    case "object":
      return value === null ? "null" : attempt(() => inspectObject(value, depth, above));
    case "boolean":
    case "undefined":
      return NativeString(value);
  }
}

function inspectObject(value: object, depth: number, above: object[]): string {
  const whole = getText(value);
  if (whole !== undefined) return inspect(whole, depth, above);
  for (let i = 0; i < above.length; i++) if (above[i] === value) return "[circular]";
  if (value instanceof NativeDate) return isoString(value);
  if (value instanceof NativeRegExp) return NativeString(value);
  if (value instanceof NativePromiseClass) return "Promise";
  if (value instanceof URL || value instanceof URLSearchParams) return value.toString();
  const head = value instanceof NativeErrorClass ? `${value.name}: ${value.message}` : undefined;
  if (depth >= MAX_DEPTH) return head ?? (isArray(value) ? "[…]" : "{…}");
  push(above, value);
  const text =
    head === undefined ? inspectMembers(value, depth + 1, above) : head + inspectCauses(value, depth + 1, above);
  above.length--;
  return text;
}

function inspectCauses(error: object, depth: number, above: object[]): string {
  const { cause, errors } = error as AggregateError;
  const members = create(null) as Record<string, unknown>;
  if (cause !== undefined) members["cause"] = cause;
  if (errors !== undefined) members["errors"] = errors;
  return ownKeys(members).length === 0 ? "" : ` ${inspectMembers(members, depth, above)}`;
}

function inspectMembers(value: object, depth: number, above: object[]): string {
  if (isArray(value))
    return `[${joined(value.length, (i) => (i in value ? inspect(value[i], depth, above) : "empty"))}]`;
  if (value instanceof NativeMapClass) {
    const parts: string[] = [];
    mapForEach(value, (item, key) => push(parts, `${inspect(key, depth, above)} => ${inspect(item, depth, above)}`));
    return `Map {${joined(parts.length, (i) => parts[i] as string)}}`;
  }
  if (value instanceof NativeSetClass) {
    const parts: string[] = [];
    setForEach(value, (item) => push(parts, inspect(item, depth, above)));
    return `Set {${joined(parts.length, (i) => parts[i] as string)}}`;
  }
  const keys = ownKeys(value);
  const text = joined(keys.length, (i) => {
    const key = keys[i] as keyof typeof value;
    return `${typeof key === "symbol" ? `[${symbolText(key)}]` : keyText(key)}: ${attempt(() => inspect(value[key], depth, above))}`;
  });
  return `${className(value)}{${text}}`;
}

function joined(length: number, part: (index: number) => string): string {
  let text = "";
  for (let i = 0; i < length && i < MAX_ITEMS && text.length < MAX_TEXT; i++) text += (i === 0 ? "" : ", ") + part(i);
  const visible = length < MAX_ITEMS ? length : MAX_ITEMS;
  return length > visible || text.length >= MAX_TEXT ? `${text}, … ${NativeString(length)} in all` : text;
}

function keyText(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : stringify(key);
}

function className(value: object): string {
  const prototype = getPrototypeOf(value) as object | null;
  if (prototype === null || prototype === ObjectPrototype) return "";
  const name = attempt(() => (prototype.constructor as { name?: string }).name ?? "");
  return name === "" || name === "Object" ? "" : `${name} `;
}

function attempt(read: () => string): string {
  try {
    return `${read()}`;
  } catch {
    return "[unreadable]"; // a getter or a proxy of the program threw
  }
}

const NativeErrorClass = Error;
const NativeDate = Date;
const NativeRegExp = RegExp;
const NativePromiseClass = Promise;
const NativeMapClass = Map;
const NativeSetClass = Set;
const NativeParseInt = parseInt;
const NativeParseFloat = parseFloat;
const ObjectPrototype = Object.prototype;
