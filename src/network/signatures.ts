import { createPrivateKey, createPublicKey } from "node:crypto";
import { readFile } from "node:fs/promises";

import { parseJson } from "../model/json.ts";
import { SkillgateError, sentence } from "../errors.ts";
import { hashValueFully } from "../shared/digest.ts";
import { createNonceLog } from "../shared/signing/nonces.ts";
import { createVerifier, signFacts, type SignedFacts, type VerifyingKey } from "../shared/signing/sign.ts";
import type { NetworkSettings } from "./settings.ts";

export const SIGNATURE = "Sg-Signature";

/** Signs messages, and checks those of other machines. */
export interface Signatures {
  /** Returns the headers of a signed message; none without a key. */
  sign(facts: SignedFacts): Readonly<Record<string, string>>;
  /**
   * Returns the device that signed a message; `undefined` if no keys of other machines are configured. Rejects with
   * `SIGNATURE_INVALID` or `SIGNATURE_REPLAYED`. `from` is the only device that may have signed it.
   */
  verify(facts: SignedFacts, header: string, from?: string): Promise<string | undefined>;
}

/** Creates the facts of a message from its texts: the id and the text of a call, and for a result also its own text. */
export function createFacts(server: string, tool: string, message: string, result?: string): SignedFacts {
  return {
    server,
    tool,
    argumentsDigest: hashValueFully(message),
    resultDigest: result === undefined ? null : hashValueFully(result),
  };
}

/** Reads the keys. Throws `OPTION_INVALID` for a key that cannot be read. */
export async function openSignatures({ device, keyFile, peers }: NetworkSettings): Promise<Signatures> {
  const privateKey =
    keyFile === undefined ? undefined : readKey(`in ${keyFile}`, createPrivateKey, await readFile(keyFile));
  const keys = new Map<string, VerifyingKey>(
    [...peers].map(([keyId, text]) => {
      const der = { key: Buffer.from(text, "base64url"), format: "der", type: "spki" } as const;
      return [keyId, { keyId, algorithm: "Ed25519", publicKey: readKey(`of ${keyId}`, createPublicKey, der) }];
    }),
  );
  const verify = createVerifier({ findKey: (keyId) => keys.get(keyId), nonces: createNonceLog() });
  return {
    sign(facts) {
      if (privateKey === undefined) return {};
      return { [SIGNATURE]: JSON.stringify(signFacts(facts, { keyId: device, algorithm: "Ed25519", privateKey })) };
    },
    async verify(facts, header, from) {
      if (keys.size === 0) return undefined;
      const signature = parseJson(header) as { readonly keyId?: unknown } | undefined;
      const keyId = signature?.keyId;
      await verify(facts, signature);
      if (typeof keyId === "string" && (from === undefined || keyId === from)) return keyId;
      throw new SkillgateError("SIGNATURE_INVALID", sentence("SIGNATURE_INVALID", "another device made it"));
    },
  };
}

function readKey<Input, Key>(whose: string, read: (input: Input) => Key, input: Input): Key {
  try {
    return read(input);
  } catch (cause) {
    const says = sentence("OPTION_INVALID", `the key ${whose} is not an Ed25519 key`);
    throw new SkillgateError("OPTION_INVALID", says, {}, { cause });
  }
}
