import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import type * as Skillgate from "../../src/index.ts";

/**
 * The package with a guest that an attacker has taken over: `({}).rawHost` is the function with which the guest's own code
 * speaks to the host. All the rest, the host included, is as it was built.
 */
export async function openTakenOver(): Promise<{ readonly skillgate: typeof Skillgate; readonly remove: () => void }> {
  // Beside node_modules, so that its imports are found.
  const cache = join(import.meta.dirname, "..", "..", ".cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "taken-over-"));
  cpSync(join(import.meta.dirname, "..", "..", "dist"), folder, { recursive: true });
  const guest = join(folder, "sandbox", "guest.json");
  const scripts = JSON.parse(readFileSync(guest, "utf8")) as string[];
  writeFileSync(guest, JSON.stringify([EXPOSE, ...scripts]));
  const skillgate = (await import(pathToFileURL(join(folder, "src", "index.js")).href)) as typeof Skillgate;
  return { skillgate, remove: () => rmSync(folder, { recursive: true }) };
}

const EXPOSE = `(function () { Object.defineProperty(Object.prototype, "rawHost", { value: globalThis.__host }) })`;
