import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

import type { RuntimeOptions } from "../../options.ts";
import type { Runtime } from "../../runtime.ts";
import { approvalAtTerminal } from "./approval.ts";
import { logLine } from "./output.ts";
import { PACKAGE_FOLDER } from "./package.ts";
import type { Terminal } from "./terminal.ts";

/** The options that every command takes. */
export interface CommonFlags {
  readonly skills?: string;
  readonly settings?: string;
  readonly mcpConfig?: string;
  readonly verbose?: true;
}

/** What a command works with, from its start to its end. */
export interface Session extends AsyncDisposable {
  readonly flags: CommonFlags;
  readonly paint: Terminal["paint"];
  /** Fires when the command is interrupted. */
  readonly signal: AbortSignal;
  /** Opened when first asked for. Its servers may still be connecting. */
  readonly runtime: () => Promise<Runtime>;
  /** The same, when all its servers are connected or have failed. */
  readonly readyRuntime: () => Promise<Runtime>;
}

export function openSession(flags: CommonFlags, { paint }: Terminal, signal: AbortSignal): Session {
  let opened: Runtime | undefined;

  async function runtime(): Promise<Runtime> {
    opened ??= await unlessInterrupted(openRuntime(flags, { paint, signal }), signal);
    return opened;
  }

  async function readyRuntime(): Promise<Runtime> {
    const { ready } = await runtime();
    await unlessInterrupted(ready, signal);
    return runtime();
  }

  return {
    flags,
    paint,
    signal,
    runtime,
    readyRuntime,
    async [Symbol.asyncDispose]() {
      await opened?.close();
    },
  };
}

/** Loads the runtime only now: `--help` does without. */
async function openRuntime(flags: CommonFlags, { paint, signal }: Pick<Session, "paint" | "signal">): Promise<Runtime> {
  const { createRuntime } = await import("../../runtime.ts");
  const { skills, settings, mcpConfig, verbose } = flags;
  const approve = approvalAtTerminal(signal);
  const options: RuntimeOptions = {
    discover: true,
    workers: 1,
    lazy: true,
    ...(verbose && { log: (level, text, path) => process.stderr.write(logLine({ level, text, path }, paint.err)) }),
    ...(settings !== undefined && { settings }),
    ...(mcpConfig !== undefined && { mcpConfig }),
    ...(approve !== undefined && { approve }),
  };
  const folders = await usualFolders(options);
  return createRuntime({ ...options, ...folders, ...(skills !== undefined && { skillsDir: skills }) });
}

/**
 * The skills folder that the settings name; else `./skills`; where there is none, the skills that ship with Skillgate. The
 * store that the settings name; else the one of this project.
 */
async function usualFolders(options: RuntimeOptions): Promise<{ readonly skillsDir: string; readonly store: string }> {
  const [{ readOptions }, { stateFolder }] = await Promise.all([
    import("../../options.ts"),
    import("../../config/index.ts"),
  ]);
  const usual = resolve("skills");
  const { skillsDir = usual, store = stateFolder(resolve(".")) } = await readOptions(options);
  const shipped = skillsDir === usual && !existsSync(usual);
  return { skillsDir: shipped ? join(PACKAGE_FOLDER, "skills") : skillsDir, store };
}

async function unlessInterrupted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  const interrupted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
  return Promise.race([work, interrupted]);
}
