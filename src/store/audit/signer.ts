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

import { replaceFile } from "../../shared/files/replace-file.ts";
import { createError, getMessage } from "../../errors.ts";
import { makeFolder } from "../../shared/files/make-folder.ts";

/** A key pair of this project on this machine. */
export interface Signer {
  /** The public key, DER in base64. */
  readonly id: string;
  /** Returns an Ed25519 signature in base64. */
  sign(text: string): string;
}

/** The private key that signs. */
const FILE_NAME = "audit-key.pem";

/** The public keys: that of `audit-key.pem`, and those of the keys that it replaced. */
export const PUBLIC_FILE = "audit-keys.pub.pem";

/** Reads the key pair of a folder; `undefined` if it has none. */
async function readSigner(folder: string): Promise<Signer | undefined> {
  const file = join(folder, FILE_NAME);
  const pem = await readIfThere(file);
  if (pem === undefined) return undefined;
  try {
    return createSigner(createPrivateKey(pem));
  } catch (error) {
    const values = `${file} holds no private key: ${getMessage(error)}. Restore it, or move it aside to create another`;
    throw createError("STORE_UNAVAILABLE", values, { file }, { cause: error });
  }
}

/** Reads the key pair of a folder, and creates it once, in a file that only its owner can read. */
export async function openSigner(folder: string): Promise<Signer> {
  const stored = await readSigner(folder);
  if (stored !== undefined) return publish(stored, folder);
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
  return publish((await readSigner(folder)) ?? createSigner(privateKey), folder);
}

/** Adds the public key to the file of public keys. */
async function publish(signer: Signer, folder: string): Promise<Signer> {
  const file = join(folder, PUBLIC_FILE);
  const published = parsePublicKeys((await readIfThere(file)) ?? "");
  if (!published.includes(signer.id))
    await replaceFile(file, [...published, signer.id].map((id) => formatPublicKey(id)).join(""));
  return signer;
}

/** The public keys of the folder's own key pair and of those before it, DER in base64. */
export async function readSignerIds(folder: string): Promise<ReadonlySet<string>> {
  const published = (await readIfThere(join(folder, PUBLIC_FILE))) ?? "";
  const own = await readSigner(folder);
  return new Set([...parsePublicKeys(published), ...(own === undefined ? [] : [own.id])]);
}

/** Reads Ed25519 public keys in PEM; other text is ignored. */
export function parsePublicKeys(text: string): readonly string[] {
  const blocks = text.match(/-----BEGIN PUBLIC KEY-----[\sA-Za-z0-9+/=]{1,400}-----END PUBLIC KEY-----/g) ?? [];
  return blocks.flatMap((block) => {
    try {
      return [getId(createPublicKey(block))];
    } catch {
      return []; // it is not a key
    }
  });
}

export async function readIfThere(file: string): Promise<string | undefined> {
  return readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
}

function getId(key: KeyObject): string {
  return key.export({ type: "spki", format: "der" }).toString("base64");
}

function formatPublicKey(id: string): string {
  const key = createPublicKey({ key: Buffer.from(id, "base64"), type: "spki", format: "der" });
  return key.export({ type: "spki", format: "pem" }).toString();
}

function createSigner(privateKey: KeyObject): Signer {
  const id = getId(createPublicKey(privateKey));
  return {
    id,
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString("base64"),
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
