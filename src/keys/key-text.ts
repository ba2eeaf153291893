import { hash, randomBytes, randomInt, timingSafeEqual } from "node:crypto";

/** A new key: its id, the text that its owner receives once, and the digest that is stored. */
export interface KeyText {
  readonly id: string;
  readonly text: string;
  readonly sha256: string;
}

const ID_LENGTH = 12;
const ID_CHARACTERS = "0123456789abcdefghijklmnopqrstuvwxyz";
const SECRET_BYTES = 32;

/** `sg_<id>_<secret>`; the secret is base64url. */
const KEY_FORM = /^sg_([0-9a-z]{12})_[\w-]{43}$/;

export function createKeyId(): string {
  return Array.from({ length: ID_LENGTH }, () => ID_CHARACTERS[randomInt(ID_CHARACTERS.length)]).join("");
}

/** Creates the text of a key with a new secret. */
export function createKeyText(id: string): KeyText {
  const text = `sg_${id}_${randomBytes(SECRET_BYTES).toString("base64url")}`;
  return { id, text, sha256: hash("sha256", text) };
}

/** Returns the id in the text of a key; `undefined` for texts of another form. */
export function findKeyId(text: string): string | undefined {
  return KEY_FORM.exec(text)?.[1];
}

export function isKeyText(text: string): boolean {
  return findKeyId(text) !== undefined;
}

/** Returns true if one of the digests is that of the text. Takes the same time whichever it is, and without any. */
export function matchesDigest(text: string, digests: readonly [string | null, string | null]): boolean {
  const expected = hash("sha256", text, "buffer");
  const matches = digests.map((digest) => timingSafeEqual(expected, Buffer.from(digest ?? NO_DIGEST, "hex")));
  return matches.includes(true);
}

/** The digest of no text that is known. */
const NO_DIGEST = "0".repeat(64);
