import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { deserialize, serialize } from "node:v8";

import type { PreparedSnapshot } from "../worker/isolate.ts";
import { buildSnapshot } from "./build-snapshot.ts";

/** The guest's own code, a list of scripts, and the image that the build makes of it. */
const GUEST_FILE = "guest.json";
const SNAPSHOT_FILE = "engine.snapshot";

/** The code that makes an image: with another, the image is another. */
const SNAPSHOT_SOURCES = ["engine/quickjs.js", "engine/snapshot.js", "worker/isolate.js", "engine/build-snapshot.js"];

/** The prepared image from its file; made anew where the file is missing or belongs to other code. */
export function loadSnapshot(
  module: WebAssembly.Module,
  engineDigest: string,
  folder: URL,
): { readonly prepared: PreparedSnapshot; readonly key: string } {
  const guestCode = readFileSync(new URL(GUEST_FILE, folder), "utf8");
  const key = hashSources(engineDigest, guestCode, folder);
  return {
    prepared: readSnapshot(new URL(SNAPSHOT_FILE, folder), key) ?? buildSnapshot(module, parseScripts(guestCode)),
    key,
  };
}

/** The bytes of the image file of a folder of compiled files; for the build. */
export function createSnapshotFile(module: WebAssembly.Module, engineDigest: string, folder: URL): Uint8Array {
  const guestCode = readFileSync(new URL(GUEST_FILE, folder), "utf8");
  return serialize({
    key: hashSources(engineDigest, guestCode, folder),
    prepared: buildSnapshot(module, parseScripts(guestCode)),
  });
}

function parseScripts(guestCode: string): readonly string[] {
  return JSON.parse(guestCode) as string[]; // written by our own build
}

function readSnapshot(file: URL, key: string): PreparedSnapshot | undefined {
  try {
    const stored = deserialize(readFileSync(file)) as { key: string; prepared: PreparedSnapshot };
    return stored.key === key ? stored.prepared : undefined;
  } catch {
    return undefined; // missing or unreadable: it can always be made again
  }
}

function hashSources(engineDigest: string, guestCode: string, folder: URL): string {
  const hash = createHash("sha256").update(engineDigest).update(guestCode);
  for (const file of SNAPSHOT_SOURCES) hash.update(readFileSync(new URL(file, folder)));
  return hash.digest("hex");
}
