import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

import type { Problem } from "../../model/provider.ts";
import type { RuntimeOptions } from "../../runtime/options.ts";
import type { Runtime } from "../../runtime.ts";
import { approvalAtTerminal } from "./terminal/approval.ts";
import { logLine } from "./text/output.ts";
import { PACKAGE_FOLDER } from "./package.ts";
import { createTerminalPrompter } from "./terminal/terminal-prompter.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { UsageError } from "./usage-error.ts";

/** The options that every command takes. */
export interface CommonFlags {
  readonly skills?: string;
  readonly settings?: string;
  readonly mcpConfig?: string;
  readonly verbose?: true;
}

/** What a command works with, from its start to its end. */
export interface CliSession extends AsyncDisposable {
  readonly flags: CommonFlags;
  readonly paint: Terminal["paint"];
  /** Fires when the command is interrupted. */
  readonly signal: AbortSignal;
  /** Opened when first asked for. Its servers may still be connecting. */
  readonly runtime: (use?: RuntimeNeeds) => Promise<Runtime>;
  /** The same, when of all its servers is known what they offer; those that are known from earlier need not run. */
  readonly readyRuntime: () => Promise<Runtime>;
  /** The same, when all its servers are connected or have failed. */
  readonly connectedRuntime: (use?: RuntimeNeeds) => Promise<Runtime>;
  /** One that serves for long: everything opens at once, and follows what changes. */
  readonly servingRuntime: () => Promise<Runtime>;
  /** A runtime of which nothing is left in the end: its skills remember nothing of it. */
  readonly ephemeralRuntime: () => Promise<Runtime>;
  readonly folders: () => Promise<SessionFolders>;
  /** What is wrong with the configuration that concerns the command, as far as it was read. */
  readonly problems: () => readonly Problem[];
  /** Adds to that what a command found out without a runtime. */
  readonly addProblems: (problems: readonly Problem[]) => void;
}

/** What a command wants of a runtime besides. */
export interface RuntimeNeeds extends Pick<RuntimeOptions, "onlyServers"> {
  readonly mcp?: {
    /** Takes the person to a page on which they allow access to a server. */
    readonly authorize?: (request: { readonly server: string; readonly url: URL }) => void;
  };
}

/** Where things are, or would be; absolute. */
export interface SessionFolders {
  /** The skills that are in use: those of the project, or those that ship. */
  readonly skills: string;
  /** They are not the project's own, or those that the command line names. */
  readonly isNamed: boolean;
  /** They are not used until the owner of the project trusts it. */
  readonly isHeld: boolean;
  /** Where the project's skills are, or would be. */
  readonly ownSkills: string;
  readonly store: string;
  readonly settingsFile: string;
}

export function openSession(flags: CommonFlags, terminal: Terminal, signal: AbortSignal): CliSession {
  const { paint } = terminal;
  let opened: Runtime | undefined;
  const ephemeral: Runtime[] = [];
  const found: Problem[] = [];
  let tellsHeld = false;

  async function runtime(use: RuntimeNeeds = {}): Promise<Runtime> {
    opened ??= await unlessInterrupted(openRuntime(flags, { terminal, signal }, { ...ONE_SHOT, ...use }), signal);
    return opened;
  }

  async function servingRuntime(): Promise<Runtime> {
    opened ??= await unlessInterrupted(openRuntime(flags, { terminal, signal }, SERVING), signal);
    return opened;
  }

  async function readyRuntime(): Promise<Runtime> {
    tellsHeld = true;
    const { known } = await runtime();
    await unlessInterrupted(known, signal);
    return runtime();
  }

  async function connectedRuntime(use?: RuntimeNeeds): Promise<Runtime> {
    tellsHeld = true;
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
    connectedRuntime,
    servingRuntime,
    async ephemeralRuntime() {
      const made = await unlessInterrupted(openRuntime(flags, { terminal, signal }, ONE_SHOT, "forget"), signal);
      ephemeral.push(made);
      await unlessInterrupted(made.known, signal);
      found.push(...made.problems);
      tellsHeld = true;
      return made;
    },
    folders: () => resolveFolders(flags),
    problems: () =>
      (opened?.problems ?? found).filter(({ isForAllRuns, isHeld }) => isForAllRuns || (isHeld && tellsHeld)),
    addProblems(problems) {
      found.push(...problems);
      tellsHeld = true;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([opened, ...ephemeral].map(async (each) => each?.close()));
    },
  };
}

/** What a command needs that ends soon. */
const ONE_SHOT: RuntimeOptions = { workers: 1, lazy: true };

const SERVING: RuntimeOptions = { watch: true };

/** Loads the runtime only now: `--help` does without. */
async function openRuntime(
  flags: CommonFlags,
  { terminal, signal }: { readonly terminal: Terminal; readonly signal: AbortSignal },
  how: RuntimeOptions,
  memory: "keep" | "forget" = "keep",
): Promise<Runtime> {
  if (flags.skills !== undefined && !existsSync(flags.skills))
    throw new UsageError(`Cannot read the skills in ${JSON.stringify(flags.skills)}: the folder does not exist`);
  const { createRuntime } = await import("../../runtime.ts");
  const { skills, store, isNamed } = await resolveFolders(flags);
  const approve = approvalAtTerminal(signal);
  const person = createTerminalPrompter(signal);
  const runtime = await createRuntime({
    ...getRuntimeOptions(flags),
    ...how,
    ...(isNamed && { skillsDir: skills }),
    ...(memory === "keep" && { store }),
    ...(flags.verbose && {
      log: (level, text, path) => process.stderr.write(logLine({ level, text, path }, terminal.paint.err)),
    }),
    ...(approve !== undefined && { approve }),
    ...(person !== undefined && { person }),
  });
  terminal.mask(runtime.secrets);
  return runtime;
}

/** What the flags say, without what can be worked out from it. */
function getRuntimeOptions({ settings, mcpConfig }: CommonFlags): RuntimeOptions {
  return {
    discover: true,
    trust: "recorded",
    ...(settings !== undefined && { settings }),
    ...(mcpConfig !== undefined && { mcpConfig }),
  };
}

/**
 * The skills folder that is asked for, else the one that the settings name, else `./skills`; where there is none, the
 * skills that ship with Skillgate. The store that the settings name, else the one of this project.
 */
async function resolveFolders(flags: CommonFlags): Promise<SessionFolders> {
  const [{ readOptions }, { getProjectStateDir }] = await Promise.all([
    import("../../runtime/options.ts"),
    import("../../config/index.ts"),
  ]);
  const usual = resolve("skills");
  const named = flags.skills === undefined ? {} : { skillsDir: flags.skills };
  const settings = await readOptions({ ...getRuntimeOptions(flags), ...named });
  const { skillsDir: ownSkills = usual, store = getProjectStateDir(resolve(".")) } = settings;
  const isShipped = flags.skills === undefined && ownSkills === usual && !existsSync(usual);
  return {
    isNamed: isShipped || flags.skills !== undefined,
    isHeld: settings.skillsDir === undefined && !isShipped,
    skills: isShipped ? join(PACKAGE_FOLDER, "skills") : ownSkills,
    ownSkills,
    store,
    settingsFile: resolve(flags.settings ?? "settings.yaml"),
  };
}

async function unlessInterrupted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  const interrupted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
  return Promise.race([work, interrupted]);
}
