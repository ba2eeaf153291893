import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { deserialize, serialize } from "node:v8";

import type { PreparedImage } from "./isolate.ts";
import { prepareImage } from "./prepare.ts";

/** The guest's own code, a list of scripts, and the image that the build makes of it. */
const GUEST_FILE = "guest.json";
const IMAGE_FILE = "engine.image";

/** The code that makes an image: with another, the image is another. */
const MAKERS = ["engine.js", "image.js", "isolate.js", "prepare.js"];

/** The prepared image from its file; made anew where the file is missing or belongs to other code. */
export function loadImage(
  module: WebAssembly.Module,
  engineDigest: string,
  folder: URL,
): { readonly prepared: PreparedImage; readonly key: string } {
  const guestCode = readFileSync(new URL(GUEST_FILE, folder), "utf8");
  const key = keyOf(engineDigest, guestCode, folder);
  return { prepared: readImage(new URL(IMAGE_FILE, folder), key) ?? prepareImage(module, scriptsOf(guestCode)), key };
}

/** The bytes of the image file of a folder of compiled files; for the build. */
export function imageFile(module: WebAssembly.Module, engineDigest: string, folder: URL): Uint8Array {
  const guestCode = readFileSync(new URL(GUEST_FILE, folder), "utf8");
  return serialize({
    key: keyOf(engineDigest, guestCode, folder),
    prepared: prepareImage(module, scriptsOf(guestCode)),
  });
}

function scriptsOf(guestCode: string): readonly string[] {
  return JSON.parse(guestCode) as string[]; // written by our own build
}

function readImage(file: URL, key: string): PreparedImage | undefined {
  try {
    const stored = deserialize(readFileSync(file)) as { key: string; prepared: PreparedImage };
    return stored.key === key ? stored.prepared : undefined;
  } catch {
    return undefined; // missing or unreadable: it can always be made again
  }
}

function keyOf(engineDigest: string, guestCode: string, folder: URL): string {
  const hash = createHash("sha256").update(engineDigest).update(guestCode);
  for (const file of MAKERS) hash.update(readFileSync(new URL(file, folder)));
  return hash.digest("hex");
}
