import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

import { createError, type SkillgateError } from "../errors.ts";
import type { AccountKey, KeySource } from "./key-source.ts";

const VERSION = "v1";
const ALGORITHM = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts the texts of the tables of accounts. */
export interface Cipher {
  /** Encrypts a text, which can be decrypted only with the same `place`: a value that was copied to another row is worthless. */
  encrypt(text: string, location: string): Promise<string>;
  /** Throws `ACCOUNT_UNAVAILABLE` for a value of another key or another place, and for a damaged one. */
  decrypt(value: string, location: string): Promise<string>;
  /** True for a value that the first key has encrypted. */
  isCurrent(value: string): Promise<boolean>;
}

/** How errors name a value, and how a person gets another one. */
interface CipherWords {
  readonly subject: (location: string) => string;
  readonly again: string;
}

const WORDS: CipherWords = { subject: () => "its stored value", again: "connect it again" };

/** Creates a cipher with the keys of a source: the first one encrypts, all of them decrypt. Values are `v1.<key id>.<iv>.<data>`. */
export function createCipher(keys: KeySource, { subject, again }: CipherWords = WORDS): Cipher {
  return {
    async encrypt(text, location) {
      const { id, bytes } = await keys.getFirst();
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(ALGORITHM, bytes, iv).setAAD(Buffer.from(location));
      const data = Buffer.concat([cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return [VERSION, id, iv.toString("base64url"), data.toString("base64url")].join(".");
    },
    async decrypt(value, location) {
      const [version, id = "", iv = "", data = ""] = value.split(".");
      if (version !== VERSION) throw unavailable(`${subject(location)} has an unknown form; ${again}`);
      const key = await keys.find(id);
      if (key === undefined)
        throw unavailable(
          `${subject(location)} is encrypted with the key ${id}, which ${await keys.describe()} does not have; ` +
            `add that key after the first one, or ${again}`,
        );
      const text = decryptWith(key, Buffer.from(iv, "base64url"), Buffer.from(data, "base64url"), location);
      if (text !== undefined) return text;
      throw unavailable(`${subject(location)} was changed outside of Skillgate; ${again}`);
    },
    isCurrent: async (value) => value.startsWith(`${VERSION}.${(await keys.getFirst()).id}.`),
  };
}

/** Returns `undefined` for a value that was changed, or is for another place. */
function decryptWith({ bytes }: AccountKey, iv: Buffer, data: Buffer, location: string): string | undefined {
  try {
    const decipher = createDecipheriv(ALGORITHM, bytes, iv, { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(location))
      .setAuthTag(data.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(data.subarray(0, -TAG_BYTES)), decipher.final()]).toString("utf8");
  } catch {
    return undefined;
  }
}

function unavailable(values: string): SkillgateError {
  return createError("ACCOUNT_UNAVAILABLE", values);
}
