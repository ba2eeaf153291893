import { isUtf8 } from "node:buffer";

import { type AnswerHeaders, getHeader } from "../../../shared/http/headers.ts";

/** The media type of an answer, in lower case, without parameters, and the name of its charset. */
export interface MediaType {
  /** Empty if the answer names none. */
  readonly type: string;
  readonly charset: string | undefined;
}

const MAX_UNITS = 200;

export function parseMediaType(headers: AnswerHeaders): MediaType {
  const text = (getHeader(headers, "content-type") ?? "").slice(0, MAX_UNITS).toLowerCase();
  const [type = ""] = text.split(";", 1);
  const [, quoted, plain] = /;\s*charset=(?:"([^"]*)"|([^\s;]*))/.exec(text) ?? [];
  return { type: type.trim(), charset: quoted ?? plain };
}

export type ContentKind = "JSON" | "lines" | "events" | "text" | "bytes";

const LINES = /^application\/(?:x-)?(?:ndjson|jsonl|json-lines|jsonlines|json-seq|stream\+json)$/;
const TEXT =
  /^text\/|[/+](?:xml|yaml|x-yaml|javascript|ecmascript|graphql|x-www-form-urlencoded|toml|sql|x-sh|x-httpd-php|rtf|pem-certificate-chain)$/;

/** Returns how the body of a media type is read. */
export function getContentKind({ type }: MediaType): ContentKind {
  if (LINES.test(type)) return "lines";
  if (type === "text/event-stream") return "events";
  if (/[/+](?:x-)?json$/.test(type) || type === "text/x-json") return "JSON";
  return TEXT.test(type) ? "text" : "bytes";
}

/**
 * Decodes a text. UTF-8 is the default; a charset that is unknown, or does not fit the bytes, is reported to `addNote`. JSON that is
 * valid UTF-8 is that, whatever its charset says, except for UTF-16.
 */
export function decodeText(bytes: Buffer, { type, charset }: MediaType, addNote: (text: string) => void): string {
  const isUnicode = isUtf8(bytes);
  const prefersUtf8 =
    charset === undefined || (getContentKind({ type, charset }) === "JSON" && !/^utf-?16/.test(charset));
  if (isUnicode && prefersUtf8) return new TextDecoder().decode(bytes);
  const decoder = createDecoder(charset ?? "utf-8");
  if (decoder === undefined) {
    addNote(`has the unknown charset ${JSON.stringify(charset)}, and was read as UTF-8`);
    return new TextDecoder().decode(bytes);
  }
  // Node 20 decodes windows-1252 as ISO-8859-1 in a single call, which loses its quotation marks and the euro sign.
  const text = decoder.decode(bytes, { stream: true }) + decoder.decode();
  if (!isUnicode && text.includes("\uFFFD"))
    addNote(`has bytes that are not ${decoder.encoding}, which are written as \uFFFD`);
  return text;
}

function createDecoder(charset: string): InstanceType<typeof TextDecoder> | undefined {
  try {
    return new TextDecoder(charset);
  } catch {
    return undefined; // a RangeError for a name that is unknown
  }
}
