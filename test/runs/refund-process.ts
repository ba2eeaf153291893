import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { onTestFinished } from "vitest";

const PROGRAM = fileURLToPath(new URL("../fixtures/runs/refunds.mjs", import.meta.url));

/** A line of the program of the fixture. */
export interface ProcessEvent {
  readonly event: "ready" | "approval" | "outcome" | "hangs";
  readonly id?: string;
  readonly runId?: string;
  readonly kind?: string;
  readonly value?: unknown;
  readonly text?: string;
}

export interface RefundProcess {
  /** Resolves to the next event of a kind. */
  next(event: ProcessEvent["event"]): Promise<ProcessEvent>;
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Resolves when the process has ended. */
  readonly exited: Promise<unknown>;
}

/** A folder with a store, and the log of the effects. */
export function createShop(): { readonly store: string; readonly log: string; readEffects(): readonly string[] } {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-runs-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const log = join(folder, "effects.log");
  return {
    store: join(folder, "store"),
    log,
    readEffects: () => (existsSync(log) ? readFileSync(log, "utf8").split("\n").slice(0, -1) : []),
  };
}

/** Starts a process on the store: one that runs a program, or one that continues runs. `launcher` is a command before it. */
export function startProcess(
  { store, log }: { readonly store: string; readonly log: string },
  [command, code = ""]: readonly ["run", string] | readonly ["follow"],
  env: Readonly<Record<string, string>> = {},
  launcher: readonly string[] = [],
): RefundProcess {
  const [program, ...args] = [...launcher, process.execPath, PROGRAM, store, log, command, code];
  const child = spawn(String(program), args, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const exited = once(child, "exit");
  const events: ProcessEvent[] = [];
  const waiting: { readonly event: string; readonly resolve: (event: ProcessEvent) => void }[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    const event = JSON.parse(line) as ProcessEvent;
    const at = waiting.findIndex((each) => each.event === event.event);
    if (at < 0) events.push(event);
    else waiting.splice(at, 1)[0]?.resolve(event);
  });
  return {
    next(kind) {
      const at = events.findIndex(({ event }) => event === kind);
      const [event] = at < 0 ? [] : events.splice(at, 1);
      return event === undefined
        ? new Promise((resolve) => waiting.push({ event: kind, resolve }))
        : Promise.resolve(event);
    },
    exited,
    async kill(signal) {
      child.kill(signal);
      await exited;
    },
  };
}
