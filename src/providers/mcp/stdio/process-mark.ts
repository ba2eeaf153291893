import { readdirSync, readFileSync } from "node:fs";

import { getProcessIdentity, type ProcessIdentity } from "./process-identity.ts";

/** The environment variable by which the processes of a server are found, also those in sessions of their own. */
const MARK_VARIABLE = "SKILLGATE_SERVER";

let lastServer = 0;

/** Creates the value that marks one server of this process; `undefined` if the system has no /proc file system. */
export function createMark(): string | undefined {
  const self = getProcessIdentity(process.pid);
  return self && `${getMarkPrefix(self)}${++lastServer}`;
}

/** Returns the beginning of the marks of all servers that a process has started. */
export function getMarkPrefix({ pid, started }: ProcessIdentity): string {
  return `${pid}-${started}-`;
}

export function withMark(
  env: Readonly<Record<string, string>>,
  mark: string | undefined,
): Readonly<Record<string, string>> {
  return mark === undefined ? env : { ...env, [MARK_VARIABLE]: mark };
}

/** Lists the running processes with a mark, or with any mark that begins with a prefix ending in `-`. */
export function findMarkedProcesses(mark: string): readonly ProcessIdentity[] {
  const entry = `\0${MARK_VARIABLE}=${mark}${mark.endsWith("-") ? "" : "\0"}`;
  return listProcesses().filter(({ pid }) => pid !== process.pid && readEnvironment(pid).includes(entry));
}

/** Lists the running descendants of a process. One whose parent has ended is not found. */
export function findDescendants(ancestor: number): readonly ProcessIdentity[] {
  const processes = listProcesses();
  const found: ProcessIdentity[] = [];
  for (let parents = [ancestor]; parents.length > 0;) {
    const children = processes.filter(({ parent }) => parent !== undefined && parents.includes(parent));
    found.push(...children);
    parents = children.map(({ pid }) => pid);
  }
  return found;
}

/** Signals a process, unless another one has got its id; false if it has ended. */
export function signalProcess({ pid, started }: ProcessIdentity, signal: NodeJS.Signals | 0): boolean {
  try {
    const now = getProcessIdentity(pid);
    return now?.started === started && now.isZombie !== true && process.kill(pid, signal);
  } catch {
    return false; // it has ended, or belongs to another user
  }
}

/** Kills the processes with a mark at once. */
export function killMarkedProcesses(mark: string): void {
  for (const stray of findMarkedProcesses(mark)) signalProcess(stray, "SIGKILL");
}

function listProcesses(): readonly ProcessIdentity[] {
  return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (getProcessIdentity(Number(name)) ?? []) : []));
}

function readEnvironment(pid: number): string {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, "latin1")}`;
  } catch {
    return ""; // it has ended, or belongs to another user
  }
}
