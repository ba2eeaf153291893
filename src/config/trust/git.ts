import { execFile } from "node:child_process";
import { readFileSync, type Stats, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";

export interface GitFolder {
  readonly top: string;
  readonly dir: string;
}

/** Finds the user's repository around a folder; `.git` is a file in other worktrees. One of another user says nothing. */
export function findGit(folder: string): GitFolder | undefined {
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

/** Returns `undefined` for a missing file, also for a path below a file or a link in a circle, and for one that may not be read. */
export function findStats(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/**
 * Runs a command of git that runs nothing which the settings of the repository name: only plumbing. Returns its output;
 * `undefined` if it fails, or lasts too long.
 */
export async function runGit({ top }: GitFolder, args: readonly string[], input = ""): Promise<string | undefined> {
  // In a hook of git, variables name the repository of the hook.
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"));
  const env = { ...Object.fromEntries(own), GIT_NO_LAZY_FETCH: "1", GIT_ALLOW_PROTOCOL: "none" };
  const running = promisify(execFile)("git", ["-C", top, "--literal-pathspecs", ...args], {
    env,
    maxBuffer: 64 << 20,
    timeout: TIMEOUT_MS,
  });
  running.child.stdin?.on("error", () => {}); // git has ended before it has read its input
  running.child.stdin?.end(input);
  try {
    return (await running).stdout;
  } catch {
    return undefined; // git or one of the commits is missing
  }
}

/** A search of all branches of a large repository takes some seconds. */
const TIMEOUT_MS = 20_000;
