import { createHash } from "node:crypto";

import { createError, type SkillgateError } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";
import { canonicalText } from "../../../shared/digest.ts";
import { truncateText } from "../../../shared/format-text.ts";
import { splitFrontmatter } from "../../../shared/files/frontmatter.ts";
import { mapNumbers } from "../../../shared/json/exact-json.ts";
import { setBounded } from "../../../shared/lru.ts";

/**
 * The most callers of one server whose skills are kept, the most skills of a caller, and the most files of a skill; a
 * further file counts as not listed.
 */
const MAX_CALLERS = 1_000;
const MAX_SKILLS = 1_000;
const MAX_FILES = 2_048;

/** Characters of the front matter of a skill. */
const MAX_FRONTMATTER = 64 << 10;

/** The digest and the size of a file, as a server has listed them. */
interface ListedFile {
  readonly digest: unknown;
  readonly size: unknown;
}

interface ListedManifest {
  /** The start of the addresses of its files, as it is listed, and folded. */
  readonly folder: string;
  readonly foldedFolder: string;
  /** Its own address, folded. */
  readonly foldedUri: string;
  readonly frontmatter: unknown;
  /** Absent for a skill whose files the server generates. */
  readonly files: ReadonlyMap<unknown, ListedFile> | undefined;
}

/** The skills of a caller by their addresses. */
type ListedSkills = Map<string, ListedManifest>;

/** The skills of one server, as each caller has got them in a list. The files that are read later must be the same. */
export class ListedSkillFiles {
  readonly #callers = new Map<string, ListedSkills>();
  /** True as soon as something was too much to be kept. Since then, only files of skills that are kept are read. */
  #hasForgotten = false;

  /** Takes over the skills that a caller has got, in place of what it had of them. */
  keep(caller: string, skills: readonly unknown[]): void {
    const own = this.#use(caller, this.#callers.get(caller) ?? new Map());
    for (const skill of skills) {
      const { uri, frontmatter, resources } = isRecord(skill) ? skill : {};
      if (typeof uri !== "string") continue;
      const files = Array.isArray(resources) ? resources.slice(0, MAX_FILES).filter(isRecord) : undefined;
      const listed = new Map(files?.map(({ uri: file, digest, size }) => [file, { digest, size }]));
      const folder = uri.slice(0, uri.lastIndexOf("/") + 1) || uri;
      const folded = { foldedFolder: foldAddress(folder), foldedUri: foldAddress(uri) };
      this.#keepIn(own, [uri, { folder, ...folded, frontmatter, files: files && listed }], MAX_SKILLS);
    }
  }

  /**
   * Throws `SKILL_CHANGED` for a file in the folder of a skill that is not as the caller has got it in the list. A server may take
   * another spelling of an address for the same, so that one counts as not listed.
   */
  async check(caller: string, uri: string, result: unknown): Promise<void> {
    const own = this.#callers.get(caller);
    if (own !== undefined) this.#use(caller, own);
    const folded = foldAddress(uri);
    const leadsUp = PARENT_FOLDER.test(unescapeAddress(uri));
    const around = [...(own?.values() ?? [])].filter(
      ({ folder, foldedFolder }) =>
        folded.startsWith(leadsUp ? getScheme(foldedFolder) : foldedFolder) || uri.startsWith(folder),
    );
    if (around.length === 0 && this.#hasForgotten && folded.startsWith("skill:")) throw createMissingError(uri);
    if (around.length === 0) return;
    const contents = isRecord(result) && Array.isArray(result["contents"]) ? result["contents"] : [];
    const bytes = contents.length === 1 ? getBytes(contents[0]) : undefined;
    const lists = around.flatMap(({ files }) => files ?? []);
    const listed = lists.flatMap((files) => files.get(uri) ?? []);
    const isAsListed = bytes !== undefined && listed.length > 0 && listed.every((file) => isListed(bytes, file));
    if ((lists.length > 0 || leadsUp) && !isAsListed) throw createMissingError(uri);
    for (const { foldedUri, frontmatter } of around)
      if (foldedUri === folded && (bytes === undefined || !(await hasFrontmatter(bytes, frontmatter))))
        throw createMissingError(uri);
  }

  #use(caller: string, skills: ListedSkills): ListedSkills {
    this.#keepIn(this.#callers, [caller, skills], MAX_CALLERS);
    return skills;
  }

  #keepIn<Value>(values: Map<string, Value>, entry: readonly [key: string, value: Value], most: number): void {
    if (values.size >= most && !values.has(entry[0])) this.#hasForgotten = true;
    setBounded(values, entry, most);
  }
}

/**
 * Returns one text for all the spellings that may be taken for one address: with escapes, capitals, dots, further slashes, a port, a
 * query or a fragment. Each part of the path ends with a slash, so that a folder is the start of what is in it.
 */
function foldAddress(uri: string): string {
  const [path = ""] = unescapeAddress(uri).split(/[?#]/, 1);
  const scheme = getScheme(path);
  const parts: string[] = [];
  for (const part of path.slice(scheme.length).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  const [host = "", ...rest] = parts;
  const plainHost = host.slice(host.lastIndexOf("@") + 1).replace(/\.?(?::\d*)?$/, "");
  return scheme + [plainHost, ...rest].map((part) => `${part}/`).join("");
}

function unescapeAddress(uri: string): string {
  let text = uri;
  for (let round = 0; round < UNESCAPING_ROUNDS; round++) text = text.replaceAll(ESCAPES, unescapeBytes);
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[\s\p{Cc}\p{Cf}]/gu, "")
    .replaceAll("\\", "/");
}

function getScheme(path: string): string {
  return /^[^/:]*:/.exec(path)?.[0] ?? "";
}

/** Servers differ in whether such a part leads above the host, and whether it has an effect in a query. */
const PARENT_FOLDER = /(?:^|[/?#:])\.\.(?:[/?#]|$)/;

/** Bytes that are escaped, also more than once: `%61`, `%2561`. */
const ESCAPES = /(?:%(?:25)*[0-9a-f]{2})+/gi;
const UNESCAPING_ROUNDS = 3;

function unescapeBytes(escapes: string): string {
  return Buffer.from(escapes.replaceAll(/%(?:25)*([0-9a-f]{2})/gi, "$1"), "hex").toString("utf8");
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

function createMissingError(uri: string): SkillgateError {
  const shortUri = truncateText(uri, 200);
  return createError("SKILL_CHANGED", shortUri, { error: shortUri });
}
