import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

import type { Problem } from "../../model/provider.ts";
import type { Approve } from "../../model/approval.ts";
import type { LogListener, RuntimeOptions } from "../../runtime/options.ts";
import type { ParsedExecutorSettings, ParsedNodeSettings } from "../../runtime/settings/index.ts";
import type { Runtime } from "../../runtime.ts";
import type { Database, LazyDatabase, Retention, StoreLocation } from "../../store/index.ts";
import { limitMemory } from "./commands/limit-memory.ts";
import { waitForServers } from "./commands/wait-for-servers.ts";
import { filterProblems } from "./operations/operation.ts";
import { createTelemetry, type CliTelemetry } from "./telemetry.ts";
import { logLine } from "./text/output.ts";
import { createTerminalApprove } from "./terminal/approve-at-terminal.ts";
import { PACKAGE_FOLDER } from "./package.ts";
import { type Interruption, unlessInterrupted } from "./terminal/interruption.ts";
import { createTerminalPrompter } from "./terminal/terminal-prompter.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { findExportSecrets } from "../../telemetry/index.ts";
import { UsageError } from "./usage-error.ts";
import { askLine, isAtTerminal } from "./terminal/ask-line.ts";

/** The options that every command takes. */
export interface CommonFlags {
  readonly skills?: string;
  readonly settings?: string;
  readonly mcpConfig?: string;
  readonly verbose?: true;
  readonly json?: true;
  readonly inspectSkills?: true;
  readonly debug?: true;
}

/** The services that a command uses; they live as long as the command. */
export interface CliSession extends AsyncDisposable {
  readonly flags: CommonFlags;
  readonly paint: Terminal["paint"];
  /** Writes text at once, before the result of the command. */
  readonly write: Terminal["write"];
  /** Asks the user at the terminal to approve calls; `undefined` without a terminal. */
  readonly approve: Approve | undefined;
  /** Fires when the command is interrupted. */
  readonly signal: AbortSignal;
  /** Calls `stop` at Ctrl-C. The command continues if it returns true, because there was work to stop. */
  readonly intercept: Interruption["intercept"];
  /** Says that the command has finished its work after an interruption: its own exit code counts. */
  readonly finish: Interruption["finish"];
  /** Opens on the first call. Its servers may still be connecting. */
  readonly runtime: (use?: RuntimeNeeds) => Promise<Runtime>;
  /** The same runtime, once the tools of all its servers are known; a server with cached tools need not run. */
  readonly readyRuntime: () => Promise<Runtime>;
  /** The same runtime, for a command that only shows something: a server that does not answer within 5 s is a problem. */
  readonly shownRuntime: () => Promise<Runtime>;
  /** The same runtime, once its skills are loaded and its servers have begun to connect. */
  readonly openedRuntime: () => Promise<Runtime>;
  /** The same runtime, once each of its servers is connected or has failed. */
  readonly connectedRuntime: (use?: RuntimeNeeds) => Promise<Runtime>;
  /** Opens the runtime again, with its files and servers as they are now. If that fails, the old one stays. */
  readonly reload: () => Promise<Runtime>;
  /** A runtime for `serve`: it opens everything at once and watches for changes. */
  readonly servingRuntime: (options: ServingOptions) => Promise<Runtime>;
  /** The section `nodes` of the settings, with some settings replaced, and what is wrong in it. */
  readonly nodeSettings: (changes: Readonly<Record<string, unknown>>) => Promise<ParsedNodeSettings>;
  /** The same for the section `executors`. */
  readonly executorSettings: (changes: Readonly<Record<string, unknown>>) => Promise<ParsedExecutorSettings>;
  /** The export of traces and metrics, which starts with the first runtime. */
  readonly telemetry: CliTelemetry;
  /** A runtime without the project's store: nothing that its skills store is kept. */
  readonly ephemeralRuntime: () => Promise<Runtime>;
  readonly folders: () => Promise<SessionFolders>;
  /** Opens the project's database of keys, approvals and the audit log, without a runtime. */
  readonly database: () => Promise<Database>;
  /** The problems of the configuration that concern the command, as far as it was read. */
  readonly problems: () => readonly Problem[];
  /** Adds problems that a command found without a runtime. */
  readonly addProblems: (problems: readonly Problem[]) => void;
}

/** The options of a runtime that serves. */
export interface ServingOptions extends Pick<RuntimeOptions, "nodes" | "executors"> {
  readonly log: LogListener;
}

/** The options that a command adds for its runtime. */
export interface RuntimeNeeds extends Pick<RuntimeOptions, "onlyServers" | "approvals" | "approve" | "deferSkills"> {
  readonly mcp?: {
    /** Takes the user to the page on which they allow access to a server. */
    readonly authorize?: (request: { readonly server: string; readonly url: URL }) => void;
  };
}

/** The absolute paths of a project's folders and files, whether they exist or not. */
export interface SessionFolders {
  /** The skills in use: the project's own, or the bundled ones. */
  readonly skills: string;
  /** True for the bundled skills, and for a folder that the command line names. */
  readonly isNamed: boolean;
  /** True if the skills are used only after the user trusts the project. */
  readonly isHeld: boolean;
  /** The project's own skills folder; it may not exist. */
  readonly ownSkills: string;
  readonly store: string;
  readonly database: StoreLocation;
  /** The setting `audit`; `undefined` if it is not set. */
  readonly audit: RuntimeOptions["audit"] | undefined;
  /** How long records of the database are kept. */
  readonly retention: Partial<Retention>;
  readonly settingsFile: string;
  /** The section `server` of the settings as it was written. */
  readonly server: unknown;
}

export function openSession(
  flags: CommonFlags,
  terminal: Terminal,
  { signal, intercept, finish }: Interruption,
): CliSession {
  const approve = isAtTerminal() ? createTerminalApprove(askLine, signal) : undefined;
  const telemetry = createTelemetry();
  const open = createOpener(flags, { terminal, signal, approve }, telemetry);
  let opened: Runtime | undefined;
  const ephemeral: Runtime[] = [];
  const found: Problem[] = [];
  const silent: Problem[] = [];
  let reportsHeld = false;
  let data: LazyDatabase | undefined;

  async function runtime(use: RuntimeNeeds = {}): Promise<Runtime> {
    opened ??= await open({ ...ONE_SHOT, ...use });
    return opened;
  }

  async function runtimeWhen(getState: (runtime: Runtime) => Promise<void>, use?: RuntimeNeeds): Promise<Runtime> {
    reportsHeld = true;
    await unlessInterrupted(getState(await runtime(use)), signal);
    return runtime();
  }
  return {
    flags,
    paint: terminal.paint,
    write: terminal.write,
    approve,
    signal,
    intercept,
    finish,
    runtime,
    readyRuntime: () => runtimeWhen((runtime) => runtime.known),
    shownRuntime: () =>
      runtimeWhen(async (runtime) => void silent.push(...(await waitForServers(runtime))), { deferSkills: true }),
    openedRuntime: () => runtimeWhen((runtime) => runtime.opened),
    connectedRuntime: (use) => runtimeWhen((runtime) => runtime.ready, use),
    async reload() {
      const fresh = await open(ONE_SHOT);
      await opened?.close();
      opened = fresh;
      return runtimeWhen((runtime) => runtime.known);
    },
    servingRuntime: async (options) => (opened ??= await openServing(flags, options, open)),
    ...createSettingsReaders(flags),
    telemetry,
    async ephemeralRuntime() {
      const created = await open(ONE_SHOT, "forget");
      ephemeral.push(created);
      await whenKnown(created, signal);
      found.push(...created.problems);
      reportsHeld = true;
      return created;
    },
    async database() {
      const lazy = await createSessionDatabase(flags, (problem) => found.push(problem));
      return (data ??= lazy).open();
    },
    problems: () => filterProblems([...telemetry.problems(), ...(opened?.problems ?? found), ...silent], reportsHeld),
    addProblems(problems) {
      found.push(...problems);
      reportsHeld = true;
    },
    async [Symbol.asyncDispose]() {
      await closeAll([opened, data, ...ephemeral]);
      await telemetry.close();
    },
  };
}

type OpenRuntime = (options: RuntimeOptions, memory?: "forget") => Promise<Runtime>;

function createOpener(flags: CommonFlags, parts: RuntimeSurroundings, telemetry: CliTelemetry): OpenRuntime {
  return async (options, memory) => {
    await telemetry.start();
    return unlessInterrupted(openRuntime(flags, parts, options, memory), parts.signal);
  };
}

function createSettingsReaders(flags: CommonFlags): Pick<CliSession, "folders" | "nodeSettings" | "executorSettings"> {
  return {
    folders: () => resolveFolders(flags),
    nodeSettings: (changes) => readNodeSettings(flags, changes),
    executorSettings: (changes) => readExecutorSettings(flags, changes),
  };
}

async function openServing(flags: CommonFlags, options: ServingOptions, open: OpenRuntime): Promise<Runtime> {
  const { audit = "store" } = await resolveFolders(flags);
  const runtime = await open({ ...SERVING, audit, ...options });
  limitMemory(runtime);
  runtime.runs.follow().catch(() => {}); // the store cannot be opened, which is reported as a problem
  return runtime;
}

async function closeAll(services: readonly (Runtime | LazyDatabase | undefined)[]): Promise<void> {
  await Promise.all(services.map(async (each) => each?.close()));
}

async function createSessionDatabase(flags: CommonFlags, report: (problem: Problem) => void): Promise<LazyDatabase> {
  const { createLazyDatabase } = await import("../../store/index.ts");
  const { database } = await resolveFolders(flags);
  return createLazyDatabase(database, {
    warn: (error) => report({ source: "store", error, isForAllRuns: true }),
  });
}

/** The options for a command that ends soon. */
const ONE_SHOT: RuntimeOptions = { workers: 1, lazy: true };

const SERVING: RuntimeOptions = { watch: true, approvals: { wait: true } };

interface RuntimeSurroundings {
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  readonly approve: Approve | undefined;
}

/** Imports the runtime only here, so that `--help` does not load it. */
async function openRuntime(
  flags: CommonFlags,
  { terminal, signal, approve }: RuntimeSurroundings,
  how: RuntimeOptions,
  memory: "keep" | "forget" = "keep",
): Promise<Runtime> {
  if (flags.skills !== undefined && !existsSync(flags.skills))
    throw new UsageError(`Cannot read the skills in ${JSON.stringify(flags.skills)}: the folder does not exist`);
  const { createRuntime } = await import("../../runtime.ts");
  const { skills, store, isNamed } = await resolveFolders(flags);
  const person = createTerminalPrompter(signal);
  const runtime = await createRuntime({
    ...getRuntimeOptions(flags),
    ...(flags.verbose && {
      log: (level, text, path) => process.stderr.write(logLine({ level, text, path }, terminal.paint.err)),
    }),
    ...(flags.inspectSkills && { inspectSkills: createInspector(how, terminal) }),
    ...(approve !== undefined && { approve }),
    ...how,
    ...(isNamed && { skillsDir: skills }),
    ...(memory === "keep" ? { store } : { audit: "off" }),
    ...(person !== undefined && { person }),
  });
  runtime.secrets.add(findExportSecrets(process.env));
  terminal.mask(runtime.secrets);
  return runtime;
}

/** Prints where a debugger can attach. A command that ends soon waits for it; a server does not. */
function createInspector({ lazy }: RuntimeOptions, { write }: Terminal): NonNullable<RuntimeOptions["inspectSkills"]> {
  const wait = lazy === true;
  const text = wait ? "The skills wait for a debugger at" : "A debugger can attach to the skills at";
  return { wait, onListening: (url) => write("err", `${text} ${url}\n`) };
}

/** The options that the flags state, without the defaults derived from them. */
export function getRuntimeOptions({ settings, mcpConfig }: CommonFlags): RuntimeOptions {
  return {
    discover: true,
    trust: "recorded",
    ...(settings !== undefined && { settings }),
    ...(mcpConfig !== undefined && { mcpConfig }),
  };
}

/**
 * Resolves the skills folder: the one of the flag, else the one of the settings, else `./skills`, else the bundled
 * skills. Resolves the store: the one of the settings, else the one of this project.
 */
async function resolveFolders(flags: CommonFlags): Promise<SessionFolders> {
  const [{ readOptions }, { getProjectStateDir }] = await Promise.all([
    import("../../runtime/settings/index.ts"),
    import("../../config/index.ts"),
  ]);
  const usual = resolve("skills");
  const folderOption = flags.skills === undefined ? {} : { skillsDir: flags.skills };
  const settings = await readOptions({ ...getRuntimeOptions(flags), ...folderOption });
  const { skillsDir: ownSkills = usual, store = getProjectStateDir(resolve(".")) } = settings;
  const { folder = store, url } = settings.database;
  const isShipped = flags.skills === undefined && ownSkills === usual && !existsSync(usual);
  return {
    isNamed: isShipped || flags.skills !== undefined,
    isHeld: settings.skillsDir === undefined && !isShipped,
    skills: isShipped ? join(PACKAGE_FOLDER, "skills") : ownSkills,
    ownSkills,
    store,
    database: { folder, ...(url !== undefined && { url }) },
    audit: settings.audit,
    retention: settings.retention,
    settingsFile: resolve(flags.settings ?? "settings.yaml"),
    server: settings.sections["server"],
  };
}

async function readNodeSettings(
  flags: CommonFlags,
  changes: Readonly<Record<string, unknown>>,
): Promise<ParsedNodeSettings> {
  const { readOptions } = await import("../../runtime/settings/index.ts");
  const { nodes: settings, problems } = await readOptions({ ...getRuntimeOptions(flags), nodes: changes });
  return { settings, problems: problems.filter(({ error }) => error.includes("nodes")) };
}

async function readExecutorSettings(
  flags: CommonFlags,
  changes: Readonly<Record<string, unknown>>,
): Promise<ParsedExecutorSettings> {
  const { readOptions } = await import("../../runtime/settings/index.ts");
  const { executors: settings, problems } = await readOptions({ ...getRuntimeOptions(flags), executors: changes });
  return { settings, problems: problems.filter(({ error }) => error.includes("executors")) };
}

/** Returns the runtime when the tools of all its servers are known. */
async function whenKnown(runtime: Runtime, signal: AbortSignal): Promise<Runtime> {
  await unlessInterrupted(runtime.known, signal);
  return runtime;
}
