import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { resolve } from "node:path";

import { getMessage } from "../../../errors.ts";
import { foldersToWatch, watchFolders } from "../../../shared/files/watch-folders.ts";
import { watchFile } from "../../../shared/watch-file.ts";
import type { CommandResult } from "../command.ts";
import type { CliSession } from "../session.ts";

/**
 * Executes this command line without `--watch`, in a process of its own, now and after each change of the skills or of `file`.
 * A change while it is executed counts when it has ended. Ends by a signal only.
 */
export async function repeatOnChange({ folders, signal }: CliSession, file?: string): Promise<CommandResult> {
  const { skills } = await folders();
  const changes = new EventEmitter();
  const files = new Set<string>();
  const note = (what: string): void => {
    files.add(what);
    changes.emit("change");
  };
  const skillWatch = watchFolders(() => note("the skills folder"), warn);
  const stopFile = file === undefined ? () => {} : watchFile(resolve(file), () => note(file), warn);
  const alive = setInterval(() => {}, 60_000); // watchers let the process end
  try {
    for (;;) {
      skillWatch.follow(await foldersToWatch(skills, []));
      files.clear();
      await execute(signal);
      process.stderr.write("\nWaiting for a change; Ctrl-C ends\n");
      while (files.size === 0) {
        signal.throwIfAborted();
        await once(changes, "change", { signal }).catch(() => {}); // a signal, whose reason is thrown instead
      }
      process.stderr.write(`Changed: ${[...files].join(", ")}\n\n`);
    }
  } finally {
    clearInterval(alive);
    skillWatch.close();
    stopFile();
  }
}

function warn(error: unknown): void {
  process.stderr.write(`Cannot watch for changes: ${getMessage(error)}\n`);
}

async function execute(signal: AbortSignal): Promise<void> {
  const args = process.argv.slice(1).filter((word) => word !== "--watch");
  const child = spawn(process.execPath, [...process.execArgv, ...args], { stdio: "inherit" });
  const end = (): void => void child.kill("SIGTERM");
  signal.addEventListener("abort", end, { once: true });
  await once(child, "exit");
  signal.removeEventListener("abort", end);
  signal.throwIfAborted();
}
