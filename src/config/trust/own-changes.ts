import { execFile } from "node:child_process";
import { type Stats, existsSync, lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";

import { PROJECT_FILES } from "./digest.ts";

/** Decides which changes of a project its owner has made, so that only those of others are held. */
export interface OwnChanges {
  /** The last change of HEAD, as a line of git's reflog; empty without git, or before the first commit. */
  readonly position: string;
  /**
   * Finds the changed parts that came from elsewhere since a position: by a pull, a merge or a checkout, or from another user.
   * Without git, these are also new parts, and files that decide what the project starts. Returns why, as in `changed by a pull`.
   */
  findForeign(changed: readonly string[], since: ChangesSince): Promise<ReadonlyMap<string, string>>;
}

interface ChangesSince {
  readonly position: string;
  readonly isNew: (part: string) => boolean;
}

export function openOwnChanges(folder: string): OwnChanges {
  const git = findGit(folder);
  const position = git === undefined ? "" : (readReflog(git.dir).at(-1) ?? "");
  let lastRead: { readonly state: string; readonly brought: Promise<BroughtPaths | undefined> } | undefined;
  /** The reflog is read after the files, so that it knows of every change that was read. */
  const findBrought = async (since: string): Promise<BroughtPaths | undefined> => {
    if (git === undefined) return new Map();
    await waitForGit(git.dir);
    const lines = readReflog(git.dir);
    const state = JSON.stringify([since, lines.at(-1), listUnfinished(git.dir)]);
    if (lastRead?.state !== state) lastRead = { state, brought: findBroughtPaths(git, lines, since) };
    return lastRead.brought;
  };
  return {
    position,
    async findForeign(changed, { position: since, isNew }) {
      const brought = changed.length === 0 ? new Map<string, string>() : await findBrought(since);
      const explain = (part: string): string | undefined => {
        if (brought === undefined) return CHANGED;
        const by = findBringer(toGitPath(part, folder, git?.top), brought);
        if (by !== undefined) return `changed by a ${by}`;
        if (!isOwnedByUser(folder, part)) return "can be written by others";
        if (git !== undefined) return undefined;
        return isNew(part) ? "is new" : PROJECT_FILES.includes(part) ? CHANGED : undefined;
      };
      const reasons = changed.map((part) => [part, explain(part)] as const);
      return new Map(reasons.filter((pair): pair is [string, string] => pair[1] !== undefined));
    },
  };
}

/** The reason for a part if it is unknown who has changed it. */
export const CHANGED = "has changed since this folder was trusted";

interface GitFolder {
  readonly top: string;
  readonly dir: string;
}

/** Finds the user's repository around a folder; `.git` is a file in other worktrees. One of another user says nothing. */
function findGit(folder: string): GitFolder | undefined {
  for (let top = folder; ; top = dirname(top)) {
    const path = join(top, ".git");
    const found = findStats(path);
    const facts = found?.uid === (process.getuid?.() ?? found?.uid) ? found : undefined;
    if (facts?.isDirectory() === true) return { top, dir: path };
    if (facts?.isFile() === true) {
      const [, target] = /^gitdir: (.+)/.exec(readFileSync(path, "utf8")) ?? [];
      return target === undefined ? undefined : { top, dir: resolve(top, target) };
    }
    if (dirname(top) === top) return undefined;
  }
}

/** Returns `undefined` also for a path below a file, and for one that may not be read. */
function findStats(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function readReflog(dir: string): readonly string[] {
  const file = join(dir, "logs", "HEAD");
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
}

/** A command that changes files writes its line into the reflog only when it has ended; until then the index is locked. */
async function waitForGit(dir: string): Promise<void> {
  for (let tries = 0; tries < MAX_LOCK_TRIES && existsSync(join(dir, LOCK)); tries++) await wait(LOCK_MS);
}

const LOCK = "index.lock";
const LOCK_MS = 50;
const MAX_LOCK_TRIES = 40;

/** States of a merge that has no line yet. */
const UNFINISHED = [
  LOCK,
  "MERGE_HEAD",
  "CHERRY_PICK_HEAD",
  "REVERT_HEAD",
  "SQUASH_MSG",
  "rebase-merge",
  "rebase-apply",
];

function listUnfinished(dir: string): readonly string[] {
  return UNFINISHED.filter((name) => existsSync(join(dir, name)));
}

/** The commands that have changed paths, other than commits of the user: `pull`. */
type BroughtPaths = ReadonlyMap<string, string>;

/** The most ranges of commits that are compared: each one starts git. */
const MAX_RANGES = 100;

/** Returns `undefined` if it is unknown what git has changed. */
async function findBroughtPaths(
  { top, dir }: GitFolder,
  lines: readonly string[],
  position: string,
): Promise<BroughtPaths | undefined> {
  const start = position === "" ? 0 : lines.indexOf(position) + 1;
  if ((position !== "" && start === 0) || listUnfinished(dir).length > 0) return undefined;
  const ranges = lines.slice(start).flatMap((line) => {
    const [, from = "", to = "", action = ""] = /^([0-9a-f]+) ([0-9a-f]+) [^\t]*\t?(.*)/.exec(line) ?? [];
    if (/^commit(?: \((?:initial|amend)\))?:/.test(action) || from === to) return [];
    const [by = "change by git"] = /^(?:pull|merge|checkout|rebase|reset|cherry-pick|revert)/.exec(action) ?? [];
    return [{ from, to, by }];
  });
  if (ranges.length > MAX_RANGES) return undefined;
  const lists = await Promise.all(ranges.map(({ from, to }) => listChanged(top, from, to)));
  if (lists.includes(undefined)) return undefined;
  return new Map(ranges.flatMap(({ by }, at) => (lists[at] ?? []).map((path) => [path, by] as const)));
}

/** Lists the paths that differ between two commits; nothing of the repository's settings runs for that. */
async function listChanged(top: string, from: string, to: string): Promise<readonly string[] | undefined> {
  const args = ["-C", top, "diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to];
  // In a hook of git, variables name the repository of the hook.
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"));
  const env = { ...Object.fromEntries(own), GIT_NO_LAZY_FETCH: "1", GIT_ALLOW_PROTOCOL: "none" };
  try {
    const { stdout } = await promisify(execFile)("git", args, { env, maxBuffer: 64 << 20 });
    return stdout.split("\0").filter(Boolean);
  } catch {
    return undefined; // git or one of the commits is missing
  }
}

function toGitPath(part: string, folder: string, top: string | undefined): string {
  return relative(top ?? folder, resolve(folder, part))
    .split(sep)
    .join("/");
}

/** A link or a submodule that was changed brings all paths in it. */
function findBringer(path: string, brought: BroughtPaths): string | undefined {
  const names = path.split("/");
  const paths = names.map((_, at) => names.slice(0, names.length - at).join("/"));
  return paths.map((each) => brought.get(each)).find((by) => by !== undefined);
}

/** True if only this user, or root, can have written a file. Links may lead anywhere. */
function isOwnedByUser(folder: string, part: string): boolean {
  const path = resolve(folder, part);
  const [uid, gid] = [process.getuid?.(), process.getgid?.()];
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (facts === undefined || uid === undefined) return true; // it was deleted, or the system has no owners
  if (realpathSync(path) !== path || ![uid, 0].includes(facts.uid) || (facts.mode & 0o002) !== 0) return false;
  return (facts.mode & 0o020) === 0 || facts.gid === gid;
}
