import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

import type { RuntimeOptions } from "../../options.ts";
import type { Runtime } from "../../runtime.ts";
import { approvalAtTerminal } from "./approval.ts";
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
  /** One that serves for long: everything opens at once, and follows what changes. */
  readonly servingRuntime: () => Promise<Runtime>;
}

export function openSession(flags: CommonFlags, { paint }: Terminal, signal: AbortSignal): Session {
  let opened: Runtime | undefined;

  async function runtime(): Promise<Runtime> {
    opened ??= await unlessInterrupted(openRuntime(flags, signal), signal);
    return opened;
  }

  async function servingRuntime(): Promise<Runtime> {
    opened ??= await unlessInterrupted(openRuntime(flags, signal, SERVING), signal);
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
    servingRuntime,
    async [Symbol.asyncDispose]() {
      await opened?.close();
    },
  };
}

/** What a command needs that ends soon. */
const BRIEF: RuntimeOptions = { workers: 1, lazy: true };

const SERVING: RuntimeOptions = { watch: true };

/** Loads the runtime only now: `--help` does without. */
async function openRuntime(
  { skills, settings, mcpConfig }: CommonFlags,
  signal: AbortSignal,
  how: RuntimeOptions = BRIEF,
): Promise<Runtime> {
  const { createRuntime } = await import("../../runtime.ts");
  const approve = approvalAtTerminal(signal);
  const options: RuntimeOptions = {
    discover: true,
    ...how,
    ...(settings !== undefined && { settings }),
    ...(mcpConfig !== undefined && { mcpConfig }),
    ...(approve !== undefined && { approve }),
  };
  return createRuntime({ ...options, skillsDir: skills ?? (await defaultSkillsDir(options)) });
}

/** The folder that the settings name; else `./skills`; where there is none, the skills that ship with Skillgate. */
async function defaultSkillsDir(options: RuntimeOptions): Promise<string> {
  const { readOptions } = await import("../../options.ts");
  const usual = resolve("skills");
  const { skillsDir = usual } = await readOptions(options);
  return skillsDir === usual && !existsSync(usual) ? join(PACKAGE_FOLDER, "skills") : skillsDir;
}

async function unlessInterrupted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  const interrupted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
  return Promise.race([work, interrupted]);
}
