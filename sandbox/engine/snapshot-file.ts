import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { deserialize, serialize } from "node:v8";

import type { PreparedSnapshot } from "./prepared-snapshot.ts";
import { buildSnapshot } from "./build-snapshot.ts";

/** File of the guest's own code, a list of scripts, and file of the snapshot that the build makes of it. */
const GUEST_FILE = "guest.json";
const SNAPSHOT_FILE = "engine.snapshot";

/** Code that creates the snapshot: a change in it makes a stored snapshot invalid. */
const SNAPSHOT_SOURCES = ["engine/quickjs.js", "engine/snapshot.js", "worker/isolate.js", "engine/build-snapshot.js"];

/** Loads the prepared snapshot from its file; builds it if the file is missing or belongs to other code. */
export function loadSnapshot(module: WebAssembly.Module, engineDigest: string, folder: URL): PreparedSnapshot {
  const guestCode = readFileSync(new URL(GUEST_FILE, folder), "utf8");
  const key = hashSources(engineDigest, guestCode, folder);
  return readSnapshot(new URL(SNAPSHOT_FILE, folder), key) ?? buildSnapshot(module, parseScripts(guestCode));
}

/** Returns the bytes of the snapshot file for a folder of compiled files. Used by the build. */
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
    return undefined; // missing or unreadable: it can always be built again
  }
}

function hashSources(engineDigest: string, guestCode: string, folder: URL): string {
  const hash = createHash("sha256").update(engineDigest).update(guestCode);
  for (const file of SNAPSHOT_SOURCES) hash.update(readFileSync(new URL(file, folder)));
  return hash.digest("hex");
}
