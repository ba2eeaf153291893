import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";

import type { CallContext } from "../../../model/skill.ts";
import type { CallRequest } from "./calls.ts";
import type { ImportLimits } from "./imports.ts";
import type { SkillInspector } from "./inspector.ts";
import type { Loaded, LoadRequest, SkillLog } from "./messages.ts";
import { parseLoaded } from "./parse-report.ts";
import { callFailed, isImportTimeout, ModuleFailure, ProcessGone, runtimeClosed, startFailed } from "./skill-errors.ts";
import { SkillProcess } from "./skill-process.ts";

export type { Loaded, LoadRequest, CallTarget, SkillLog } from "./messages.ts";
export { describeMissingPackage, isImportTimeout, ModuleFailure, startFailed, withoutPaths } from "./skill-errors.ts";
export type { CallRequest } from "./calls.ts";
export type { SkillInspector } from "./inspector.ts";

/** Limit on blocked processes; beyond it, calls wait for one of them. */
const MAX_BLOCKED = 3;
/** Reloads after which a process is replaced: imported ES modules are never released from memory. */
const MAX_RELOADS = 200;
/** Number of processes that a request is sent to before it fails. */
const MAX_PROCESSES = 4;
/**
 * A call that a process has not started after this time moves to another one, which has four times as long: a large argument
 * takes seconds on a busy machine.
 */
const START_MS = 1_000;

export interface SkillProcessesOptions {
  readonly root: string;
  /** Time limit for importing one module; `Infinity` for none. */
  readonly importTimeoutMs: number;
  /** The time limit while the process runs no call; `importTimeoutMs` if missing. */
  readonly idleImportTimeoutMs?: number;
  /** Heap limit of the skills; the process may use 1.5 times as much in total. */
  readonly memoryBytes: number;
  readonly log: SkillLog;
  readonly inspector?: SkillInspector | undefined;
  /** The variables that the settings name, beside those that programs need to start. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** Uses what an earlier import of the same bundle has found, and starts the process at the first call or new bundle. */
  readonly defersImports?: boolean;
  /** Receives a module that was imported before, if a later process does not import it in time. */
  readonly onImportTimeout?: (request: LoadRequest) => void;
}

/** Imports modules and calls their methods. */
export interface SkillHost {
  /** Prepares for the first request. */
  start(): void;
  /** Imports a module and replaces an earlier one of the same name. Rejects with a `ModuleFailure`. */
  load(request: LoadRequest): Promise<Loaded>;
  unload(module: string): void;
  invoke(request: CallRequest, context: CallContext): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Runs skills in a child process, and starts another one when it exits. A thread is not enough: V8 aborts the whole
 * process when a thread cannot allocate one large array, whatever limits the thread has.
 */
export class SkillProcesses implements SkillHost {
  readonly #options: SkillProcessesOptions;
  /** Modules that every process imports, in order. */
  readonly #modules = new Map<string, LoadRequest>();
  readonly #all = new Set<SkillProcess>();
  #current: SkillProcess | undefined;
  #reloads = 0;
  #isClosed = false;

  constructor(options: SkillProcessesOptions) {
    this.#options = options;
  }

  /** Starts the process before the first request. */
  start(): void {
    if (this.#options.defersImports !== true) this.#running();
  }

  /** Imports a module and replaces an earlier one of the same name. Rejects with a `ModuleFailure`. */
  async load(request: LoadRequest): Promise<Loaded> {
    const earlier = this.#options.defersImports === true ? readImport(request.bundle) : undefined;
    if (earlier !== undefined && this.#current === undefined) {
      this.#modules.set(request.module, request);
      return earlier;
    }
    for (let attempts = MAX_PROCESSES; ;) {
      if (this.#isClosed) throw new ModuleFailure("the skills were closed");
      const process = this.#running();
      try {
        const loaded = await process.load(request, this.#limits);
        if (process !== this.#current && attempts-- > 0) continue;
        this.#reloads += this.#modules.has(request.module) ? 1 : 0;
        this.#modules.set(request.module, request);
        if (earlier === undefined) storeImport(request.bundle, loaded);
        this.#renew();
        return loaded;
      } catch (error) {
        if (!(error instanceof ProcessGone)) throw error;
        // Each module that crashes its process is tried once, so this loop ends.
        if (!error.byAnother && attempts-- === 0) throw new ModuleFailure(error.message);
      }
    }
  }

  unload(module: string): void {
    this.#modules.delete(module);
    this.#current?.unload(module);
  }

  /** Calls a method. A call that did not start moves to another process; no call starts twice. */
  invoke(request: CallRequest, context: CallContext): Promise<unknown> {
    const { inspector } = this.#options;
    const { pauseTimeoutFor } = context;
    const answer = this.#invoke(request, context);
    return inspector === undefined || pauseTimeoutFor === undefined ? answer : pauseTimeoutFor(answer);
  }

  async #invoke(request: CallRequest, context: CallContext): Promise<unknown> {
    for (let attempt = 0; attempt < MAX_PROCESSES; attempt++) {
      if (this.#isClosed) throw runtimeClosed(request.path);
      const process = this.#running();
      if (!(await isImported(process, request))) continue;
      const end = await process.invoke(request, context, START_MS * 4 ** attempt);
      if (end.kind === "value") return end.value;
      if (end.kind === "error") throw end.error;
    }
    throw callFailed(request.path, "could not start: every skill process ended");
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#current = undefined;
    const all = [...this.#all];
    for (const process of all) process.close();
    await Promise.all(all.map((process) => process.over));
  }

  get #limits(): ImportLimits {
    const { importTimeoutMs, idleImportTimeoutMs = importTimeoutMs } = this.#options;
    return { timeoutMs: importTimeoutMs, idleTimeoutMs: idleImportTimeoutMs };
  }

  #running(): SkillProcess {
    this.#current ??= this.#begin();
    return this.#current;
  }

  #begin(): SkillProcess {
    const process: SkillProcess = new SkillProcess({
      ...this.#options,
      onBlocked: () => this.#sidestep(process),
      onEnd: () => this.#forget(process),
    });
    this.#all.add(process);
    this.#reloads = 0;
    for (const request of this.#modules.values()) {
      process.load(request, this.#limits).catch((error: unknown) => {
        // A module that crashed its process would crash the next one too.
        if (!(error instanceof ModuleFailure) || error.failure !== undefined) return;
        this.#modules.delete(request.module);
        if (isImportTimeout(error)) this.#options.onImportTimeout?.(request);
      });
    }
    return process;
  }

  /** Replaces a blocked process: calls that did not start in it move to a new one. */
  #sidestep(process: SkillProcess): boolean {
    if (process !== this.#current) return true;
    if (this.#all.size > MAX_BLOCKED) return false;
    this.#current = undefined;
    process.retire();
    return true;
  }

  #forget(process: SkillProcess): void {
    this.#all.delete(process);
    if (process === this.#current) this.#current = undefined;
  }

  #renew(): void {
    if (this.#reloads < MAX_RELOADS || this.#current?.hasCalls !== false) return;
    this.#current.retire();
    this.#current = undefined;
    this.start();
  }
}

/** Returns false if the process exited during the import. */
async function isImported(process: SkillProcess, { module, path }: CallRequest): Promise<boolean> {
  try {
    const imported = process.imported(module);
    if (imported === undefined) throw new ModuleFailure("its module was removed, or no longer starts");
    await imported;
    return true;
  } catch (error) {
    if (error instanceof ProcessGone) return false;
    throw startFailed(path, error);
  }
}

/** Bytes of a stored import that are read at most. */
const MAX_BYTES = 4 << 20;

/**
 * Stores what the import of a bundle has found, in a file beside the bundle. A changed module has another bundle. Does nothing
 * for an import in which something failed: the cause may lie outside of the module.
 */
function storeImport(bundle: string, loaded: Loaded): void {
  if (loaded.failures.length > 0 || loaded.classes.some((failure) => failure !== undefined)) return;
  const file = getFile(bundle);
  const text = JSON.stringify({ ...loaded, classes: loaded.classes.length });
  try {
    if (existsSync(file) && readFileSync(file, "utf8") === text) return;
    writeFileSync(`${file}.${process.pid}`, text, { mode: 0o600 });
    renameSync(`${file}.${process.pid}`, file);
  } catch {
    // The disk is full or read-only: the next command imports the module again.
  }
}

/** Returns what an earlier import of a bundle has found; `undefined` if that is not known. */
function readImport(bundle: string): Loaded | undefined {
  try {
    const text = readFileSync(getFile(bundle), "utf8");
    const stored = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const classes = Number(stored["classes"]);
    if (text.length > MAX_BYTES || !Number.isInteger(classes) || classes < 0 || classes > 10_000) return undefined;
    return parseLoaded({ ...stored, classes: Array.from({ length: classes }) });
  } catch {
    return undefined; // missing or damaged
  }
}

function getFile(bundle: string): string {
  return `${bundle}.import`;
}
