import { createHash } from "node:crypto";

import { isRegularFile, readRegularFile } from "../../shared/files/regular-file.ts";
import { createAgentModule, isAgentSkill } from "./agent-skill.ts";

/** Reads the files of a module, each once, so that what is compared and what runs are made of the same bytes. */
export class ModuleFiles {
  /** The digest of the bytes of each file, by its path. */
  readonly digests = new Map<string, string>();
  readonly #texts = new Map<string, string>();

  read(file: string): string {
    const knownText = this.#texts.get(file);
    if (knownText !== undefined) return knownText;
    const bytes = readRegularFile(file);
    const content = bytes.toString("utf8");
    const text = isAgentSkill(file) ? createAgentModule(content) : content;
    this.digests.set(file, digestBytes(bytes));
    this.#texts.set(file, text);
    return text;
  }

  /** Adds the digest of a file that Node reads itself. One that is missing fails when it is imported. */
  addDigest(file: string): void {
    if (!this.digests.has(file) && isRegularFile(file)) this.digests.set(file, digestBytes(readRegularFile(file)));
  }
}

export function digestBytes(bytes: Buffer | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}
