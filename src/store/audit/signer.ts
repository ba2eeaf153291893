import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
  sign,
  verify,
} from "node:crypto";
import { link, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { getMessage, sentence, SkillgateError } from "../../errors.ts";
import type { SigningKey } from "../../shared/signing/sign.ts";
import { makeFolder } from "../../shared/files/make-folder.ts";

/** A key pair of this project on this machine. */
export interface Signer {
  /** The public key, DER in base64. */
  readonly id: string;
  /** Returns an Ed25519 signature in base64. */
  sign(text: string): string;
  readonly key: SigningKey;
}

const FILE_NAME = "audit-key.pem";

/** Reads the key pair of a folder; `undefined` if it has none. */
export async function readSigner(folder: string): Promise<Signer | undefined> {
  const file = join(folder, FILE_NAME);
  const pem = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (pem === undefined) return undefined;
  try {
    return createSigner(createPrivateKey(pem));
  } catch (error) {
    const values = `${file} holds no private key: ${getMessage(error)}. Restore it, or move it aside to create another`;
    throw new SkillgateError("STORE_UNAVAILABLE", sentence("STORE_UNAVAILABLE", values), { file }, { cause: error });
  }
}

/** Reads the key pair of a folder, and creates it once, in a file that only its owner can read. */
export async function openSigner(folder: string): Promise<Signer> {
  const stored = await readSigner(folder);
  if (stored !== undefined) return stored;
  const { privateKey } = generateKeyPairSync("ed25519");
  const draft = join(folder, `${FILE_NAME}.${randomUUID()}`);
  await makeFolder(folder, 0o700);
  try {
    await writeFile(draft, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
    // Fails if another process was first: then its key counts.
    await link(draft, join(folder, FILE_NAME)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  return (await readSigner(folder)) ?? createSigner(privateKey);
}

function createSigner(privateKey: KeyObject): Signer {
  const id = createPublicKey(privateKey).export({ type: "spki", format: "der" }).toString("base64");
  return {
    id,
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString("base64"),
    key: { keyId: id, algorithm: "Ed25519", privateKey },
  };
}

export function isSignedBy(id: string, text: string, signature: string): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(id, "base64"), type: "spki", format: "der" });
    return (
      key.asymmetricKeyType === "ed25519" && verify(null, Buffer.from(text), key, Buffer.from(signature, "base64"))
    );
  } catch {
    // The id is not a public key.
    return false;
  }
}
