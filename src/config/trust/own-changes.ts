import { execFile } from "node:child_process";
import { type Stats, existsSync, lstatSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { promisify } from "node:util";

import { PROJECT_FILES } from "./digest.ts";

/** Decides which changes of a project its owner has made, so that only those of others are held. */
export interface OwnChanges {
  /** The last change of HEAD, as a line of git's reflog; empty without git, or before the first commit. */
  readonly position: string;
  /**
   * Returns the changed parts that came from elsewhere since a position: by a pull, a merge or a checkout, or from another
   * user. Without git, these are also new parts, and files that decide what the project starts.
   */
  findForeign(changed: readonly string[], since: ChangesSince): Promise<readonly string[]>;
}

interface ChangesSince {
  /** The recorded position; `undefined` if none was recorded, so that each change counts. */
  readonly position: string | undefined;
  readonly isNew: (part: string) => boolean;
}

export function openOwnChanges(folder: string): OwnChanges {
  const git = findGit(folder);
  const lines = git === undefined ? [] : readReflog(git.dir);
  return {
    position: lines.at(-1) ?? "",
    async findForeign(changed, { position, isNew }) {
      if (position === undefined || changed.length === 0) return changed;
      const paths = git === undefined ? [] : await findBroughtPaths(git, lines, position);
      if (paths === undefined) return changed;
      const isBrought = (part: string): boolean =>
        paths.some((path) => isAtOrIn(path, toGitPath(part, folder, git?.top)));
      return changed.filter(
        (part) =>
          isBrought(part) ||
          !isOwnedByUser(resolve(folder, part)) ||
          (git === undefined && (isNew(part) || PROJECT_FILES.includes(part))),
      );
    },
  };
}

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

/** States of a merge that has no line yet. */
const UNFINISHED = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "SQUASH_MSG", "rebase-merge", "rebase-apply"];

/** Lists the paths that git has changed other than by a commit of the user; `undefined` if that is unknown. */
async function findBroughtPaths(
  { top, dir }: GitFolder,
  lines: readonly string[],
  position: string,
): Promise<readonly string[] | undefined> {
  const start = position === "" ? 0 : lines.indexOf(position) + 1;
  if ((position !== "" && start === 0) || UNFINISHED.some((name) => existsSync(join(dir, name)))) return undefined;
  const ranges = lines.slice(start).flatMap((line) => {
    const [, from = "", to = "", action = ""] = /^([0-9a-f]+) ([0-9a-f]+) [^\t]*\t?(.*)/.exec(line) ?? [];
    return /^commit(?: \((?:initial|amend)\))?:/.test(action) || from === to ? [] : [[from, to] as const];
  });
  const lists = await Promise.all(ranges.map((range) => listChanged(top, range)));
  return lists.includes(undefined) ? undefined : lists.flatMap((list) => list ?? []);
}

/** Lists the paths that differ between two commits; nothing of the repository's settings runs for that. */
async function listChanged(top: string, range: readonly [string, string]): Promise<readonly string[] | undefined> {
  const args = ["-C", top, "diff-tree", "-r", "-z", "--name-only", "--no-renames", ...range];
  const env = { ...process.env, GIT_NO_LAZY_FETCH: "1", GIT_ALLOW_PROTOCOL: "none" };
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

function isAtOrIn(path: string, part: string): boolean {
  return path === part || path.startsWith(`${part}/`);
}

/** True if only this user can have written a file, or everything in a folder. Links may lead anywhere. */
function isOwnedByUser(path: string): boolean {
  const [uid, gid] = [process.getuid?.(), process.getgid?.()];
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (facts === undefined || uid === undefined) return true; // it was deleted, or the system has no owners
  if (facts.isSymbolicLink() || facts.uid !== uid || (facts.mode & 0o002) !== 0) return false;
  if ((facts.mode & 0o020) !== 0 && facts.gid !== gid) return false;
  if (!facts.isDirectory()) return true;
  return readdirSync(realpathSync(path)).every((name) => isOwnedByUser(join(path, name)));
}
