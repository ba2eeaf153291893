import { isPlainObject } from "../../../model/arguments.ts";
import type { Serialization, Style } from "./operation.ts";
import { listItems, listMembers, type MemberValue, toJsonText, toText } from "./write-value.ts";

/** Encodes one text for its place in a request. */
type Encode = (text: string) => string;

/** The text between two items of a list, where it is not a comma. */
const DELIMITERS: Readonly<Partial<Record<Style, string>>> = {
  spaceDelimited: " ",
  pipeDelimited: "|",
  tabDelimited: "\t",
};

/** Encodes all characters that are not unreserved (RFC 3986), as UTF-8; half a surrogate pair as U+FFFD. */
export function percentEncode(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString()).replace(
    /[!'()*]/g,
    (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * Encodes as `allowReserved` says: reserved characters and percent-encoded triples stay, except for `#`, `[` and `]`, which a query cannot
 * have, and `&` and `+`, which would change the parameters.
 */
function encodeUnreserved(text: string): string {
  return text.replace(/%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~:/?@!$'()*,;=%]+/g, percentEncode);
}

/**
 * Writes a value of a path or a header (RFC 6570): `R,100,G,200`, `.R=100.G=200`, `;R=100;G=200`. An empty list or object, and null
 * in one, is not written.
 */
export function expand(
  name: string,
  member: MemberValue,
  { style, explode, mediaType }: Serialization,
  encode: Encode,
): string {
  if (mediaType !== undefined) return encode(toMediaText(member, mediaType));
  const parts = listParts(member, encode, explode);
  const separator = getSeparator(style, encode);
  if (style === "label") return parts.isEmpty ? "" : `.${parts.texts.join(explode ? "." : ",")}`;
  if (style !== "matrix") return parts.texts.join(separator);
  if (parts.isEmpty) return "";
  const key = encode(name);
  if (!explode || parts.kind === "scalar") return toMatrixPair(key, parts.texts.join(","));
  return parts.texts.map((text) => (parts.kind === "object" ? `;${text}` : toMatrixPair(key, text))).join("");
}

/** Writes a value of a query, a cookie or a form, as encoded pairs: `color=blue`. Null and an empty list are not written. */
export function toPairs(name: string, member: MemberValue, serialization: Serialization): readonly string[] {
  const { style, explode, allowReserved, mediaType } = serialization;
  const encode = allowReserved === true ? encodeUnreserved : percentEncode;
  const key = percentEncode(name);
  if (member.value === undefined || member.value === null) return [];
  if (mediaType !== undefined) return [`${key}=${encode(toMediaText(member, mediaType))}`];
  if (style === "deepObject")
    return [...nest(name, member)].map(([path, text]) => `${percentEncode(path)}=${encode(text)}`);
  const { kind, texts, isEmpty } = listParts(member, encode, explode);
  if (isEmpty) return [];
  if (!explode || kind === "scalar") return [`${key}=${texts.join(getSeparator(style, encode))}`];
  return kind === "object" ? texts : texts.map((text) => `${key}=${text}`);
}

/**
 * Lists the values inside a value by their paths: `items[0][price]`, and `tags[]` for a list of plain values, which servers read as a
 * list without a limit of its length.
 */
export function* nest(path: string, { value, written }: MemberValue): Generator<readonly [path: string, text: string]> {
  if (Array.isArray(value)) {
    const isFlat = value.every((item) => !Array.isArray(item) && !isPlainObject(item));
    for (const [index, item] of listItems(value).entries()) yield* nest(`${path}[${isFlat ? "" : index}]`, item);
  } else if (isPlainObject(value)) {
    for (const member of listMembers(value)) yield* nest(`${path}[${member.name}]`, member);
  } else if (value !== undefined) yield [path, toText(value, written)];
}

function toMediaText({ value, written }: MemberValue, mediaType: string): string {
  return isJsonType(mediaType) ? toJsonText(value, written) : toText(value, written);
}

export function isJsonType(mediaType: string): boolean {
  return /^[^;]*[/+](?:x-)?json\s*(?:;|$)/i.test(mediaType);
}

interface Parts {
  readonly kind: "scalar" | "list" | "object";
  /** Encoded; of an exploded object, with the names: `R=100`. */
  readonly texts: readonly string[];
  readonly isEmpty: boolean;
}

function listParts({ value, written }: MemberValue, encode: Encode, explode: boolean): Parts {
  const isDefined = (member: MemberValue): boolean => member.value !== null && member.value !== undefined;
  if (Array.isArray(value)) {
    const items = listItems(value).filter(isDefined);
    const texts = items.map((item) => encode(toText(item.value, item.written)));
    return { kind: "list", texts, isEmpty: texts.length === 0 };
  }
  if (isPlainObject(value)) {
    const members = listMembers(value).filter(isDefined);
    const pairs = members.map((member) => [encode(member.name), encode(toText(member.value, member.written))]);
    const texts = explode ? pairs.map((pair) => pair.join("=")) : pairs.flat();
    return { kind: "object", texts, isEmpty: texts.length === 0 };
  }
  return { kind: "scalar", texts: [encode(toText(value, written))], isEmpty: false };
}

function getSeparator(style: Style, encode: Encode): string {
  const delimiter = DELIMITERS[style];
  return delimiter === undefined ? "," : encode(delimiter);
}

function toMatrixPair(key: string, text: string): string {
  return text === "" ? `;${key}` : `;${key}=${text}`;
}
