/** The options of formats that a program may use, with their values. The guest reads these, and the worker checks them. */

/** Allowed values: a list of names, a range of whole numbers, `true` and `false`, or a text of a form. */
export type OptionValues = readonly (string | boolean)[] | readonly [number, number] | "boolean" | RegExp;

const WIDTHS = ["narrow", "short", "long"] as const;
const DIGITS = ["numeric", "2-digit"] as const;
const STYLES = ["full", "long", "medium", "short"] as const;

export const DATE_OPTIONS: Readonly<Record<string, OptionValues>> = {
  localeMatcher: ["lookup", "best fit"],
  calendar: ["gregory", "iso8601"],
  numberingSystem: ["latn"],
  hour12: "boolean",
  hourCycle: ["h11", "h12", "h23", "h24"],
  timeZone: /^[\w+\-/:]{1,64}$/,
  weekday: WIDTHS,
  era: WIDTHS,
  year: DIGITS,
  month: [...DIGITS, ...WIDTHS],
  day: DIGITS,
  dayPeriod: WIDTHS,
  hour: DIGITS,
  minute: DIGITS,
  second: DIGITS,
  fractionalSecondDigits: [1, 3],
  timeZoneName: ["short", "long", "shortOffset", "longOffset", "shortGeneric", "longGeneric"],
  formatMatcher: ["basic", "best fit"],
  dateStyle: STYLES,
  timeStyle: STYLES,
};

export const NUMBER_OPTIONS: Readonly<Record<string, OptionValues>> = {
  localeMatcher: ["lookup", "best fit"],
  numberingSystem: ["latn"],
  style: ["decimal", "percent", "currency", "unit"],
  currency: /^[A-Za-z]{3}$/,
  currencyDisplay: ["symbol", "narrowSymbol", "code", "name"],
  currencySign: ["standard", "accounting"],
  unit: /^[a-z-]{1,40}$/,
  unitDisplay: WIDTHS,
  notation: ["standard", "scientific", "engineering", "compact"],
  minimumIntegerDigits: [1, 21],
  minimumFractionDigits: [0, 20],
  maximumFractionDigits: [0, 20],
  minimumSignificantDigits: [1, 21],
  maximumSignificantDigits: [1, 21],
  roundingIncrement: [1, 5_000],
  roundingMode: ["ceil", "floor", "expand", "trunc", "halfCeil", "halfFloor", "halfExpand", "halfTrunc", "halfEven"],
  roundingPriority: ["auto", "morePrecision", "lessPrecision"],
  trailingZeroDisplay: ["auto", "stripIfInteger"],
  compactDisplay: ["short", "long"],
  useGrouping: ["always", "auto", "min2", true, false],
  signDisplay: ["auto", "never", "always", "exceptZero", "negative"],
};

export const COLLATION_OPTIONS: Readonly<Record<string, OptionValues>> = {
  localeMatcher: ["lookup", "best fit"],
  usage: ["sort", "search"],
  sensitivity: ["base", "accent", "case", "variant"],
  ignorePunctuation: "boolean",
  numeric: "boolean",
  caseFirst: ["upper", "lower", "false"],
};

/** Formats are only English, which are the same in every version of the tables of Node. Texts are compared in any language. */
export const LOCALE = /^en(?:-(?:[a-z]{2}|001|150))?$/i;

/** Maximum length of a request, which is a format, its options and the values. */
export const MAX_REQUEST_BYTES = 4 << 10;

/** A request of the guest. All of it is untrusted. */
export interface FormatRequest {
  readonly of: "date" | "number" | "collation";
  readonly locale: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** `resolve` only checks the options, and returns those that the format has. */
  readonly to: "text" | "parts" | "resolve";
  /** Milliseconds since 1970; the text of a number, of a BigInt with `n` at the end; or two texts to compare, with the length of the first one and a space before them. */
  readonly value: string;
}

/** The answer to a request: a text or JSON, or the error to throw. */
export type FormatAnswer = { readonly text: string } | { readonly name: string; readonly message: string };
