import { createHash } from "node:crypto";
import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

import { isRegularFile } from "../../shared/files/regular-file.ts";
import { type GitFolder, runGit } from "./git.ts";

/**
 * Finds the files with the content that they have on another branch or tag, or in a fetched commit: `git checkout BRANCH -- FILE`
 * and `git restore --source=BRANCH FILE` leave no line in the reflog. `own`: commits whose history is the user's own. Stashes are
 * the user's own, too: git does not exchange them. Returns `undefined` if it is unknown. `found`: what was found before.
 */
export async function findRestored(
  git: GitFolder,
  paths: readonly string[],
  { own, found }: { readonly own: readonly string[]; readonly found: Map<string, boolean> },
): Promise<ReadonlySet<string> | undefined> {
  const versions = listVersions(git, paths, own);
  const unknown = versions.filter((version) => !found.has(toKey(version)));
  const restored = await filterRestored(git, unknown, own);
  if (restored === undefined) return undefined;
  for (const version of unknown) found.set(toKey(version), restored.includes(version));
  return new Set(versions.filter((version) => found.get(toKey(version))).map(({ path }) => path));
}

/**
 * Finds the files with the content that one of the commits has given them: a rebase makes the user's own commits again. Returns none if it is
 * unknown.
 */
export async function findCommitted(
  git: GitFolder,
  paths: readonly string[],
  commits: readonly string[],
): Promise<ReadonlySet<string>> {
  if (commits.length === 0) return new Set();
  const versions = listVersions(git, paths, commits);
  const committed = (await filterCommitted(git, versions, ["--no-walk", ...commits])) ?? [];
  return new Set(committed.map(({ path }) => path));
}

/** Lists the versions of files that are there now, with ids like those of the commits. */
function listVersions({ top }: GitFolder, paths: readonly string[], commits: readonly string[]): FileVersion[] {
  const algorithm = commits.some((id) => id.length === SHA256_DIGITS) ? "sha256" : "sha1";
  return paths.flatMap((path) => listIds(join(top, path), algorithm).map((id) => ({ path, id })));
}

/** The algorithm of the ids in a repository. */
type Algorithm = "sha1" | "sha256";

const SHA256_DIGITS = 64;

/** A path in the repository, and the id of the content that its file has now. */
interface FileVersion {
  readonly path: string;
  readonly id: string;
}

function toKey({ path, id }: FileVersion): string {
  return `${id} ${path}`;
}

/** Returns the versions that only others have committed. */
async function filterRestored(
  git: GitFolder,
  versions: readonly FileVersion[],
  own: readonly string[],
): Promise<readonly FileVersion[] | undefined> {
  const stored = await filterStored(git, versions);
  if (stored === undefined) return undefined;
  const others = await filterCommitted(git, stored, [
    "--exclude=refs/stash",
    "--all",
    ...readFetched(git),
    "--not",
    ...own,
  ]);
  const ownOnes = others && (await filterCommitted(git, others, own));
  return ownOnes && others.filter((version) => !ownOnes.includes(version));
}

/** Returns the versions that git has stored, except those of HEAD. Git has not stored most files that were saved. */
async function filterStored(
  git: GitFolder,
  versions: readonly FileVersion[],
): Promise<readonly FileVersion[] | undefined> {
  if (versions.length === 0) return [];
  const ids = versions.map(({ id }) => `${id}\n`).join("");
  const found = await runGit(git, ["cat-file", "--batch-check=%(objectname) %(objecttype)"], ids);
  if (found === undefined) return undefined;
  const stored = new Set(found.split("\n").flatMap((line) => (line.endsWith(" blob") ? [line.slice(0, -5)] : [])));
  const candidates = versions.filter(({ id }) => stored.has(id));
  if (candidates.length === 0) return [];
  const head =
    (await runGit(git, ["ls-tree", "-z", "--full-tree", "HEAD", "--", ...candidates.map(({ path }) => path)])) ?? "";
  const current = readVersions(head, / blob ([0-9a-f]+)\t([^\0]+)\0/g);
  return candidates.filter((version) => !current.has(toKey(version)));
}

/** Returns the ids that git gives the content of a file; with line ends of Windows, also that of the text without them. */
function listIds(file: string, algorithm: Algorithm): readonly string[] {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined) return [];
  const content = found.isSymbolicLink() ? Buffer.from(readlinkSync(file)) : readFileSync(file);
  const plain = Buffer.from(content.toString("latin1").replaceAll("\r\n", "\n"), "latin1");
  return [...new Set([content, plain].map((each) => hashBlob(each, algorithm)))];
}

function hashBlob(content: Buffer, algorithm: Algorithm): string {
  return createHash(algorithm).update(`blob ${content.length}\0`).update(content).digest("hex");
}

/** Returns the versions that a commit of a part of the history has brought. */
async function filterCommitted(
  git: GitFolder,
  versions: readonly FileVersion[],
  commits: readonly string[],
): Promise<readonly FileVersion[] | undefined> {
  if (versions.length === 0 || commits.length === 0) return [];
  const paths = [...new Set(versions.map(({ path }) => path))];
  const list = await runGit(git, ["rev-list", "--ignore-missing", "--full-history", ...commits, "--", ...paths]);
  if (list === undefined) return undefined;
  const args = [
    "diff-tree",
    "--stdin",
    "--root",
    "-r",
    "-m",
    "-z",
    "--raw",
    "--no-abbrev",
    "--no-renames",
    "--",
    ...paths,
  ];
  const changes = await runGit(git, args, list);
  if (changes === undefined) return undefined;
  const brought = readVersions(changes, CHANGE);
  return versions.filter((version) => brought.has(toKey(version)));
}

/** Reads ids and paths from a list of git. */
function readVersions(list: string, pattern: RegExp): ReadonlySet<string> {
  return new Set(Array.from(list.matchAll(pattern), ([, id = "", path = ""]) => toKey({ id, path })));
}

/** `:100644 100644 OLD NEW M`, and the path. */
const CHANGE = /:\d+ \d+ [0-9a-f]+ ([0-9a-f]+) [A-Z]\d*\0([^\0]+)\0/g;

/** The commits of the last fetch, which need not be on a branch. */
function readFetched({ dir }: GitFolder): readonly string[] {
  const file = join(dir, "FETCH_HEAD");
  return isRegularFile(file) ? (readFileSync(file, "utf8").match(/^[0-9a-f]{40,64}/gm) ?? []) : [];
}
