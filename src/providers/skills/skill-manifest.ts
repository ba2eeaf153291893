import { createHash } from "node:crypto";
import { type Dirent, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, extname, join, sep } from "node:path";

import { isRecord } from "../../model/json.ts";
import type { McpResource, McpSkill } from "../../model/mcp-features.ts";
import { splitFrontmatter } from "../../shared/files/frontmatter.ts";
import { parse } from "../../shared/package/yaml.ts";

/** The limits that the extension of skills sets; a skill beyond them is not offered. */
const MAX_FILES = 512;
const MAX_BYTES = 16 << 20;

/** The name and the instructions of a skill. */
export interface SkillInstructions {
  readonly name: string;
  readonly description: string;
  readonly text: string;
}

export interface ServedFile {
  readonly read: () => Buffer;
  readonly mimeType: string;
}

/** A skill as clients list it, and its files by their URIs. */
interface ServedSkill {
  readonly entry: McpSkill;
  readonly resources: readonly McpResource[];
  readonly files: ReadonlyMap<string, ServedFile>;
}

/** The files of a skill with their digests, read again when one of them has changed. */
export class SkillManifest {
  readonly #skill: SkillInstructions;
  readonly #file: string | undefined;
  #signature: string | undefined;
  #served: ServedSkill | undefined;

  /** `file` is a `SKILL.md` whose whole folder belongs to the skill; without it, the skill has its text alone. */
  constructor(skill: SkillInstructions, file: string | undefined) {
    this.#skill = skill;
    this.#file = file;
  }

  /** Returns the skill; `undefined` if it is beyond the limits, or its folder cannot be read. */
  read(): ServedSkill | undefined {
    try {
      const paths = this.#file === undefined ? [] : listFiles(dirname(this.#file));
      const signature = paths.map(({ path, size, changed }) => `${path} ${size} ${changed}`).join("\n");
      if (signature !== this.#signature) this.#served = createServed(this.#skill, this.#file, paths);
      this.#signature = signature;
    } catch {
      this.#served = undefined; // a file has gone, or there are too many
      this.#signature = undefined;
    }
    return this.#served;
  }
}

interface FoundFile {
  readonly path: string;
  readonly size: number;
  readonly changed: number;
}

/** Lists the files of a folder, without links, hidden files and installed packages. Throws for more than a skill may have. */
function listFiles(folder: string): readonly FoundFile[] {
  const found: FoundFile[] = [];
  let bytes = 0;
  const pending = [folder];
  for (let current = pending.pop(); current !== undefined; current = pending.pop()) {
    for (const entry of readdirSync(current, { withFileTypes: true })) {
      const path = join(current, entry.name);
      if (!isServed(entry)) continue;
      if (entry.isDirectory()) pending.push(path);
      else {
        const { size, mtimeMs: changed } = statSync(path);
        bytes += size;
        found.push({ path, size, changed });
      }
      if (found.length + pending.length > MAX_FILES || bytes > MAX_BYTES) throw new Error("the skill is too large");
    }
  }
  return found.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

function isServed(entry: Dirent): boolean {
  return !entry.name.startsWith(".") && entry.name !== "node_modules" && (entry.isFile() || entry.isDirectory());
}

function createServed(skill: SkillInstructions, file: string | undefined, paths: readonly FoundFile[]): ServedSkill {
  const { frontmatter, bytes } = getInstructions(skill, file);
  const root = `skill://${frontmatter.name}/`;
  const uri = `${root}SKILL.md`;
  const files = new Map<string, ServedFile>([[uri, { read: () => bytes, mimeType: getMimeType(uri) }]]);
  for (const { path } of paths) {
    if (file === undefined || path === file) continue;
    const relative = path
      .slice(dirname(file).length + 1)
      .split(sep)
      .map(encodeURIComponent)
      .join("/");
    files.set(root + relative, { read: () => readFileSync(path), mimeType: getMimeType(path) });
  }
  const resources = [...files].map(([address, { read }]) => ({ uri: address, ...describe(read()) }));
  const { name, description } = frontmatter;
  return {
    entry: { uri, frontmatter, resources },
    resources: [{ uri, name, description, mimeType: getMimeType(uri) }],
    files,
  };
}

function describe(bytes: Buffer): { readonly digest: string; readonly size: number } {
  return { digest: `sha256:${createHash("sha256").update(bytes).digest("hex")}`, size: bytes.length };
}

interface Frontmatter {
  readonly name: string;
  readonly description: string;
  readonly [field: string]: unknown;
}

/** The content of `SKILL.md`: the file as it is if its front matter is complete, else with one from the skill. */
function getInstructions(
  { name, description, text }: SkillInstructions,
  file: string | undefined,
): { readonly frontmatter: Frontmatter; readonly bytes: Buffer } {
  const written = file === undefined ? undefined : readFileSync(file);
  const { yaml } = splitFrontmatter(written?.toString("utf8") ?? "");
  const facts: unknown = yaml === undefined ? undefined : parse(yaml);
  if (written !== undefined && isComplete(facts)) return { frontmatter: facts, bytes: written };
  const frontmatter = { name: toSkillPath(name), description: description || `Instructions of ${name}` };
  const head = `---\nname: ${frontmatter.name}\ndescription: ${JSON.stringify(frontmatter.description)}\n---\n\n`;
  return { frontmatter, bytes: Buffer.from(`${head}${text}\n`) };
}

function isComplete(facts: unknown): facts is Frontmatter {
  if (!isRecord(facts)) return false;
  const { name, description } = facts;
  return typeof name === "string" && PATH_NAME.test(name) && typeof description === "string" && description !== "";
}

/** The names that the format of Agent Skills permits. */
const PATH_NAME = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** `clock-skill` of `ClockSkill` */
function toSkillPath(name: string): string {
  const words =
    name
      .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  return words.join("-").slice(0, 64).replace(/-$/, "") || "skill";
}

function getMimeType(path: string): string {
  return MIME_TYPES.get(extname(basename(path)).toLowerCase()) ?? "application/octet-stream";
}

const MIME_TYPES: ReadonlyMap<string, string> = new Map([
  [".md", "text/markdown"],
  [".txt", "text/plain"],
  [".json", "application/json"],
  [".yaml", "application/yaml"],
  [".yml", "application/yaml"],
  [".csv", "text/csv"],
  [".html", "text/html"],
  [".js", "text/javascript"],
  [".mjs", "text/javascript"],
  [".ts", "text/typescript"],
  [".py", "text/x-python"],
  [".sh", "text/x-shellscript"],
  [".png", "image/png"],
  [".jpg", "image/jpeg"],
  [".svg", "image/svg+xml"],
  [".pdf", "application/pdf"],
]);
