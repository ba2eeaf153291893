import { createHash } from "node:crypto";

import { sentence, SkillgateError } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";
import { canonicalText } from "../../../shared/digest.ts";
import { truncateText } from "../../../shared/format-text.ts";
import { splitFrontmatter } from "../../../shared/files/frontmatter.ts";
import { mapNumbers } from "../../../shared/json/exact-json.ts";
import { setBounded } from "../../../shared/lru.ts";

/** The most skills that are kept of one server, and the most files of a skill; a further file counts as not listed. */
const MAX_SKILLS = 1_000;
const MAX_FILES = 2_048;

/** Levels of folders above a file that may be those of skills. */
const MAX_LEVELS = 64;

/** Characters of the front matter of a skill. */
const MAX_FRONTMATTER = 64 << 10;

/** The digest and the size of a file, as a server has listed them. */
interface ListedFile {
  readonly digest: unknown;
  readonly size: unknown;
}

interface ListedManifest {
  readonly uri: string;
  readonly frontmatter: unknown;
  /** Absent for a skill whose files the server generates. */
  readonly files: ReadonlyMap<unknown, ListedFile> | undefined;
}

/** The skills of one server, as each caller has got them in a list. The files that are read later must be the same. */
export class ListedSkillFiles {
  readonly #skills = new Map<string, ListedManifest>();

  /** Takes over the skills that a caller has got, in place of what it had of them. */
  keep(caller: string, skills: readonly unknown[]): void {
    for (const skill of skills) {
      const { uri, frontmatter, resources } = isRecord(skill) ? skill : {};
      if (typeof uri !== "string") continue;
      const files = Array.isArray(resources) ? resources.slice(0, MAX_FILES).filter(isRecord) : undefined;
      const listed = new Map(files?.map(({ uri: file, digest, size }) => [file, { digest, size }]));
      const folder = uri.slice(0, uri.lastIndexOf("/") + 1);
      setBounded(this.#skills, [getKey(caller, folder), { uri, frontmatter, files: files && listed }], MAX_SKILLS);
    }
  }

  /** Throws `SKILL_CHANGED` for a file in the folder of a skill that is not as the caller has got it in the list. */
  async check(caller: string, uri: string, result: unknown): Promise<void> {
    const skills = this.#getSkillsAround(caller, uri);
    if (skills.length === 0) return;
    const contents = isRecord(result) && Array.isArray(result["contents"]) ? result["contents"] : [];
    const bytes = contents.length === 1 ? getBytes(contents[0]) : undefined;
    const withFiles = skills.filter(({ files }) => files !== undefined);
    const listed = withFiles.find(({ files }) => files?.has(uri))?.files?.get(uri);
    if (withFiles.length > 0 && (listed === undefined || bytes === undefined || !isListed(bytes, listed)))
      throw createError(uri);
    const own = skills.find((skill) => skill.uri === uri);
    if (own !== undefined && (bytes === undefined || !(await hasFrontmatter(bytes, own.frontmatter))))
      throw createError(uri);
  }

  /** The skills whose folders have an address, the innermost first. */
  #getSkillsAround(caller: string, uri: string): readonly ListedManifest[] {
    const found: ListedManifest[] = [];
    let end = uri.lastIndexOf("/");
    for (let level = 0; end > 0 && level < MAX_LEVELS && this.#skills.size > 0; level++) {
      const skill = this.#skills.get(getKey(caller, uri.slice(0, end + 1)));
      if (skill !== undefined) found.push(skill);
      end = uri.lastIndexOf("/", end - 1);
    }
    return found;
  }
}

function getKey(caller: string, folder: string): string {
  return JSON.stringify([caller, folder]);
}

function getBytes(part: unknown): Buffer | undefined {
  const { text, blob } = isRecord(part) ? part : {};
  if (typeof text === "string") return Buffer.from(text, "utf8");
  return typeof blob === "string" ? Buffer.from(blob, "base64") : undefined;
}

/** Servers of drafts of the extension list files without digests. */
function isListed(bytes: Buffer, { digest, size }: ListedFile): boolean {
  if (size !== undefined && size !== bytes.length) return false;
  return digest === undefined || digest === `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

/** Compares the front matter of a file with that of a list, without the forms of numbers. */
async function hasFrontmatter(bytes: Buffer, listed: unknown): Promise<boolean> {
  const { yaml } = splitFrontmatter(bytes.toString("utf8", 0, MAX_FRONTMATTER));
  if (yaml === undefined) return false;
  const { parse } = await import("../../../shared/package/yaml.ts");
  try {
    return canonicalText(parse(yaml)) === canonicalText(mapNumbers(listed, Number));
  } catch {
    return false; // it is not YAML
  }
}

function createError(uri: string): SkillgateError {
  const shortUri = truncateText(uri, 200);
  return new SkillgateError("SKILL_CHANGED", sentence("SKILL_CHANGED", shortUri), { error: shortUri });
}
