import { randomUUID } from "node:crypto";

import { isPlainObject } from "../../../model/arguments.ts";
import type { PartEncoding } from "./operation.ts";
import { requireMediaType } from "./refuse-argument.ts";
import { isJsonType } from "./serialize.ts";
import { hasControls, isToken } from "./header-text.ts";
import { listItems, type MemberValue, type NamedValue, toJsonText, toText } from "./write-value.ts";

export interface WrittenBody {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** A file among the arguments. */
interface ArgumentFile {
  readonly filename?: string;
  readonly contentType?: string;
  readonly bytes: Uint8Array;
}

const FILE_MEMBERS: ReadonlySet<string> = new Set(["filename", "contentType", "data"]);

/** Finds the file in a value: bytes, or `{ filename, contentType, data }` with at least one of the first two, or with bytes. */
export function findFile(value: unknown): ArgumentFile | undefined {
  if (value instanceof Uint8Array) return { bytes: value };
  if (!isPlainObject(value) || !Object.keys(value).every((name) => FILE_MEMBERS.has(name))) return undefined;
  const { filename, contentType, data } = value;
  const isNamed = typeof filename === "string" || typeof contentType === "string";
  if (!(data instanceof Uint8Array) && !(typeof data === "string" && isNamed)) return undefined;
  return {
    ...(typeof filename === "string" && { filename }),
    ...(typeof contentType === "string" && { contentType }),
    bytes: typeof data === "string" ? Buffer.from(data) : data,
  };
}

/** Writes the fields of a multipart form: files, texts and JSON, each with its media type; a list repeats its field. */
export function writeMultipart(
  type: string,
  members: readonly NamedValue[],
  encoding: Readonly<Record<string, PartEncoding>>,
): WrittenBody {
  const boundary = `skillgate-${randomUUID()}`;
  const chunks: Uint8Array[] = [];
  for (const member of members) {
    const partEncoding = Object.hasOwn(encoding, member.name) ? (encoding[member.name] ?? {}) : {};
    const isOnePart = !Array.isArray(member.value) || isJsonType(getMediaType(partEncoding) ?? "");
    for (const item of isOnePart ? [member] : listItems(member.value as readonly unknown[])) {
      const { headers, bytes } = writePart(member.name, item, partEncoding);
      chunks.push(Buffer.from(`--${boundary}\r\n${headers.join("\r\n")}\r\n\r\n`), bytes, Buffer.from("\r\n"));
    }
  }
  chunks.push(Buffer.from(`--${boundary}--\r\n`));
  return { mediaType: `${type}; boundary=${boundary}`, bytes: Buffer.concat(chunks) };
}

interface FormPart {
  readonly headers: readonly string[];
  readonly bytes: Uint8Array;
}

function writePart(name: string, { value, written }: MemberValue, encoding: PartEncoding): FormPart {
  const file = findFile(value);
  const isStructure = file === undefined && (Array.isArray(value) || isPlainObject(value));
  const declared = getMediaType(encoding);
  const usual = file !== undefined ? "application/octet-stream" : isStructure ? "application/json" : undefined;
  const mediaType = file?.contentType ?? declared ?? usual;
  requireMediaType(name, mediaType);
  const filename = file === undefined ? "" : `; filename="${escapeQuotes(file.filename ?? name)}"`;
  const isJson = isStructure || isJsonType(mediaType ?? "");
  const text = isJson && file === undefined ? toJsonText(value, written) : toText(value, written);
  return {
    headers: [
      `Content-Disposition: form-data; name="${escapeQuotes(name)}"${filename}`,
      ...(mediaType === undefined ? [] : [`Content-Type: ${mediaType}`]),
      ...listHeaders(encoding),
    ],
    bytes: file?.bytes ?? Buffer.from(text),
  };
}

/** Returns the first media type that the document names for a part, unless it is a range such as `image/*`. */
function getMediaType({ contentType }: PartEncoding): string | undefined {
  const first = contentType?.split(",", 1)[0]?.trim();
  return first === undefined || first === "" || first.includes("*") ? undefined : first;
}

/** Returns the headers that the document names for a part, without those that are not valid. */
function listHeaders({ headers = {} }: PartEncoding): readonly string[] {
  return Object.entries(headers)
    .filter(([name, text]) => isToken(name) && !/^content-(?!id$|language$)/i.test(name) && !hasControls(text))
    .map(([name, text]) => `${name}: ${text}`);
}

/** Escapes the name of a field or a file as browsers do. */
function escapeQuotes(text: string): string {
  return text.replace(/["\r\n]/g, (found) => (found === '"' ? "%22" : found === "\r" ? "%0D" : "%0A"));
}
