import {
  createHmac,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign as signBytes,
  timingSafeEqual,
  verify as verifyBytes,
} from "node:crypto";

import { sentence, SkillgateError } from "../../errors.ts";
import { isRecord } from "../../model/json.ts";
import { canonicalText } from "../digest.ts";
import type { NonceLog } from "./nonces.ts";

/** The facts that a signature vouches for, in addition to those in the signature itself. */
export interface SignedFacts {
  /** The server or node that the call is for. */
  readonly server: string;
  readonly tool: string;
  /** SHA-256 of the canonical JSON of the arguments, all 64 hexadecimal digits: see `hashValueFully`. */
  readonly argumentsDigest: string;
  /** The same of the result; `null` in the signature of a call. */
  readonly resultDigest: string | null;
}

/** A signature, as it travels beside a call or a result. It names no algorithm: that is fixed for each key. */
export interface Signature {
  readonly keyId: string;
  /** Unique among the signatures of a key. */
  readonly nonce: string;
  /** In milliseconds since 1970. */
  readonly timestamp: number;
  /** base64url */
  readonly signature: string;
}

/** A key that makes signatures. A key of HMAC-SHA256 is the same on both sides. */
export type SigningKey =
  | { readonly keyId: string; readonly algorithm: "Ed25519"; readonly privateKey: KeyObject }
  | HmacKey;

/** A key that checks signatures. */
export type VerifyingKey =
  | { readonly keyId: string; readonly algorithm: "Ed25519"; readonly publicKey: KeyObject }
  | HmacKey;

interface HmacKey {
  readonly keyId: string;
  readonly algorithm: "HMAC-SHA256";
  /** At least 32 bytes. */
  readonly secret: KeyObject;
}

/** The longest time between the clock and the timestamp of a signature, in either direction. */
export const MAX_CLOCK_DIFFERENCE_MS = 300_000;

const MIN_SECRET_BYTES = 32;
const NONCE_BYTES = 16;

/** Creates an Ed25519 key: the part that signs, and the part that others receive to check. */
export function createSigningKey(keyId: string): { readonly signing: SigningKey; readonly verifying: VerifyingKey } {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return {
    signing: { keyId, algorithm: "Ed25519", privateKey },
    verifying: { keyId, algorithm: "Ed25519", publicKey },
  };
}

/** Signs a call, or a result if the facts have the digest of one. Throws `OPTION_INVALID` for a key of another kind. */
export function signFacts(facts: SignedFacts, key: SigningKey, now: () => number = Date.now): Signature {
  const unsigned = { keyId: key.keyId, nonce: randomBytes(NONCE_BYTES).toString("base64url"), timestamp: now() };
  return { ...unsigned, signature: computeSignature(toBytes(facts, unsigned), key).toString("base64url") };
}

export interface VerifierOptions {
  /** Returns the key of an id; its algorithm is the only one that is accepted for it. */
  readonly findKey: (keyId: string) => VerifyingKey | undefined;
  readonly nonces: NonceLog;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * Returns a function that accepts each signature once. `facts` must be computed from what was received, never taken from
 * the sender. It rejects with `SIGNATURE_INVALID`, with `SIGNATURE_REPLAYED` for a signature that was accepted before, and
 * with `NONCE_LIMIT` if no further nonce can be stored.
 */
export function createVerifier({
  findKey,
  nonces,
  now = Date.now,
}: VerifierOptions): (facts: SignedFacts, signature: unknown) => Promise<void> {
  let latest = 0;
  return async (facts, received) => {
    const signature = parseSignature(received);
    // A clock that is set back must not make a forgotten nonce acceptable again.
    latest = Math.max(latest, now());
    const differenceMs = Math.abs(latest - signature.timestamp);
    if (differenceMs > MAX_CLOCK_DIFFERENCE_MS)
      throw refused(`its timestamp differs by more than ${MAX_CLOCK_DIFFERENCE_MS / 1_000} s from the clock`);
    const key = findKey(signature.keyId);
    if (key === undefined) throw refused(`the key ${JSON.stringify(signature.keyId)} is unknown`);
    if (key.keyId !== signature.keyId || !isSignedBy(key, facts, signature))
      throw refused(`it does not match the call, or another key than ${JSON.stringify(key.keyId)} made it`);
    // Only now: signatures that anyone can invent must not fill the log.
    const until = signature.timestamp + MAX_CLOCK_DIFFERENCE_MS;
    const outcome = await nonces.take(JSON.stringify([signature.keyId, signature.nonce]), { until, now: latest });
    if (outcome === "used") throw new SkillgateError("SIGNATURE_REPLAYED", "Nonce already used (replay attack)");
    if (outcome === "full")
      throw new SkillgateError(
        "NONCE_LIMIT",
        sentence("NONCE_LIMIT", "none of the stored nonces may be forgotten yet"),
      );
  };
}

type Unsigned = Omit<Signature, "signature">;

/** Canonical JSON of exactly the signed fields: further fields of an object do not enter it. */
function toBytes(
  { server, tool, argumentsDigest, resultDigest }: SignedFacts,
  { keyId, nonce, timestamp }: Unsigned,
): Buffer {
  return Buffer.from(canonicalText({ server, keyId, tool, argumentsDigest, nonce, timestamp, resultDigest }));
}

function computeSignature(bytes: Buffer, key: SigningKey): Buffer {
  if (key.algorithm === "HMAC-SHA256") return computeMac(bytes, key);
  requireKind(key.privateKey, "private", key.keyId);
  return signBytes(null, bytes, key.privateKey);
}

function isSignedBy(key: VerifyingKey, facts: SignedFacts, signature: Signature): boolean {
  const bytes = toBytes(facts, signature);
  const received = Buffer.from(signature.signature, "base64url");
  if (key.algorithm === "Ed25519") {
    requireKind(key.publicKey, "public", key.keyId);
    return verifyBytes(null, bytes, key.publicKey, received);
  }
  const expected = computeMac(bytes, key);
  return received.length === expected.length && timingSafeEqual(received, expected);
}

function computeMac(bytes: Buffer, { secret, keyId }: HmacKey): Buffer {
  if (secret.type !== "secret" || (secret.symmetricKeySize ?? 0) < MIN_SECRET_BYTES)
    throw wrongKey(keyId, `a secret of at least ${MIN_SECRET_BYTES} bytes`);
  return createHmac("sha256", secret).update(bytes).digest();
}

/** A public key of another kind, or one used as a secret, must never be accepted. */
function requireKind(key: KeyObject, type: "private" | "public", keyId: string): void {
  if (key.type !== type || key.asymmetricKeyType !== "ed25519") throw wrongKey(keyId, `an Ed25519 ${type} key`);
}

function wrongKey(keyId: string, expected: string): SkillgateError {
  return new SkillgateError(
    "OPTION_INVALID",
    sentence("OPTION_INVALID", `the key ${JSON.stringify(keyId)} must be ${expected}`),
  );
}

function parseSignature(value: unknown): Signature {
  const { keyId, nonce, timestamp, signature } = isRecord(value) ? value : {};
  if (
    typeof keyId !== "string" ||
    typeof nonce !== "string" ||
    !/^[\w-]{16,128}$/.test(nonce) ||
    !Number.isSafeInteger(timestamp) ||
    typeof signature !== "string" ||
    !/^[\w-]{1,200}$/.test(signature)
  )
    throw refused("it must have keyId, nonce, timestamp and signature");
  return { keyId, nonce, timestamp: timestamp as number, signature };
}

function refused(why: string): SkillgateError {
  return new SkillgateError("SIGNATURE_INVALID", sentence("SIGNATURE_INVALID", why));
}
