import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

import type { RuntimeOptions } from "../../options.ts";
import type { Runtime } from "../../runtime.ts";
import { approvalAtTerminal } from "./approval.ts";
import { PACKAGE_FOLDER } from "./package.ts";
import { personAtTerminal } from "./person.ts";
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
  readonly runtime: (use?: Use) => Promise<Runtime>;
  /** The same, when all its servers are connected or have failed. */
  readonly readyRuntime: (use?: Use) => Promise<Runtime>;
}

/** What a command wants of a runtime besides. */
export interface Use extends Pick<RuntimeOptions, "onlyServers"> {
  readonly mcp?: {
    /** Takes the person to a page on which they allow access to a server. */
    readonly authorize?: (request: { readonly server: string; readonly url: URL }) => void;
  };
}

export function openSession(flags: CommonFlags, { paint }: Terminal, signal: AbortSignal): Session {
  let opened: Runtime | undefined;

  async function runtime(use: Use = {}): Promise<Runtime> {
    opened ??= await unlessInterrupted(openRuntime(flags, signal, { ...BRIEF, ...use }), signal);
    return opened;
  }

  async function readyRuntime(use?: Use): Promise<Runtime> {
    const { ready } = await runtime(use);
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

/** What a command needs that ends soon. */
const BRIEF: RuntimeOptions = { workers: 1, lazy: true };

/** Loads the runtime only now: `--help` does without. */
async function openRuntime(
  { skills, settings, mcpConfig }: CommonFlags,
  signal: AbortSignal,
  how: RuntimeOptions,
): Promise<Runtime> {
  const { createRuntime } = await import("../../runtime.ts");
  const approve = approvalAtTerminal(signal);
  const person = personAtTerminal(signal);
  const options: RuntimeOptions = {
    discover: true,
    ...how,
    ...(settings !== undefined && { settings }),
    ...(mcpConfig !== undefined && { mcpConfig }),
    ...(approve !== undefined && { approve }),
    ...(person !== undefined && { person }),
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
