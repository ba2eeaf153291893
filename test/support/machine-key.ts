import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A key as `skillgate node key` creates it: the file of its private part, and its public part as settings have it. */
export function createMachineKey(): { readonly key: string; readonly publicKey: string } {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-key-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const key = join(folder, "key.pem");
  writeFileSync(key, privateKey.export({ format: "pem", type: "pkcs8" }));
  return { key, publicKey: publicKey.export({ format: "der", type: "spki" }).toString("base64url") };
}
