import { slowImports } from "./load/import-marks.ts";
import { InProcessSkills } from "./process/in-process.ts";
import {
  type CallRequest,
  isImportTimeout,
  type Loaded,
  type LoadRequest,
  type SkillHost,
  SkillProcesses,
  type SkillProcessesOptions,
} from "./process/index.ts";
import type { CallContext } from "../../model/skill.ts";

export interface SkillPoolOptions extends SkillProcessesOptions {
  /** Runs the skills in this process instead. */
  readonly isInProcess?: boolean;
}

/** Time limit for an import in the shared process, in which others wait for it, while it runs no call. */
const SHARED_IMPORT_MS = 2_000;

/**
 * Assigns modules to processes: one shared process, and a separate one for each module with an isolated skill, or whose import takes
 * long.
 */
export class SkillProcessPool {
  readonly #options: SkillPoolOptions;
  readonly #isolated: ReadonlySet<string>;
  readonly #shared: SkillHost;
  /** By module. */
  readonly #own = new Map<string, SkillHost>();

  constructor(options: SkillPoolOptions, isolated: readonly string[]) {
    this.#options = options;
    this.#isolated = new Set(isolated);
    this.#shared = createHost({
      ...options,
      idleImportTimeoutMs: Math.min(options.importTimeoutMs, SHARED_IMPORT_MS),
      onImportTimeout: (request) => void this.#separate(request).catch(() => undefined), // a call of the module tells the reason
    });
  }

  /** Time limit for importing one module. */
  get importTimeoutMs(): number {
    return this.#options.importTimeoutMs;
  }

  /** Starts the shared process before the first request. */
  start(): void {
    this.#shared.start();
  }

  /**
   * Imports a module into the process that it is assigned to. `slow` is an import that takes long: it has begun again in a process of
   * its own.
   */
  async load(request: LoadRequest): Promise<Loaded | { readonly slow: Promise<Loaded> }> {
    const host = this.#of(request.module);
    if (slowImports.has(request.bundle)) return { slow: host.load(request) };
    try {
      return await host.load(request);
    } catch (error) {
      if (host !== this.#shared || !isImportTimeout(error) || this.importTimeoutMs <= SHARED_IMPORT_MS) throw error;
      return { slow: this.#separate(request) };
    }
  }

  /** Calls a method in the process that its module is assigned to. */
  async invoke(request: CallRequest, context: CallContext): Promise<unknown> {
    const host = this.#of(request.module);
    try {
      return await host.invoke(request, context);
    } catch (error) {
      const home = this.#of(request.module);
      // The module was moved while the call waited for its import.
      if (home === host || !isImportTimeout(error)) throw error;
      return home.invoke(request, context);
    }
  }

  /**
   * Assigns a module by the names of its skills and its bundle. Returns true, and unloads it from its earlier process, if it moves to
   * another one.
   */
  assign({ module, bundle }: LoadRequest, skills: readonly string[]): boolean {
    const wantsOwn = skills.some((skill) => this.#isolated.has(skill)) || slowImports.has(bundle);
    if (wantsOwn === this.#own.has(module)) return false;
    this.unload(module);
    if (wantsOwn) this.isolate(module);
    return true;
  }

  /** Assigns a module to a process of its own, in which it does not delay others. */
  isolate(module: string): SkillHost {
    if (!this.#own.has(module)) this.#own.set(module, createHost(this.#options));
    return this.#of(module);
  }

  unload(module: string): void {
    this.#of(module).unload(module);
    void this.#own.get(module)?.close();
    this.#own.delete(module);
  }

  async close(): Promise<void> {
    await Promise.all([this.#shared, ...this.#own.values()].map((processes) => processes.close()));
  }

  #of(module: string): SkillHost {
    return this.#own.get(module) ?? this.#shared;
  }

  #separate(request: LoadRequest): Promise<Loaded> {
    slowImports.add(request.bundle);
    return this.isolate(request.module).load(request);
  }
}

function createHost(options: SkillPoolOptions): SkillHost {
  return options.isInProcess === true ? new InProcessSkills(options.root) : new SkillProcesses(options);
}
