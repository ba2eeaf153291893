import { isUtf8 } from "node:buffer";

/** Decodes UTF-8 and drops a byte order mark; returns `undefined` if the bytes are not valid UTF-8. */
export function encodeUtf8(bytes: Buffer): string | undefined {
  return isUtf8(bytes) ? bytes.toString("utf8").replace(/^\uFEFF/, "") : undefined;
}
