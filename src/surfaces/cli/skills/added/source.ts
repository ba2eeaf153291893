import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { basename, join, relative, resolve } from "node:path";
import { promisify } from "node:util";

import { getMessage, SkillgateError } from "../../../../errors.ts";
import { parseJson, toRecord } from "../../../../model/json.ts";
import { UsageError } from "../../usage-error.ts";

/** Where skills come from. Its text names it again in an update. */
export interface SkillOrigin {
  readonly kind: "folder" | "git" | "npm";
  /** A path relative to this folder, `https://host/repository.git#branch`, or `name@1.2.3`. */
  readonly text: string;
}

/** The files of a source. */
export interface FetchedSource {
  readonly folder: string;
  /** The commit, or the version of the package; empty for a folder. */
  readonly version: string;
  /** The name of the folder, repository or package, for a skill at its top. */
  readonly name: string;
}

const FORMS =
  "Name a folder or a .tgz file that exists, a git address such as https://host/repository.git#branch or github:owner/repository, or an npm package such as name@1.2.3";

/** Throws a `UsageError` for a text that names no source. */
export function parseSource(text: string): SkillOrigin {
  if (existsSync(text)) {
    const path = relative(process.cwd(), resolve(text)) || ".";
    return text.endsWith(".tgz") ? { kind: "npm", text: resolve(text) } : { kind: "folder", text: path };
  }
  const [, owned] = /^github:([\w.-]+\/[\w.-]+(?:#\S+)?)$/.exec(text) ?? [];
  if (owned !== undefined) return { kind: "git", text: `https://github.com/${owned}` };
  if (/^(?:https|ssh|file):\/\/[^\s-]\S*$|^[\w.]+@[\w.-]+:[^\s-]\S*$/.test(text)) return { kind: "git", text };
  if (/^http:|^git:/.test(text)) throw new UsageError(`${text} is not encrypted: use https:// or ssh://`);
  if (/^(?:@[\w.~-]+\/)?[a-z0-9][\w.~-]*(?:@[\w.^~*-]+)?$/.test(text)) return { kind: "npm", text };
  throw new UsageError(`Cannot add ${JSON.stringify(text)}. ${FORMS}`);
}

/** Brings the files of a source into an empty folder. Runs nothing of them: no script of a package, and no hook of git. */
export async function fetchSource(
  source: SkillOrigin,
  { temporary, signal }: { readonly temporary: string; readonly signal: AbortSignal },
): Promise<FetchedSource> {
  if (source.kind === "folder") return { folder: resolve(source.text), version: "", name: getFolderName(source.text) };
  const run = (command: string, args: readonly string[]): Promise<string> =>
    runTool(command, args, { cwd: temporary, signal, source: source.text });
  return source.kind === "git" ? cloneSource(source, temporary, run) : installSource(source, temporary, run);
}

type RunFetcher = (command: string, args: readonly string[]) => Promise<string>;

async function cloneSource({ text }: SkillOrigin, temporary: string, run: RunFetcher): Promise<FetchedSource> {
  const [address = "", ref] = text.split("#", 2);
  const folder = join(temporary, "clone");
  if (ref?.startsWith("-")) throw new UsageError(`Cannot add ${text}: a branch does not begin with a hyphen`);
  const branch = ref === undefined ? [] : ["--branch", ref];
  const safe = ["-c", "core.hooksPath=/dev/null", "-c", "core.symlinks=false"];
  await run("git", [
    ...safe,
    "clone",
    "--quiet",
    "--depth",
    "1",
    "--no-recurse-submodules",
    ...branch,
    "--",
    address,
    folder,
  ]);
  const version = (await run("git", ["-C", folder, "rev-parse", "HEAD"])).trim();
  const name = basename(
    address
      .replace(/\/+$/, "")
      .replace(/\.git$/, "")
      .replace(/^.*:/, ""),
  );
  return { folder, version, name };
}

async function installSource({ text }: SkillOrigin, temporary: string, run: RunFetcher): Promise<FetchedSource> {
  const quiet = [
    "--no-audit",
    "--no-fund",
    "--no-package-lock",
    "--no-update-notifier",
    "--omit=dev",
    "--legacy-peer-deps",
  ];
  await run("npm", ["install", "--ignore-scripts", ...quiet, "--prefix", temporary, "--", text]);
  const { dependencies } = await readPackage(temporary);
  const [name = ""] = Object.keys(toRecord(dependencies));
  const folder = join(temporary, "node_modules", name);
  const { version } = await readPackage(folder);
  return { folder, version: typeof version === "string" ? version : "", name };
}

/** Returns the package.json of a folder; empty if it is missing or cannot be read. */
export async function readPackage(folder: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await readFile(join(folder, "package.json"), "utf8").catch(() => "");
  return toRecord(parseJson(text));
}

function getFolderName(path: string): string {
  return basename(resolve(path)).replace(/\.[cm]?[jt]s$/, "");
}

const FETCH_MS = 120_000;

async function runTool(
  command: string,
  args: readonly string[],
  { cwd, signal, source }: { readonly cwd: string; readonly signal: AbortSignal; readonly source: string },
): Promise<string> {
  const env = { ...process.env, GIT_TERMINAL_PROMPT: "0", GIT_ALLOW_PROTOCOL: "https:ssh:file" };
  try {
    const { stdout } = await promisify(execFile)(command, [...args], { cwd, signal, env, timeout: FETCH_MS });
    return stdout;
  } catch (error) {
    signal.throwIfAborted();
    const { code, stderr } = error as { readonly code?: unknown; readonly stderr?: string };
    const fix = code === "ENOENT" ? `Install ${command}, and try again` : FORMS;
    const why = code === "ENOENT" ? `${command} is not installed` : lastLines(stderr || getMessage(error));
    throw new SkillgateError("SKILL_INVALID", `Cannot get ${source}: ${why}`, { fix });
  }
}

/** The reason is at the end of the output; npm adds where its log is. */
function lastLines(output: string): string {
  const reasons = output
    .split("\n")
    .filter((line) => line.trim() !== "" && !/A complete log|\.log$|npm notice/.test(line));
  return reasons.slice(-4).join("\n");
}

/** A skill in a fetched folder: a folder, or a single file. */
export interface FoundSkill {
  readonly stem: string;
  readonly path: string;
}

/** Finds the skills: those in the folder `skills`, else the folder itself. */
export async function findSkills({ folder, name }: FetchedSource): Promise<readonly FoundSkill[]> {
  const inside = join(folder, "skills");
  const entries = await readdir(inside, { withFileTypes: true }).catch(() => []);
  const found = entries.flatMap((entry): readonly FoundSkill[] => {
    if (/^[._]|^node_modules$|\.(?:d|test|spec)\.[^.]+$/.test(entry.name)) return [];
    const path = join(inside, entry.name);
    if (entry.isDirectory()) return [{ stem: entry.name, path }];
    const [, stem] = /^(.+)\.(?:[cm]?js|ts)$/.exec(entry.name) ?? [];
    return entry.isFile() && stem !== undefined ? [{ stem, path }] : [];
  });
  if (found.length > 0) return found;
  const { skillgate } = await readPackage(folder);
  const own = toRecord(skillgate)["skill"];
  const stem = typeof own === "string" ? own : name.replace(/^@[^/]*\//, "").replace(/^skillgate-skill-/, "");
  return [{ stem, path: folder }];
}
