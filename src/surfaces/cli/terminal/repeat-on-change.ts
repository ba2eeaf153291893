import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, watch } from "node:fs";
import { basename, dirname, relative, resolve } from "node:path";

import type { CliSession } from "../session.ts";
import type { CommandResult } from "./terminal.ts";

/** Editors write a file in several steps; changes within this time are one change. */
const SETTLE_MS = 100;

/**
 * Executes this command line without `--watch`, in a process of its own, now and after each change of the skills or of `file`.
 * A change while it is executed counts when it has ended. Ends by a signal only.
 */
export async function repeatOnChange({ folders, signal }: CliSession, file?: string): Promise<CommandResult> {
  const { skills } = await folders();
  const changes = new Changes();
  const stops = existsSync(skills) ? [changes.watch(skills, () => true)] : [];
  if (file !== undefined) stops.push(changes.watch(dirname(resolve(file)), (name) => name === basename(file)));
  try {
    for (;;) {
      await execute(signal);
      signal.throwIfAborted();
      process.stderr.write("\nWaiting for a change; Ctrl-C ends\n");
      process.stderr.write(`${await changes.next(signal)} has changed\n\n`);
    }
  } finally {
    for (const stop of stops) stop();
  }
}

async function execute(signal: AbortSignal): Promise<void> {
  const args = process.argv.slice(1).filter((word) => word !== "--watch");
  const child = spawn(process.execPath, [...process.execArgv, ...args], { stdio: "inherit" });
  const end = (): void => void child.kill("SIGTERM");
  signal.addEventListener("abort", end, { once: true });
  await once(child, "exit");
  signal.removeEventListener("abort", end);
}

/** The files that have changed since they were asked for. */
class Changes {
  #name: string | undefined;
  #wake = (): void => {};

  watch(folder: string, isMeant: (name: string) => boolean): () => void {
    const watcher = watch(folder, { recursive: true, persistent: false }, (_, name) => {
      if (name === null || !isMeant(name)) return;
      this.#name = relative(process.cwd(), resolve(folder, name));
      this.#wake();
    });
    watcher.on("error", () => {}); // the folder has gone
    return () => watcher.close();
  }

  /** Resolves to the name of a changed file. Rejects with the reason of the signal. */
  async next(signal: AbortSignal): Promise<string> {
    while (this.#name === undefined) {
      const alive = setInterval(() => {}, 60_000);
      await new Promise<void>((wake) => {
        this.#wake = wake;
        signal.addEventListener("abort", () => wake(), { once: true });
      });
      clearInterval(alive);
      signal.throwIfAborted();
    }
    await new Promise((settle) => setTimeout(settle, SETTLE_MS));
    const name = this.#name;
    this.#name = undefined;
    return name;
  }
}
