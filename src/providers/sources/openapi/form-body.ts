import { isPlainObject } from "../../../model/arguments.ts";
import type { PartEncoding } from "./operation.ts";
import { isJsonType, nest, percentEncode, toPairs } from "./serialize.ts";
import { type NamedValue, toText } from "./write-value.ts";

/**
 * Writes the fields of `application/x-www-form-urlencoded`. Without an encoding in the document, a list of plain values repeats its name,
 * and other structures are nested as most servers read them: `items[0][price]`.
 */
export function toFormText(members: readonly NamedValue[], encoding: Readonly<Record<string, PartEncoding>>): string {
  return members
    .flatMap((member) => writeField(member, Object.hasOwn(encoding, member.name) ? encoding[member.name] : undefined))
    .join("&");
}

function writeField(member: NamedValue, encoding: PartEncoding = {}): readonly string[] {
  const { name, value, written } = member;
  const { style, explode, allowReserved, contentType } = encoding;
  const isStructure = Array.isArray(value) || isPlainObject(value);
  if (!isStructure && allowReserved !== true) return [writePair(name, toText(value, written))];
  if (style !== undefined || explode !== undefined || allowReserved !== undefined) {
    const mode = { style: style ?? "form", explode: explode ?? (style === undefined || style === "form") };
    return toPairs(name, member, { ...mode, ...(allowReserved !== undefined && { allowReserved }) });
  }
  if (contentType !== undefined && isJsonType(contentType)) return [writePair(name, toText(value))];
  const pairs = [...nest(name, member)];
  const isList = Array.isArray(value) && !value.some((item) => Array.isArray(item) || isPlainObject(item));
  return pairs.map(([path, text]) => writePair(isList ? name : path, text));
}

function writePair(name: string, text: string): string {
  return `${percentEncode(name)}=${percentEncode(text)}`;
}
