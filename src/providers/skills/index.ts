import { realpath } from "node:fs/promises";
import { resolve } from "node:path";

import type { DefinedSkill } from "../../authoring/define-skill.ts";
import type { Problem, Provider, SkillHealth, HeldSkill, SkillGate } from "../../model/provider.ts";
import { type Contents, SkillsFolder } from "./folder.ts";
import { SkillProcessPool } from "./process-pool.ts";
import type { SavedHost, SavedModule } from "./saved/saved-skill.ts";
import { ModuleFiles } from "./source-files.ts";
import { WatchedFolder } from "./watched-folder.ts";
import type { SkillInspector, SkillLog } from "./process/index.ts";
import { openCache } from "./load/cache.ts";
import { discover } from "./load/discover.ts";
import { prepare } from "./load/prepare.ts";

export { compileModule } from "./load/compile.ts";
export { type InspectedModule, inspectSkills } from "./load/inspect.ts";
export { moduleToSkillName } from "./names.ts";
export type { SkillProcessPool } from "./process-pool.ts";
export { formatSavedFile, type SavedFile } from "./saved/saved-file.ts";
export type { ProgramExecution, SavedHost, SavedModule, SavedOutcome, SavedSkill } from "./saved/saved-skill.ts";
export { ModuleFiles } from "./source-files.ts";
export type { SkillInspector } from "./process/index.ts";

export interface SkillsOptions {
  /** Receives the log lines of skills and of the loader. */
  readonly log?: SkillLog;
  /** Time limit for importing one module. */
  readonly importTimeoutMs?: number;
  /** Heap limit of a skill process. */
  readonly memoryBytes?: number;
  /** Names of skills that run in a separate process; the others share one. */
  readonly isolated?: readonly string[];
  /** Lets a debugger attach to the processes, which then have no time limits. */
  readonly inspector?: SkillInspector | undefined;
  /** The variables that skills get, beside those that programs need to start. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Runs the skills in this process, without isolation, so that its debugger stops in them. */
  readonly inProcess?: boolean;
  /** Loads only this module: its entry, or its folder. */
  readonly only?: string;
  /** Processes of `openSkillProcesses` for the same folder, which other providers use too; those of this provider if missing. */
  readonly processes?: SkillProcessPool | undefined;
  /** Imports a file that was imported before only when one of its methods is called. Off by default. */
  readonly defersImports?: boolean;
  /** Folder that caches compiled skills across starts. */
  readonly cacheDir?: string;
  /** Reloads skills when files in the folder change. */
  readonly watch?: boolean;
  /** Decides which files may run; without it, all may. */
  readonly gate?: SkillGate | undefined;
  /** Runs the programs of saved skills; without it, these are not loaded. */
  readonly saved?: SavedHost;
}

/** The skills of a folder. */
export interface SkillsProvider extends Provider {
  readonly skills: readonly DefinedSkill[];
  /** The saved skills, also those that are not offered because they failed. */
  readonly saved: readonly SavedModule[];
  health(): Promise<readonly SkillHealth[]>;
  /** Loads what has changed in the folder, at once. */
  refresh(): Promise<void>;
}

const IMPORT_TIMEOUT_MS = 10_000;
const MEMORY_BYTES = 512 << 20;

/**
 * Loads the skills of a folder: reads names, types and comments from their sources, and runs them in a separate
 * process. Modules that cannot be loaded are listed in `problems`; a missing folder has no skills.
 */
export async function loadSkills(dir: string, options: SkillsOptions = {}): Promise<SkillsProvider> {
  const { log = ignoreLog } = options;
  const root = await findRoot(dir);
  const cache = await openCache(options.cacheDir);
  const processes = options.processes ?? createProcesses(root, options);
  const folder = new SkillsFolder({ dir, only: options.only, gate: options.gate }, cache, {
    root,
    processes,
    saved: options.saved,
  });
  const live = new WatchedFolder(folder, root, log);
  await live.refresh();
  if (options.watch === true) await live.watch();
  return {
    get skills(): readonly DefinedSkill[] {
      return live.contents.skills;
    },
    get problems(): readonly Problem[] {
      return live.contents.problems;
    },
    get heldSkills(): readonly HeldSkill[] {
      return live.contents.held;
    },
    get saved(): readonly SavedModule[] {
      return live.contents.saved;
    },
    onChange: (listener) => live.onChange(listener),
    health: () => checkHealth(live.contents),
    refresh: () => live.refresh(),
    close: async () => {
      const looked = live.close();
      if (options.processes === processes) folder.unload();
      else await processes.close();
      await looked;
      await cache.close();
    },
  };
}

/** Opens processes for several providers of one folder. The caller closes them after the providers. */
export async function openSkillProcesses(dir: string, options: SkillsOptions): Promise<SkillProcessPool> {
  return createProcesses(await findRoot(dir), options);
}

async function findRoot(dir: string): Promise<string> {
  return realpath(dir).catch(() => resolve(dir));
}

function createProcesses(
  root: string,
  {
    log = ignoreLog,
    inspector,
    variables,
    importTimeoutMs = inspector === undefined ? IMPORT_TIMEOUT_MS : Infinity,
    memoryBytes = MEMORY_BYTES,
    inProcess: isInProcess = false,
    isolated = [],
    defersImports = false,
  }: SkillsOptions,
): SkillProcessPool {
  const limits = { importTimeoutMs, memoryBytes, variables };
  return new SkillProcessPool({ root, log, ...limits, inspector, isInProcess, defersImports }, isolated);
}

function ignoreLog(): void {}

/**
 * Lists the files that decide what the modules of a folder run, without running any: local files wherever they are, the files
 * of packages that they name, and the package.json files that say which these are.
 */
export async function listInputs(dir: string): Promise<readonly string[]> {
  const { root, modules } = await discover(dir);
  if (root === undefined) return [];
  const cache = await openCache();
  try {
    return [...new Set(modules.flatMap((module) => listModuleInputs(module, { root, cache })))];
  } finally {
    await cache.close();
  }
}

function listModuleInputs(...[module, options]: Parameters<typeof prepare>): readonly string[] {
  const sources = new ModuleFiles();
  try {
    return prepare(module, { ...options, sources }).digests.map(([file]) => file);
  } catch {
    return [...sources.digests.keys()]; // a file has a mistake
  }
}

async function checkHealth({ skills, unstarted }: Contents): Promise<readonly SkillHealth[]> {
  const reports = skills.map(async (skill) => ({ skill: skill.name, source: skill.source, ...(await skill.health()) }));
  const failed = unstarted.map((each) => ({ ...each, healthy: false, message: "Skill failed to instantiate" }));
  return [...(await Promise.all(reports)), ...failed];
}
