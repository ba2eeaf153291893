import { createHash, createHmac, hash, timingSafeEqual } from "node:crypto";

import { parseSigningSecret } from "../../alerts/index.ts";
import { type DeliveryHeaders, DeliveryFlaw, requireHeader } from "./delivery-flaw.ts";
import { HMAC_ALGORITHMS, type HmacScheme, type Scheme, type TokenScheme } from "./scheme.ts";

/** The content that a signature covers. */
export interface SignedDelivery {
  readonly parts: readonly (string | Uint8Array)[];
  /** As it was sent; `undefined` if it is not a part. */
  readonly timestamp: string | undefined;
  readonly id: string | undefined;
}

/** Services send one signature for each secret that they use at a time. */
const MAX_SIGNATURES = 16;

/** A shorter secret can be guessed. */
const MIN_SECRET_UNITS = 8;

/** Says why a text cannot be a secret of a scheme; `undefined` if it can. */
export function findSecretFlaw(scheme: Scheme, secret: string): string | undefined {
  if (scheme.type === "hmac" && scheme.secretForm === "whsec")
    return parseSigningSecret(secret) === undefined ? "must be whsec_ and 24 to 64 bytes in base64" : undefined;
  if (secret.length < MIN_SECRET_UNITS) return `must have at least ${MIN_SECRET_UNITS} characters`;
  return secret.trim() === secret ? undefined : "must have no space and no line break at its ends";
}

/** Throws unless one of the signatures is that of one of the secrets. Takes the same time whichever it is. */
export function requireSignature(
  scheme: HmacScheme,
  secrets: readonly string[],
  headers: DeliveryHeaders,
  { parts }: SignedDelivery,
): void {
  const signatures = readSignatures(scheme, headers);
  let isSigned = false;
  for (const secret of requireSecrets(scheme, secrets)) {
    const key = scheme.secretForm === "whsec" ? (parseSigningSecret(secret) ?? "") : secret;
    const hmac = createHmac(scheme.algorithm, key);
    for (const part of parts) hmac.update(part);
    const expected = hmac.digest();
    for (const signature of signatures) isSigned = timingSafeEqual(signature, expected) || isSigned;
  }
  if (isSigned) return;
  const tried = secrets.length === 1 ? "the secret" : `any of the ${secrets.length} secrets`;
  throw new DeliveryFlaw("unverified", `the signature in ${scheme.header} is not that of ${tried} for this body`);
}

/** Throws unless the header has one of the secrets. */
export function requireToken(scheme: TokenScheme, secrets: readonly string[], headers: DeliveryHeaders): void {
  const value = requireHeader(headers, scheme.header);
  // The names of authentication schemes have no case (RFC 9110).
  if (!value.toLowerCase().startsWith(scheme.prefix.toLowerCase()))
    throw new DeliveryFlaw("unverified", `the header ${scheme.header} does not begin with ${scheme.prefix.trim()}`);
  const token = hash("sha256", value.slice(scheme.prefix.length).trim(), "buffer");
  let isToken = false;
  // Digests have one length, so the time says nothing about the length of a secret.
  for (const secret of requireSecrets(scheme, secrets))
    isToken = timingSafeEqual(token, hash("sha256", secret, "buffer")) || isToken;
  if (!isToken) throw new DeliveryFlaw("unverified", `the token in ${scheme.header} is not one of the secrets`);
}

/** Anyone can sign with an empty secret. */
function requireSecrets(scheme: Scheme, secrets: readonly string[]): readonly string[] {
  const usable = secrets.filter((secret) => findSecretFlaw(scheme, secret) === undefined);
  if (usable.length === 0) throw new DeliveryFlaw("unverified", "the webhook has no usable secret");
  return usable;
}

function readSignatures(scheme: HmacScheme, headers: DeliveryHeaders): readonly Buffer[] {
  const items = requireHeader(headers, scheme.header).split(scheme.separator);
  const written = items.filter((item) => item.startsWith(scheme.prefix));
  if (written.length === 0)
    throw new DeliveryFlaw(
      "unverified",
      `the header ${scheme.header} has no signature that begins with ${scheme.prefix}`,
    );
  if (written.length > MAX_SIGNATURES)
    throw new DeliveryFlaw("unverified", `the header ${scheme.header} has more than ${MAX_SIGNATURES} signatures`);
  const signatures = written.flatMap((item) => decode(scheme, item.slice(scheme.prefix.length)) ?? []);
  if (signatures.length > 0) return signatures;
  const { [scheme.algorithm]: bytes } = HMAC_ALGORITHMS;
  throw new DeliveryFlaw("unverified", `the signature in ${scheme.header} is not ${bytes} bytes in ${scheme.encoding}`);
}

const FORMS = { hex: /^[0-9A-Fa-f]+$/, base64: /^[A-Za-z0-9+/_-]+={0,2}$/ } as const;

/** Returns `undefined` for another form or length. */
function decode({ algorithm, encoding }: HmacScheme, text: string): Buffer | undefined {
  const bytes = FORMS[encoding].test(text) ? Buffer.from(text, encoding) : Buffer.alloc(0);
  // Node ignores the last digit of an odd number.
  const isWhole = encoding === "base64" || text.length % 2 === 0;
  return isWhole && bytes.length === HMAC_ALGORITHMS[algorithm] ? bytes : undefined;
}

/**
 * Collects what is signed. No byte can move from one field to another: ids have no character of the literals, and where two
 * fields touch, the body is JSON, and a time beside an id is in ISO 8601.
 */
export function collectSigned(scheme: HmacScheme, headers: DeliveryHeaders, body: Uint8Array): SignedDelivery {
  requireHeader(headers, scheme.header); // without it, its absence is the reason
  const timestamp = readTimestamp(scheme, headers);
  const id = scheme.id?.in === "header" ? requireHeader(headers, scheme.id.name) : undefined;
  if (id !== undefined) requireId(id, scheme);
  if (isTight(scheme) && id !== undefined && /^\d*$/.test(timestamp ?? ""))
    throw new DeliveryFlaw("unverified", "the time must be in ISO 8601, because nothing separates it from the id");
  const values = { body, timestamp: timestamp ?? "", id: id ?? "" };
  return {
    parts: scheme.signed.map((part) => (part.kind === "literal" ? part.text : values[part.field])),
    timestamp,
    id,
  };
}

/** True if two fields of the signed text touch. */
export function isTight({ signed }: HmacScheme): boolean {
  return signed.some((part, at) => part.kind === "field" && signed[at + 1]?.kind === "field");
}

function readTimestamp({ timestamp, header, separator }: HmacScheme, headers: DeliveryHeaders): string | undefined {
  if (timestamp === undefined || timestamp.in === "body") return undefined;
  if (timestamp.in === "header") return requireHeader(headers, timestamp.name);
  const { prefix } = timestamp;
  const [item, ...others] = requireHeader(headers, header)
    .split(separator)
    .filter((each) => each.startsWith(prefix));
  if (item === undefined)
    throw new DeliveryFlaw("unverified", `the header ${header} has no time that begins with ${prefix}`);
  if (others.length > 0) throw new DeliveryFlaw("unverified", `the header ${header} has more than one time`);
  return item.slice(prefix.length);
}

function requireId(id: string, scheme: HmacScheme): void {
  const literals = scheme.signed.flatMap((part) => (part.kind === "literal" ? [part.text.slice(0, 1)] : []));
  const forbidden = isTight(scheme) ? ["{", "[", ...literals] : literals;
  const found = forbidden.find((character) => id.includes(character));
  if (found !== undefined) throw new DeliveryFlaw("unverified", `the id of the delivery has the character ${found}`);
  if (!isDeliveryId(id)) throw new DeliveryFlaw("unverified", `the id of the delivery is not ${DELIVERY_ID_FORM}`);
}

const DELIVERY_ID_FORM = "1 to 200 visible ASCII characters";

export function isDeliveryId(id: string): boolean {
  return /^[!-~]{1,200}$/.test(id);
}

/** Returns the digest of what is signed. Unlike the signature, it is the same for each secret. */
export function digestSigned({ parts }: Pick<SignedDelivery, "parts">): string {
  const digest = createHash("sha256");
  for (const part of parts) digest.update(part);
  return `sha256-${digest.digest("hex")}`;
}
