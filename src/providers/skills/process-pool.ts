import { InProcessSkills } from "./process/in-process.ts";
import { type SkillHost, SkillProcesses, type SkillProcessesOptions } from "./process/index.ts";

export interface SkillPoolOptions extends SkillProcessesOptions {
  /** Runs the skills in this process instead. */
  readonly isInProcess?: boolean;
}

/** Assigns modules to processes: one shared process, and a separate one for each module with an isolated skill. */
export class SkillProcessPool {
  readonly #options: SkillPoolOptions;
  readonly #isolated: ReadonlySet<string>;
  readonly #shared: SkillHost;
  /** By module. */
  readonly #own = new Map<string, SkillHost>();

  constructor(options: SkillPoolOptions, isolated: readonly string[]) {
    this.#options = options;
    this.#isolated = new Set(isolated);
    this.#shared = createHost(options);
  }

  /** Time limit for importing one module. */
  get importTimeoutMs(): number {
    return this.#options.importTimeoutMs;
  }

  /** Starts the shared process before the first request. */
  start(): void {
    this.#shared.start();
  }

  /** Returns the processes that a module is assigned to. */
  of(module: string): SkillHost {
    return this.#own.get(module) ?? this.#shared;
  }

  /** Assigns a module by the names of its skills, and unloads it from its earlier process. */
  assign(module: string, skills: readonly string[]): SkillHost {
    const wantsOwn = skills.some((skill) => this.#isolated.has(skill));
    if (wantsOwn === this.#own.has(module)) return this.of(module);
    this.unload(module);
    return wantsOwn ? this.isolate(module) : this.of(module);
  }

  /** Assigns a module to a process of its own, in which it does not delay others. */
  isolate(module: string): SkillHost {
    if (!this.#own.has(module)) this.#own.set(module, createHost(this.#options));
    return this.of(module);
  }

  unload(module: string): void {
    this.of(module).unload(module);
    void this.#own.get(module)?.close();
    this.#own.delete(module);
  }

  async close(): Promise<void> {
    await Promise.all([this.#shared, ...this.#own.values()].map((processes) => processes.close()));
  }
}

function createHost(options: SkillPoolOptions): SkillHost {
  return options.isInProcess === true ? new InProcessSkills(options.root) : new SkillProcesses(options);
}
