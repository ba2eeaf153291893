import { createHmac } from "node:crypto";

/** The headers of a signed message, as Standard Webhooks define them. */
export interface SignedHeaders {
  readonly "webhook-id": string;
  /** Seconds since 1970. */
  readonly "webhook-timestamp": string;
  readonly "webhook-signature": string;
}

const PREFIX = "whsec_";

/** Fewer bytes can be guessed. */
const MIN_BYTES = 24;
const MAX_BYTES = 64;

/** Parses a secret: base64 of 24 to 64 bytes, after `whsec_` or without it; `undefined` for another text. */
export function parseSigningSecret(text: string): Buffer | undefined {
  const encoded = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text;
  const bytes = Buffer.from(encoded, "base64");
  const isBase64 = bytes.toString("base64").replace(/=+$/, "") === encoded.replace(/=+$/, "");
  return isBase64 && bytes.length >= MIN_BYTES && bytes.length <= MAX_BYTES ? bytes : undefined;
}

/** Signs a message. `id` is the same for each attempt to send it; `time` is in milliseconds. */
export function signMessage(
  secret: Buffer,
  { id, time, body }: { readonly id: string; readonly time: number; readonly body: string },
): SignedHeaders {
  const timestamp = String(Math.floor(time / 1_000));
  const signature = createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
}
