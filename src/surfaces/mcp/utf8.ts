import { isUtf8 } from "node:buffer";

/** The text of bytes that must be UTF-8, without a mark at its beginning; `undefined` if they are something else. */
export function encodeUtf8(bytes: Buffer): string | undefined {
  return isUtf8(bytes) ? bytes.toString("utf8").replace(/^\uFEFF/, "") : undefined;
}
