import { createHash } from "node:crypto";

import { sentence, SkillgateError } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";
import { truncateText } from "../../../shared/format-text.ts";
import { setBounded } from "../../../shared/lru.ts";

/** The most files that are kept of one server. */
const MAX_FILES = 10_000;

/** The digest and the size of a file, as a server has listed them. */
interface ListedFile {
  readonly digest: string;
  readonly size: unknown;
}

/** The files of the skills of one server, as each caller has got them in a list. What is read later must be the same. */
export class ListedSkillFiles {
  readonly #files = new Map<string, ListedFile>();

  /** Takes over the files of skills that a caller has got. */
  keep(caller: string, skills: readonly unknown[]): void {
    for (const skill of skills) {
      const files = isRecord(skill) && Array.isArray(skill["resources"]) ? skill["resources"] : [];
      for (const file of files) {
        const { uri, digest, size } = isRecord(file) ? file : {};
        if (typeof uri === "string" && typeof digest === "string")
          setBounded(this.#files, [getKey(caller, uri), { digest, size }], MAX_FILES);
      }
    }
  }

  /** Throws `SKILL_CHANGED` if the contents of a file are not those that the caller has got the digest of. */
  check(caller: string, uri: string, result: unknown): void {
    const listed = this.#files.get(getKey(caller, uri));
    if (listed === undefined) return;
    const contents = isRecord(result) && Array.isArray(result["contents"]) ? result["contents"] : [];
    const [bytes] = contents.map(getBytes);
    const isSame =
      bytes !== undefined &&
      contents.length === 1 &&
      (listed.size === undefined || listed.size === bytes.length) &&
      listed.digest === `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    if (isSame) return;
    const shortUri = truncateText(uri, 200);
    throw new SkillgateError("SKILL_CHANGED", sentence("SKILL_CHANGED", shortUri), { error: shortUri });
  }
}

function getKey(caller: string, uri: string): string {
  return JSON.stringify([caller, uri]);
}

function getBytes(part: unknown): Buffer | undefined {
  const { text, blob } = isRecord(part) ? part : {};
  if (typeof text === "string") return Buffer.from(text, "utf8");
  return typeof blob === "string" ? Buffer.from(blob, "base64") : undefined;
}
