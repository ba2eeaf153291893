import { relative, sep } from "node:path";

import { openSkillProcesses, type SkillProcessPool } from "../providers/skills/index.ts";
import type { LogLevel } from "../model/skill.ts";

type SkillLogListener = (level: LogLevel, text: string) => void;

/** A skill under test. */
export interface SkillUser {
  /** Its file, or its folder. */
  readonly path: string;
  /** The names of the skills that were loaded from it. */
  readonly names: readonly string[];
  /** Receives its log, and lines that may be of any skill of the processes. */
  readonly log: SkillLogListener;
}

interface SharedProcesses {
  readonly pool: Promise<SkillProcessPool>;
  readonly users: Set<SkillUser>;
}

/** The processes in use, by the folder of their skills. */
const shared = new Map<string, SharedProcesses>();

/**
 * Opens the processes of skills in a folder, or those that other tests of the same folder use: starting them takes most of the time
 * of a small test. Returns `undefined` if another test uses the same file: it has a state of its own.
 */
export async function shareProcesses(folder: string, user: SkillUser): Promise<SkillProcessPool | undefined> {
  const earlier = shared.get(folder);
  if (earlier === undefined) {
    const users = new Set([user]);
    const log = (level: LogLevel, text: string, subject?: string): void => {
      for (const each of users) if (isAbout(each, folder, subject)) each.log(level, text);
    };
    const pool = openSkillProcesses(folder, { log });
    shared.set(folder, { pool, users });
    return pool;
  }
  if ([...earlier.users].some(({ path }) => path === user.path)) return undefined;
  earlier.users.add(user);
  return earlier.pool;
}

/** Closes the processes after their last user. */
export async function releaseProcesses(folder: string, user: SkillUser): Promise<void> {
  const processes = shared.get(folder);
  if (processes?.users.delete(user) !== true || processes.users.size > 0) return;
  shared.delete(folder);
  await (await processes.pool).close();
}

/** The subject is `Skill.method`, the file of a module, or unknown. */
function isAbout({ path, names }: SkillUser, folder: string, subject: string | undefined): boolean {
  if (subject === undefined) return true;
  const source = relative(folder, path).split(sep).join("/");
  return subject === source || subject.startsWith(`${source}/`) || names.includes(subject.split(".")[0] ?? "");
}
