import { isRecord } from "../../model/json.ts";

/** Maximum length of a literal type; a longer literal is written as its base type. */
const LITERAL_UNITS = 200;
const LITERAL_DEPTH = 4;

/** Words that cannot be the name of a parameter or a namespace, in strict code and in TypeScript. */
const RESERVED: ReadonlySet<string> = new Set(
  (
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends " +
    "false finally for function if implements import in instanceof interface let new null package private protected " +
    "public return static super switch this throw true try typeof undefined var void while with yield any unknown " +
    "never string number boolean symbol bigint object keyof unique readonly infer asserts abstract"
  ).split(" "),
);

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** Writes a name as the key of an object type: unquoted if it is an identifier. `new` would be a construct signature. */
export function propertyName(name: string): string {
  return IDENTIFIER.test(name) && name !== "new" ? name : quoted(name);
}

/** Converts a name to a parameter or namespace name: the nearest identifier that is not reserved. */
export function bindingName(name: string): string {
  const mapped = name.slice(0, 100).replace(/[^\p{ID_Continue}$]/gu, "_");
  const started = /^[\p{ID_Start}$_]/u.test(mapped) ? mapped : `_${mapped}`;
  return RESERVED.has(started) ? `${started}_` : started;
}

/** Writes a JSON string with invisible characters escaped, so that nothing hides in a declaration. */
export function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Default_Ignorable_Code_Point}]/gu,
    (invisible) =>
      Array.from(
        { length: invisible.length },
        (_, at) => String.raw`\u` + invisible.charCodeAt(at).toString(16).padStart(4, "0"),
      ).join(""),
  );
}

/** Writes a JSON value as a literal type; `undefined` if this is impossible or too long. */
export function literalType(value: unknown, depth = LITERAL_DEPTH): string | undefined {
  const text = literalText(value, depth);
  return text === undefined || text.length > LITERAL_UNITS ? undefined : text;
}

function literalText(value: unknown, depth: number): string | undefined {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "string") return value.length > LITERAL_UNITS ? undefined : quoted(value);
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : undefined;
  if (depth === 0 || typeof value !== "object") return undefined;
  if (Array.isArray(value))
    return joined(value.slice(0, LITERAL_UNITS), (item) => literalText(item, depth - 1), "[", "]");
  if (!isRecord(value)) return undefined;
  const entries = Object.entries(value).slice(0, LITERAL_UNITS);
  const member = ([key, inner]: [string, unknown]): string | undefined => {
    const text = literalText(inner, depth - 1);
    return text === undefined ? undefined : `${propertyName(key)}: ${text}`;
  };
  return joined(entries, member, "{ ", " }");
}

function joined<Item>(
  items: readonly Item[],
  write: (item: Item) => string | undefined,
  open: string,
  close: string,
): string | undefined {
  const texts = items.map(write);
  return texts.includes(undefined) ? undefined : open + texts.join(", ") + close;
}

/** Writes a doc comment; empty for no text. The text cannot end the comment early. */
export function docComment(lines: readonly string[]): string {
  const safe = lines
    .flatMap((line) => line.replaceAll("*/", String.raw`*\/`).split("\n"))
    .map((line) => line.trimEnd());
  if (safe.every((line) => line === "")) return "";
  if (safe.length === 1) return `/** ${safe[0]} */\n`;
  return `/**\n${safe.map((line) => ` * ${line}`.trimEnd()).join("\n")}\n */\n`;
}

export function indented(text: string, by = "  "): string {
  return text.replace(/^(?=.)/gm, by);
}

/** Joins the lines of a text. */
export function flattened(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
