import type { JsonSchema } from "../../model/json.ts";
import { createPatternTest } from "../../validation/index.ts";

const FORMATS: Readonly<Record<string, string>> = {
  date: "2025-01-15",
  time: "12:30:00Z",
  "date-time": "2025-01-15T12:30:00Z",
  "iso-time": "12:30:00Z",
  "iso-date-time": "2025-01-15T12:30:00Z",
  duration: "PT1H",
  email: "ada@example.com",
  "idn-email": "ada@example.com",
  hostname: "example.com",
  "idn-hostname": "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/",
  url: "https://example.com/",
  iri: "https://example.com/",
  "uri-reference": "/example",
  "iri-reference": "/example",
  "uri-template": "/example/{id}",
  uuid: "123e4567-e89b-42d3-a456-426614174000",
  "json-pointer": "/example",
  "relative-json-pointer": "0/example",
  regex: "^a+$",
  byte: "ZXhhbXBsZQ==",
};

/** Typical values of strings by property name. */
const TYPICAL: readonly (readonly [RegExp, string])[] = [
  [/ur[il]$|^href$|link$/i, "https://example.com/"],
  [/e?mail/i, "ada@example.com"],
  [/(?:path|file|file_?name)s?$/i, "notes.txt"],
  [/date$/i, "2025-01-15"],
  [/^(q|query|search|keywords?|term)$/i, "weather"],
  [/^(?:text|message|content|body)$/i, "Hello"],
];

/** Values that common patterns accept: numbers, codes, dates, identifiers, names. */
const COMMON = [
  ..."1 12 123 1234 12345 1234567890 20250115 1.0 1.0.0 3.0.0 1,1 2025-01 12:30 12:30:00".split(" "),
  ..."a ab en abc en-US A AB ABC AB1 ABC-1 AB-1234 ABC123 C0123456789 asc foo #ff0000 ff0000 +15550100000".split(" "),
  ..."x-example example/example /example/ example.png images/example.png s3://example/key arn:aws:s3:::example".split(
    " ",
  ),
  "0123456789abcdef01234567",
  "0123456789abcdef0123456789abcdef",
  "0123456789abcdef0123456789abcdef01234567",
];

/** Enough different texts for a small set. */
const PLAIN = ["example", ...Array.from({ length: 19 }, (_, at) => `example ${at + 2}`), "1", "2", "3", "4", ""];

const MAX_NAME_CHARACTERS = 40;
const MAX_PATTERN_CHARACTERS = 80;
const MAX_DESCRIPTION_CHARACTERS = 2_000;
const MAX_TEXT_CHARACTERS = 100_000;

/** Lists candidates for a string, the most realistic first. */
export function listTexts(schema: JsonSchema, name: string): readonly string[] {
  const { description, format, pattern } = schema;
  const hints = typeof description === "string" ? findDescribed(description.slice(0, MAX_DESCRIPTION_CHARACTERS)) : [];
  const formatted = typeof format === "string" && Object.hasOwn(FORMATS, format) ? [FORMATS[format] ?? ""] : [];
  const typical = TYPICAL.flatMap(([names, text]) => (names.test(name) ? [text] : []));
  const likely = [...formatted, ...hints, ...typical].filter((text) => fitLength(text, schema) === text);
  const placeholders = createPlaceholder(name).filter((text) => fitLength(text, schema) === text);
  if (typeof pattern !== "string") return [...likely, ...placeholders, ...PLAIN.map((text) => fitLength(text, schema))];
  const fits = createPatternTest(pattern);
  const all = [...likely, ...COMMON, ...Object.values(FORMATS), ...PLAIN];
  const matching = all.filter((text) => fitLength(text, schema) === text && fits(text));
  return matching.length > 0 ? matching : [`<text that matches ${pattern.slice(0, MAX_PATTERN_CHARACTERS)}>`];
}

/** Returns `<message_id>`, which no one takes for a value. */
function createPlaceholder(name: string): readonly string[] {
  return name !== "" && name.length <= MAX_NAME_CHARACTERS ? [`<${name}>`] : [];
}

/** Shortens or repeats a text to fit the length limits. */
function fitLength(text: string, { minLength, maxLength }: JsonSchema): string {
  const least = typeof minLength === "number" ? Math.min(minLength, MAX_TEXT_CHARACTERS) : 0;
  const most = typeof maxLength === "number" ? Math.max(0, maxLength) : MAX_TEXT_CHARACTERS;
  if (text.length >= least) return text.slice(0, most);
  return `${text} `.repeat(Math.ceil(least / (text.length + 1))).slice(0, least);
}

const QUOTED = /(?:\be\.g\.,?|\bfor example[:,]?|\bexamples?:|\bsuch as|\blike)\s{0,3}(["'`])([^"'`\n]{1,80})\1/i;
const UNQUOTED = /\be\.g\.,?\s{1,3}((?:[^\s,;()"'`]{1,30} ?){1,3})(?=[,;).\n]|$)/i;
const NAMED_FORM = /\bform(?:at|at of|atted as)\s{0,3}(["'`])([^"'`\n]{1,80})\1/i;
const DATE_FORM =
  /(?<![A-Za-z])(?:[Yy]{4}|[Mm]{2}|[Dd]{2}|[Hh]{2})(?:[-/.:_ T]?(?:[Yy]{4}|[Mm]{2}|[Dd]{2}|[Hh]{2}|[Ss]{2}))+Z?(?![A-Za-z])/;
const ISO_FORM = /\bISO[- ]?8601\b(?!\s*duration)/i;

/** Finds what a description gives as an example or names as the form: `(e.g., '2 + 2')`, `YYYYMMDD`. */
function findDescribed(description: string): readonly string[] {
  const quoted = QUOTED.exec(description)?.[2] ?? UNQUOTED.exec(description)?.[1]?.trim();
  const date = findDate(description);
  const form = NAMED_FORM.exec(description)?.[2];
  const texts = [quoted === undefined ? undefined : (findDate(quoted) ?? quoted), date, form];
  return texts.filter((text) => text !== undefined);
}

/** Writes a date in the form that a description names: `20250115` for `YYYYMMDD`. */
export function findDate(description: string): string | undefined {
  const form = DATE_FORM.exec(description)?.[0];
  if (form === undefined) return ISO_FORM.test(description) ? FORMATS["date-time"] : undefined;
  return form
    .replace(/(hh[-:_. ]?)mm/i, "$130")
    .replace(/yyyy/i, "2025")
    .replace(/mm/i, "01")
    .replace(/dd/i, "15")
    .replace(/hh/i, "12")
    .replace(/ss/i, "00");
}
