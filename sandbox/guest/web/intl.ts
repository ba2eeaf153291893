import { host } from "../host.ts";
import { OP } from "../host-protocol.ts";
import {
  bigintText,
  create,
  data,
  define,
  getPrototypeOf,
  isArray,
  NativeString,
  NativeTypeError,
  parse,
  slice,
  stringify,
  uncurry,
} from "../primordials.ts";
import { compareLetters } from "./letter-order.ts";
import {
  COLLATION_OPTIONS,
  DATE_OPTIONS,
  type FormatAnswer,
  type FormatRequest,
  LOCALE,
  NUMBER_OPTIONS,
} from "./locale-options.ts";

type Options = Record<string, unknown>;
type FormatQuestion = Pick<FormatRequest, "of" | "locale" | "options">;

interface Collation {
  readonly question: FormatQuestion;
  /** Texts whose letters differ are in the order of these. */
  readonly isByLetters: boolean;
  /** Texts of ASCII whose letters are the same are in the order of their case. */
  readonly isByCase: boolean;
}

const dateValue = uncurry(Date.prototype.valueOf) as (date: unknown) => number;
const numberValue = uncurry(Number.prototype.valueOf) as (number: unknown) => number;
const bigintValue = uncurry(BigInt.prototype.valueOf) as (number: unknown) => bigint;
const { now } = Date;
const NativeNumber = Number;
const NativeRangeError = RangeError;

const DATE_NAMES = Object.keys(DATE_OPTIONS);
const NUMBER_NAMES = Object.keys(NUMBER_OPTIONS);
const COLLATION_NAMES = Object.keys(COLLATION_OPTIONS);
const DAY_FIELDS = ["weekday", "year", "month", "day"];
const TIME_FIELDS = ["dayPeriod", "hour", "minute", "second", "fractionalSecondDigits"];

const DATE_FORMAT = {};
const NUMBER_FORMAT = {};
const COLLATION = {};

/** The host compares the beginnings of texts, so that a request stays short. */
const MAX_COMPARED = 400;
const compareUnits = uncurry(String.prototype.localeCompare) as (left: string, right: string) => number;
const toLowerCase = uncurry(String.prototype.toLowerCase) as (text: string) => string;
const toUpperCase = uncurry(String.prototype.toUpperCase) as (text: string) => string;
const execute = uncurry(RegExp.prototype.exec) as (pattern: RegExp, text: string) => unknown;

const ASCII = /^[ -~]*$/;
const OWN_CASE = /^(?:az|lt|tr)(?![a-z])/i;
const SENSITIVITY = /^(?:base|accent|case|variant)$/;

/** Defines `Intl` and the methods that format and compare by language. The host does this; the guest's engine has no tables. */
export function defineIntl(): void {
  for (const [prototype, methods] of [
    [Date.prototype, DATE_METHODS],
    [Number.prototype, { toLocaleString: NUMBER_METHODS.number }],
    [BigInt.prototype, { toLocaleString: NUMBER_METHODS.bigint }],
    [String.prototype, TEXT_METHODS],
    [Array.prototype, LIST_METHODS],
    [getPrototypeOf(Uint8Array.prototype) as object, LIST_METHODS],
  ] as const) {
    for (const [name, method] of Object.entries(methods)) {
      Object.defineProperty(method, "name", { value: name });
      define(prototype, name, method);
    }
  }
  const intl = {};
  defineFormat(intl, "DateTimeFormat", DATE_FORMAT, createDateFormat);
  defineFormat(intl, "NumberFormat", NUMBER_FORMAT, createNumberFormat);
  defineFormat(intl, "Collator", COLLATION, createCollator);
  define(globalThis, "Intl", intl);
}

function defineFormat(
  intl: object,
  name: string,
  prototype: object,
  createFormat: (locales: unknown, options: unknown) => object,
): void {
  const format = function (locales: unknown, options: unknown): object {
    return createFormat(locales, options);
  };
  Object.defineProperty(format, "name", { value: name });
  format.prototype = prototype;
  define(format, "supportedLocalesOf", (locales: unknown) => {
    try {
      return locales === undefined
        ? []
        : [askFormat({ of: "number", locale: readLocale(locales), options: {} }).locale];
    } catch {
      return [];
    }
  });
  define(prototype, "constructor", format);
  define(intl, name, format);
}

const DATE_METHODS = {
  toLocaleString(this: unknown, locales: unknown, options: unknown): string {
    return formatDate(this, locales, options, "any", "all");
  },
  toLocaleDateString(this: unknown, locales: unknown, options: unknown): string {
    return formatDate(this, locales, options, "date", "date");
  },
  toLocaleTimeString(this: unknown, locales: unknown, options: unknown): string {
    return formatDate(this, locales, options, "time", "time");
  },
};

const NUMBER_METHODS = {
  number(this: unknown, locales: unknown, options: unknown): string {
    return ask(readNumberFormat(locales, options), "text", toNumberText(numberValue(this)));
  },
  bigint(this: unknown, locales: unknown, options: unknown): string {
    return ask(readNumberFormat(locales, options), "text", toNumberText(bigintValue(this)));
  },
};

/** The engine's own methods do not pass the arguments to the items. */
const LIST_METHODS = {
  toLocaleString(this: ArrayLike<unknown>, locales: unknown, options: unknown): string {
    let text = "";
    for (let i = 0; i < this.length; i++) {
      const item = this[i] as Localizable | null | undefined;
      text += `${i === 0 ? "" : ","}${item === undefined || item === null ? "" : item.toLocaleString(locales, options)}`;
    }
    return text;
  },
};

interface Localizable {
  toLocaleString(locales: unknown, options: unknown): string;
}

const TEXT_METHODS = {
  localeCompare(this: unknown, that: unknown, locales: unknown, options: unknown): number {
    if (this === undefined || this === null)
      throw new NativeTypeError("Cannot compare a text that is undefined or null");
    return compare(readCollation(locales, options), `${this as string}`, `${that as string}`);
  },
  toLocaleLowerCase(this: unknown, locales: unknown): string {
    refuseOwnCase(locales);
    return toLowerCase(this as string);
  },
  toLocaleUpperCase(this: unknown, locales: unknown): string {
    refuseOwnCase(locales);
    return toUpperCase(this as string);
  },
};

/** Refuses the languages in which `i` has another capital letter, or a letter keeps its dot. */
function refuseOwnCase(locales: unknown): void {
  const locale = readLocale(locales);
  if (execute(OWN_CASE, locale) !== null)
    throw new NativeRangeError(`Cannot change the case of letters in "${locale}": replace its letters yourself first`);
}

function formatDate(date: unknown, locales: unknown, options: unknown, required: Part, defaults: Part): string {
  const time = dateValue(date);
  const format = readDateFormat(locales, options, required, defaults);
  return time !== time ? "Invalid Date" : ask(format, "text", NativeString(time));
}

function createDateFormat(locales: unknown, options: unknown): object {
  const toTime = (date: unknown): string => NativeString(date === undefined ? now() : NativeNumber(date));
  return createFormat(DATE_FORMAT, readDateFormat(locales, options, "any", "date"), toTime);
}

function createNumberFormat(locales: unknown, options: unknown): object {
  return createFormat(NUMBER_FORMAT, readNumberFormat(locales, options), (value) =>
    toNumberText(typeof value === "bigint" ? value : NativeNumber(value)),
  );
}

function createCollator(locales: unknown, options: unknown): object {
  const collation = readCollation(locales, options);
  const resolved = askFormat(collation.question);
  const created = create(COLLATION) as object;
  define(created, "compare", (left: unknown, right: unknown) =>
    compare(collation, `${left as string}`, `${right as string}`),
  );
  define(created, "resolvedOptions", () => resolved);
  return created;
}

const ENGLISH: Collation = {
  question: { of: "collation", locale: "en-US", options: create(null) as Options },
  isByLetters: true,
  isByCase: true,
};

function readCollation(locales: unknown, input: unknown): Collation {
  if (locales === undefined && input === undefined) return ENGLISH;
  const locale = readLocale(locales);
  const options = readOptions(input, COLLATION_NAMES);
  const isEnglish = execute(LOCALE, locale) !== null;
  return {
    question: { of: "collation", locale, options },
    isByLetters: isEnglish && hasOnlySensitivity(options),
    isByCase: isEnglish && input === undefined,
  };
}

/** True for options with which the letters of two texts come first, if they are not the same. */
function hasOnlySensitivity(options: Options): boolean {
  for (let i = 0; i < COLLATION_NAMES.length; i++) {
    const name = COLLATION_NAMES[i] as string;
    if (name !== "sensitivity" && options[name] !== undefined) return false;
  }
  const { sensitivity } = options;
  return sensitivity === undefined || execute(SENSITIVITY, sensitivity as string) !== null;
}

/** Compares letters here, and asks the host where they do not decide. Long texts with the same beginning are in the order of their units. */
function compare({ question, isByLetters, isByCase }: Collation, left: string, right: string): number {
  if (left === right && isByLetters) return 0;
  const letters = isByLetters ? compareLetters(left, right) : undefined;
  if (letters !== undefined && letters !== 0) return letters;
  // Small letters come before capital ones, whose units are lower.
  if (letters === 0 && isByCase && isAscii(left) && isAscii(right)) return left > right ? -1 : 1;
  const first = slice(left, 0, MAX_COMPARED);
  const order = +ask(question, "text", `${first.length} ${first}${slice(right, 0, MAX_COMPARED)}`);
  const isWhole = left.length <= MAX_COMPARED && right.length <= MAX_COMPARED;
  return order || (isWhole ? 0 : compareUnits(left, right));
}

function isAscii(text: string): boolean {
  return execute(ASCII, text) !== null;
}

/** Creates a format with bound methods, as programs pass `format` on. Throws if the host does not know the options. */
function createFormat(prototype: object, format: FormatQuestion, toText: (value: unknown) => string): object {
  askFormat(format);
  const created = create(prototype) as object;
  define(created, "format", (value: unknown) => ask(format, "text", toText(value)));
  define(created, "formatToParts", (value: unknown) => parse(ask(format, "parts", toText(value))) as unknown);
  define(created, "resolvedOptions", () => askFormat(format));
  return created;
}

function askFormat(format: FormatQuestion): { readonly locale: string } {
  return parse(ask(format, "resolve", "0")) as { readonly locale: string };
}

/** Asks the host. Throws its refusal. */
function ask({ of, locale, options }: FormatQuestion, to: FormatRequest["to"], value: string): string {
  const format = `"of":"${of}","locale":${stringify(locale)},"options":${stringify(options)}`;
  const request = `{${format},"to":"${to}","value":${stringify(value)}}`;
  const answer = parse(`${host(OP.format, 0, "", request) as string}`) as FormatAnswer;
  if ("text" in answer) return answer.text;
  throw answer.name === "TypeError" ? new NativeTypeError(answer.message) : new NativeRangeError(answer.message);
}

/** Reads the first locale; `en-US` if it is missing or `default`, which Node takes for its own. */
function readLocale(locales: unknown): string {
  const first: unknown = isArray(locales) ? locales[0] : locales;
  if (first === undefined || first === "default") return "en-US";
  if (typeof first !== "string") throw new NativeTypeError("Cannot format for a locale that is no text: write en-US");
  return first;
}

function readOptions(input: unknown, names: readonly string[]): Options {
  const options = create(null) as Options;
  if (input === undefined) return options;
  if (input === null) throw new NativeTypeError("Cannot format with the options null: leave them out");
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string;
    const value = (input as Options)[name];
    const isDefault = value === undefined || (name === "useGrouping" && (value === "true" || value === "false"));
    if (!isDefault) data(options, name, readOption(name, value));
  }
  return options;
}

function readOption(name: string, value: unknown): unknown {
  const values = NUMBER_OPTIONS[name] ?? DATE_OPTIONS[name] ?? COLLATION_OPTIONS[name];
  if (values === "boolean" || (name === "useGrouping" && (value === true || !value))) return !!value;
  if (isArray(values) && typeof values[0] === "number") return NativeNumber(value);
  return NativeString(value);
}

function readNumberFormat(locales: unknown, input: unknown): FormatQuestion {
  return { of: "number", locale: readLocale(locales), options: readOptions(input, NUMBER_NAMES) };
}

type Part = "any" | "all" | "date" | "time";

/** Adds the fields that a format has where none is asked for (ECMA-402, CreateDateTimeFormat). */
function readDateFormat(locales: unknown, input: unknown, required: Part, defaults: Part): FormatQuestion {
  const locale = readLocale(locales);
  const options = readOptions(input, DATE_NAMES);
  const hasStyle = options["dateStyle"] !== undefined || options["timeStyle"] !== undefined;
  const refused = required === "date" ? "timeStyle" : required === "time" ? "dateStyle" : undefined;
  if (refused !== undefined && options[refused] !== undefined)
    throw new NativeTypeError(`Cannot format a ${required} with ${refused}: use toLocaleString`);
  const hasFields =
    (required !== "time" && hasAny(options, DAY_FIELDS)) || (required !== "date" && hasAny(options, TIME_FIELDS));
  if (hasStyle || hasFields) return { of: "date", locale, options };
  if (defaults !== "time") addNumeric(options, "year", "month", "day");
  if (defaults !== "date") addNumeric(options, "hour", "minute", "second");
  return { of: "date", locale, options };
}

function hasAny(options: Options, names: readonly string[]): boolean {
  for (let i = 0; i < names.length; i++) if (options[names[i] as string] !== undefined) return true;
  return false;
}

function addNumeric(options: Options, ...names: readonly string[]): void {
  for (let i = 0; i < names.length; i++) data(options, names[i] as string, "numeric");
}

function toNumberText(value: number | bigint): string {
  if (typeof value === "bigint") return `${bigintText(value)}n`;
  return value === 0 && 1 / value < 0 ? "-0" : NativeString(value);
}
