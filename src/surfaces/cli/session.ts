import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

import type { Approve } from "../../model/approval.ts";
import type { Problem, SkillGate } from "../../model/provider.ts";
import type { Runtime } from "../../runtime.ts";
import type { LogListener, RuntimeOptions } from "../../runtime/options.ts";
import type { readOptions } from "../../runtime/settings/index.ts";
import type { Database, LazyDatabase, Retention, StoreLocation } from "../../store/index.ts";
import { findExportSecrets } from "../../telemetry/index.ts";
import { limitMemory } from "./commands/limit-memory.ts";
import { PACKAGE_FOLDER } from "./package.ts";
import { type CliTelemetry, createTelemetry } from "./telemetry.ts";
import { askLine, createTerminalApprove, createTerminalPrompter, isAtTerminal } from "./terminal/ask.ts";
import { type Interruption, unlessInterrupted } from "./terminal/interruption.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { logLine } from "./text/output.ts";
import { filterProblems, waitForServers } from "./unknown-path.ts";
import { UsageError } from "./usage-error.ts";

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
  /** Opens the runtime of the project on the first call, and returns it once it is in the state `until`. */
  readonly openRuntime: (use?: RuntimeUse) => Promise<Runtime>;
  /** The section `nodes` or `executors` of the settings, with some settings replaced, and what is wrong in it. */
  readonly readNetwork: <Name extends NetworkName>(
    name: Name,
    changes: SettingChanges,
  ) => Promise<ParsedNetworkSection<Name>>;
  /** The export of traces and metrics, which starts with the first runtime. */
  readonly telemetry: CliTelemetry;
  readonly folders: () => Promise<SessionFolders>;
  /** Opens the project's database of keys, approvals and the audit log, without a runtime. */
  readonly database: () => Promise<Database>;
  /** The problems of the configuration that concern the command, as far as it was read. */
  readonly problems: () => readonly Problem[];
  /** Adds problems that a command found without a runtime. */
  readonly addProblems: (problems: readonly Problem[]) => void;
}

/** How a command uses a runtime. */
export interface RuntimeUse extends Pick<RuntimeOptions, "onlyServers" | "approvals" | "approve" | "typecheck"> {
  /** The state to wait for; by default, its servers may still be connecting. */
  readonly until?: RuntimeState;
  /** `new` opens the files and servers again as they are now. If that fails, the old runtime stays. */
  readonly which?: "new" | "old";
  /** `none` opens a runtime of its own without the project's store: nothing that its skills store is kept. */
  readonly store?: "project" | "none";
  /** Opens everything at once, and watches for changes. */
  readonly serve?: Pick<RuntimeOptions, "nodes" | "executors"> & { readonly log: LogListener };
  readonly mcp?: {
    /** Takes the user to the page on which they allow access to a server. */
    readonly authorize?: (request: { readonly server: string; readonly url: URL }) => void;
  };
}

/**
 * `opened`: its skills are loaded, and its servers have begun to connect. `shown`: for a command that only shows something, a
 * server that does not answer within 5 s is a problem. `known`: the tools of all servers are known; a server with cached tools
 * need not run. `ready`: each server is connected or has failed.
 */
type RuntimeState = "opened" | "shown" | "known" | "ready";

export type NetworkName = "nodes" | "executors";

type SettingChanges = Readonly<Record<string, unknown>>;

interface ParsedNetworkSection<Name extends NetworkName> {
  readonly settings: Settings[Name];
  readonly problems: readonly Problem[];
}

type Settings = Awaited<ReturnType<typeof readOptions>>;

/** The absolute paths of a project's folders and files, whether they exist or not. */
export interface SessionFolders {
  /** The skills in use: the project's own, or the bundled ones. */
  readonly skills: string;
  /** True for the bundled skills, and for a folder that the command line names. */
  readonly isNamed: boolean;
  /** Decides which files of the skills may run; `undefined` if all may. */
  readonly gate: Pick<SkillGate, "whyHeld"> | undefined;
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
  let opened: Runtime | undefined;
  const ephemeral: Runtime[] = [];
  const found: Problem[] = [];
  const silent: Problem[] = [];
  let reportsHeld = false;
  let data: LazyDatabase | undefined;

  async function open(use: RuntimeUse): Promise<Runtime> {
    await telemetry.start();
    return unlessInterrupted(createSessionRuntime(flags, { terminal, signal, approve }, use), signal);
  }

  async function openRuntime(use: RuntimeUse = {}): Promise<Runtime> {
    const { until, which, store } = use;
    if (until !== undefined) reportsHeld = true;
    if (store === "none") return openEphemeral(use);
    if (opened === undefined || which === "new") {
      const fresh = await open(use);
      await opened?.close();
      opened = fresh;
    }
    if (until !== undefined) silent.push(...(await unlessInterrupted(waitUntil(opened, until), signal)));
    return opened;
  }

  async function openEphemeral(use: RuntimeUse): Promise<Runtime> {
    const runtime = await open(use);
    ephemeral.push(runtime);
    await unlessInterrupted(runtime.known, signal);
    found.push(...runtime.problems);
    return runtime;
  }

  return {
    flags,
    paint: terminal.paint,
    write: terminal.write,
    approve,
    signal,
    intercept,
    finish,
    openRuntime,
    folders: () => resolveFolders(flags),
    readNetwork: (name, changes) => readNetwork(flags, name, changes),
    telemetry,
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

/** Waits for a state. Returns a problem for each server that has not answered. */
async function waitUntil(runtime: Runtime, state: RuntimeState): Promise<readonly Problem[]> {
  if (state === "shown") return waitForServers(runtime);
  await runtime[state];
  return [];
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

interface RuntimeSurroundings {
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  readonly approve: Approve | undefined;
}

/** Imports the runtime only here, so that `--help` does not load it. */
async function createSessionRuntime(
  flags: CommonFlags,
  { terminal, signal, approve }: RuntimeSurroundings,
  { until, which: _which, store: memory, serve, ...options }: RuntimeUse,
): Promise<Runtime> {
  if (flags.skills !== undefined && !existsSync(flags.skills))
    throw new UsageError(`Cannot read the skills in ${JSON.stringify(flags.skills)}: the folder does not exist`);
  const { createRuntime } = await import("../../runtime.ts");
  const { skills, store, isNamed, audit = "store" } = await resolveFolders(flags);
  const person = createTerminalPrompter(signal);
  const runtime = await createRuntime({
    ...getRuntimeOptions(flags),
    log: createLog(flags, terminal),
    ...(flags.inspectSkills && { inspectSkills: createInspector(terminal, serve === undefined) }),
    ...(approve !== undefined && { approve }),
    ...(serve === undefined ? { workers: 1, lazy: true } : { watch: true, approvals: { wait: true }, audit, ...serve }),
    ...((until === "shown" || serve !== undefined) && { deferSkills: true }),
    ...options,
    ...(isNamed && { skillsDir: skills }),
    ...(memory === "none" ? { audit: "off" } : { store }),
    ...(person !== undefined && { person }),
  });
  runtime.secrets.add(findExportSecrets(process.env));
  terminal.mask(runtime.secrets);
  if (serve !== undefined) {
    limitMemory(runtime);
    runtime.runs.follow().catch(() => {}); // the store cannot be opened, which is reported as a problem
  }
  return runtime;
}

/** With `--verbose` prints the whole log; else only what a command waits for. */
function createLog({ verbose }: CommonFlags, { paint }: Terminal): LogListener {
  return (level, text, path) => {
    if (verbose || (path === undefined && text.startsWith("Waiting for ")))
      process.stderr.write(logLine({ level, text, path }, paint.err));
  };
}

/** Prints where a debugger can attach. A command that ends soon waits for it; a server does not. */
function createInspector({ write }: Terminal, wait: boolean): NonNullable<RuntimeOptions["inspectSkills"]> {
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
    gate: settings.trust?.ownsSkills === true ? settings.trust.trust : undefined,
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

async function readNetwork<Name extends NetworkName>(
  flags: CommonFlags,
  name: Name,
  changes: SettingChanges,
): Promise<ParsedNetworkSection<Name>> {
  const { readOptions } = await import("../../runtime/settings/index.ts");
  const options = await readOptions({ ...getRuntimeOptions(flags), [name]: changes });
  return { settings: options[name], problems: options.problems.filter(({ error }) => error.includes(name)) };
}
