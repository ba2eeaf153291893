import { type ChildProcessByStdio, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

import { IS_WINDOWS, killGroup } from "./kill-group.ts";
import { killOnExit } from "./kill-on-exit.ts";
import { windowsSpelling } from "./windows.ts";
import { waitAtMost } from "../../../shared/run-with-timeout.ts";

/** How long a server may take to exit after the end of its input, and again after SIGTERM. */
const GRACE_MS = 2_000;

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

/** A child process and its descendants: one group, stopped together. */
export interface ServerProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exited: Promise<ProcessExit>;
  /** Ends stdin, then terminates, then kills; settles when the group has no process left. */
  stop(): Promise<void>;
}

/** Starts a server in a process group of its own. Rejects with the system's error if the command cannot be started. */
export async function startProcess({ command, args, cwd, env }: ServerCommand): Promise<ServerProcess> {
  const child = spawnServer({ command, args, cwd, env });
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
    stop: () => (stopping ??= stopGroup(pid, child.stdin, exited).finally(release)),
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

/** Stops the whole group, even if its leader has exited by itself. */
async function stopGroup(pid: number, stdin: Writable, exited: Promise<ProcessExit>): Promise<void> {
  stdin.end();
  await waitAtMost(GRACE_MS, exited);
  if (killGroup(pid, "SIGTERM")) await waitForGroupEnd(GRACE_MS, pid);
  if (killGroup(pid, "SIGKILL")) await waitForGroupEnd(KILLED_MS, pid);
  await exited;
}

async function waitForGroupEnd(ms: number, group: number): Promise<void> {
  const deadline = Date.now() + ms;
  while (killGroup(group, 0) && Date.now() < deadline) await sleep(POLL_MS);
}
