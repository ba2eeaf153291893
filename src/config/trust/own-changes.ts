import { existsSync, lstatSync, readFileSync, realpathSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { isRegularFile } from "../../shared/files/regular-file.ts";
import { PROJECT_FILES } from "./digest.ts";
import { findGit, type GitFolder, runGit } from "./git.ts";
import { findCommitted, findRestored } from "./restored-files.ts";

/** Decides which changes of a project its owner has made, so that only those of others are held. */
export interface OwnChanges {
  /** The last change of HEAD, as a line of git's reflog; empty without git, or before the first commit. */
  readonly position: string;
  /**
   * Finds the changed parts that came from elsewhere since a position: by a pull, a merge or a checkout, also of a single file, or
   * from another user.
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
  let lastRead: { readonly state: string; readonly moves: Promise<HeadMoves | undefined> } | undefined;
  /** The reflog is read after the files, so that it knows of every change that was read. */
  const findMoves = async (repository: GitFolder, since: string): Promise<HeadMoves | undefined> => {
    await waitForGit(repository.dir);
    const lines = readReflog(repository.dir);
    const state = JSON.stringify([since, lines.at(-1), listUnfinished(repository.dir)]);
    if (lastRead?.state !== state) lastRead = { state, moves: findHeadMoves(repository, lines, since) };
    return lastRead.moves;
  };
  const found = new Map<string, boolean>();
  /** Returns why git has brought each path, in words for its owner; `undefined` if it is unknown. */
  const explainGit = async (paths: readonly string[], since: string): Promise<ExplainPath | undefined> => {
    if (git === undefined || paths.length === 0) return () => undefined;
    const moves = await findMoves(git, since);
    const restored = moves && (await findRestored(git, paths, { own: moves.own, found }));
    if (moves === undefined || restored === undefined) return undefined;
    const brought = paths.filter((path) => findBringer(path, moves.brought) !== undefined);
    const committed = await findCommitted(git, brought, moves.written);
    return (path) => {
      const by = findBringer(path, moves.brought);
      if (by !== undefined && !committed.has(path)) return `changed by a ${by}`;
      return restored.has(path) ? "comes from another branch" : undefined;
    };
  };
  return {
    position,
    async findForeign(changed, { position: since, isNew }) {
      const toPath = (part: string): string => toGitPath(part, folder, git?.top);
      const whyBrought = await explainGit(changed.map(toPath), since);
      const explain = (part: string): string | undefined => {
        if (whyBrought === undefined) return CHANGED;
        const why = whyBrought(toPath(part));
        if (why !== undefined) return why;
        if (!isOwnedByUser(folder, part)) return "can be written by others";
        if (git !== undefined) return undefined;
        return isNew(part) ? "is new" : PROJECT_FILES.includes(part) ? CHANGED : undefined;
      };
      const reasons = changed.map((part) => [part, explain(part)] as const);
      return new Map(reasons.filter((pair): pair is [string, string] => pair[1] !== undefined));
    },
  };
}

type ExplainPath = (path: string) => string | undefined;

/** The reason for a part if it is unknown who has changed it. */
export const CHANGED = "has changed since this folder was trusted";

function readReflog(dir: string): readonly string[] {
  const file = join(dir, "logs", "HEAD");
  return isRegularFile(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
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

/** The moves of HEAD since a position. */
interface HeadMoves {
  /** The commands that have changed paths, other than commits of the user: `pull`. */
  readonly brought: ReadonlyMap<string, string>;
  /** HEAD at the position, and the commits of the user since then. */
  readonly own: readonly string[];
  /** The new commits of the user among these. An amended one may be the commit of another user. */
  readonly written: readonly string[];
}

/** The most ranges of commits that are compared: each one starts git. */
const MAX_RANGES = 100;

/** Returns `undefined` if it is unknown what git has changed. */
async function findHeadMoves(
  git: GitFolder,
  lines: readonly string[],
  position: string,
): Promise<HeadMoves | undefined> {
  const start = position === "" ? 0 : lines.indexOf(position) + 1;
  if ((position !== "" && start === 0) || listUnfinished(git.dir).length > 0) return undefined;
  const moves = lines.slice(start).map(parseMove);
  const ranges = moves.filter(({ isOwn, from, to }) => !isOwn && from !== to);
  if (ranges.length > MAX_RANGES) return undefined;
  const lists = await Promise.all(ranges.map(({ from, to }) => listChanged(git, from, to)));
  if (lists.includes(undefined)) return undefined;
  return {
    brought: new Map(ranges.flatMap(({ by }, at) => (lists[at] ?? []).map((path) => [path, by] as const))),
    own: [...(position === "" ? [] : [parseMove(position)]), ...moves.filter(({ isOwn }) => isOwn)].map(({ to }) => to),
    written: moves.filter(({ isWritten }) => isWritten).map(({ to }) => to),
  };
}

interface HeadMove {
  readonly from: string;
  readonly to: string;
  /** The command: `pull`. */
  readonly by: string;
  /** True for a commit of the user. */
  readonly isOwn: boolean;
  /** True for one that amends no other. */
  readonly isWritten: boolean;
}

/** Parses a line of the reflog. */
function parseMove(line: string): HeadMove {
  const [, from = "", to = "", action = ""] = /^([0-9a-f]+) ([0-9a-f]+) [^\t]*\t?(.*)/.exec(line) ?? [];
  const [by = "change by git"] = /^(?:pull|merge|checkout|rebase|reset|cherry-pick|revert)/.exec(action) ?? [];
  const isWritten = /^commit(?: \(initial\))?:/.test(action);
  return { from, to, by, isWritten, isOwn: isWritten || action.startsWith("commit (amend):") };
}

/** Lists the paths that differ between two commits. */
async function listChanged(git: GitFolder, from: string, to: string): Promise<readonly string[] | undefined> {
  const changes = await runGit(git, ["diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to]);
  return changes?.split("\0").filter(Boolean);
}

function toGitPath(part: string, folder: string, top: string | undefined): string {
  return relative(top ?? folder, resolve(folder, part))
    .split(sep)
    .join("/");
}

/** A link or a submodule that was changed brings all paths in it. */
function findBringer(path: string, brought: HeadMoves["brought"]): string | undefined {
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
