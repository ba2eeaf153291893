import { type ChildProcessByStdio, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

import { waitAtMost } from "../../../shared/run-with-timeout.ts";
import { IS_WINDOWS, killGroup } from "./kill-group.ts";
import { getProcessIdentity, type ProcessIdentity } from "./process-identity.ts";
import {
  createMark,
  findDescendants,
  findMarkedProcesses,
  getMarkPrefix,
  killMarkedProcesses,
  signalProcess,
  withMark,
} from "./process-mark.ts";
import { openProcessRegistry, type ProcessRegistry } from "./process-registry.ts";
import { windowsSpelling } from "./windows.ts";

/**
 * How long a server may take to exit after the end of its input, and again after SIGTERM. Clients that start Skillgate
 * kill it 4 s after the end of its input; its servers have to be stopped before that.
 */
const GRACE_MS = 1_000;

/** How long to wait for the system to remove killed processes. */
const KILLED_MS = 500;

/** Interval at which a process group is checked. */
const POLL_MS = 20;

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** How a process ended: by itself with a code, or by a signal. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A child process and its descendants, stopped together: its group, and on Linux those in sessions of their own. */
export interface ServerProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exited: Promise<ProcessExit>;
  /** Ends stdin, then terminates, then kills; settles when no process is left. */
  stop(): Promise<void>;
}

/** Starts a server in a process group of its own. Rejects with the system's error if the command cannot be started. */
export async function startProcess({ command, args, cwd, env }: ServerCommand): Promise<ServerProcess> {
  const mark = createMark();
  const child = spawnServer({ command, args, cwd, env: withMark(env, mark) });
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  const pid = await waitForStart(child);
  const release = killOnExit(pid);
  let stopping: Promise<void> | undefined;
  return {
    pid,
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited,
    stop: () => (stopping ??= stopServer({ pid, mark, exited }, child.stdin).finally(release)),
  };
}

function spawnServer({ command, args, cwd, env }: ServerCommand): ChildProcessByStdio<Writable, Readable, Readable> {
  const options = { cwd, env, stdio: "pipe", windowsHide: true } as const;
  if (!IS_WINDOWS) return spawn(command, [...args], { ...options, detached: true });
  const spelling = windowsSpelling(command, args, { cwd, env, exists: existsSync });
  // On Windows, a separate group would open a window.
  return spawn(spelling.command, [...spelling.args], { ...options, windowsVerbatimArguments: spelling.isVerbatim });
}

function waitForStart(child: ChildProcessByStdio<Writable, Readable, Readable>): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("spawn", () => {
      if (child.pid === undefined) reject(new Error("the process has no id"));
      else resolve(child.pid);
    });
  });
}

interface MarkedProcess {
  readonly pid: number;
  readonly mark: string | undefined;
  readonly exited: Promise<ProcessExit>;
}

/** Stops all processes, even if the first one has exited by itself. */
async function stopServer({ pid, mark, exited }: MarkedProcess, stdin: Writable): Promise<void> {
  // A process that clears its environment is found only while its parent runs.
  const descendants = mark === undefined ? [] : findDescendants(pid);
  stdin.end();
  await waitAtMost(GRACE_MS, exited);
  const marked = mark === undefined ? [] : findMarkedProcesses(mark);
  const processes = { group: pid, strays: [...descendants, ...marked] };
  if (signalAll(processes, "SIGTERM")) await waitForEnd(GRACE_MS, processes);
  if (signalAll(processes, "SIGKILL")) await waitForEnd(KILLED_MS, processes);
  await exited;
}

interface ServerProcesses {
  readonly group: number;
  readonly strays: readonly ProcessIdentity[];
}

/** Sends a signal to all processes, or checks them with 0; false if none is left. */
function signalAll({ group, strays }: ServerProcesses, signal: NodeJS.Signals | 0): boolean {
  const isGroupLeft = killGroup(group, signal);
  return strays.filter((stray) => signalProcess(stray, signal)).length > 0 || isGroupLeft;
}

async function waitForEnd(ms: number, processes: ServerProcesses): Promise<void> {
  const deadline = Date.now() + ms;
  while (signalAll(processes, 0) && Date.now() < deadline) await sleep(POLL_MS);
}

/** Process groups that must not outlive this process, with the identities of their leaders. */
const groups = new Map<number, ProcessIdentity | undefined>();
let registry: ProcessRegistry | undefined;

/**
 * Kills a group when this process exits, unless it was released before. `kill -9` leaves no time for that, so the groups
 * are also recorded in a file, and the next process kills them.
 */
function killOnExit(group: number): () => void {
  if (groups.size === 0) process.on("exit", killAll);
  groups.set(group, getProcessIdentity(group));
  saveRegistry();
  return () => {
    groups.delete(group);
    saveRegistry();
    if (groups.size === 0) process.off("exit", killAll);
  };
}

function killAll(): void {
  for (const group of groups.keys()) killGroup(group, "SIGKILL");
  groups.clear();
  const self = getProcessIdentity(process.pid);
  if (self !== undefined) killMarkedProcesses(getMarkPrefix(self));
  saveRegistry();
}

function saveRegistry(): void {
  registry ??= openProcessRegistry();
  registry?.write([...groups.values()].filter((leader) => leader !== undefined));
}
