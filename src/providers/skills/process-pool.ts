import { SkillProcesses, type SkillProcessesOptions } from "./process/index.ts";

/** Assigns modules to processes: one shared process, and a separate one for each module with an isolated skill. */
export class SkillProcessPool {
  readonly #options: SkillProcessesOptions;
  readonly #isolated: ReadonlySet<string>;
  readonly #shared: SkillProcesses;
  /** By module. */
  readonly #own = new Map<string, SkillProcesses>();

  constructor(options: SkillProcessesOptions, isolated: readonly string[]) {
    this.#options = options;
    this.#isolated = new Set(isolated);
    this.#shared = new SkillProcesses(options);
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
  of(module: string): SkillProcesses {
    return this.#own.get(module) ?? this.#shared;
  }

  /** Assigns a module by the names of its skills, and unloads it from its earlier process. */
  assign(module: string, skills: readonly string[]): SkillProcesses {
    const wantsOwn = skills.some((skill) => this.#isolated.has(skill));
    if (wantsOwn === this.#own.has(module)) return this.of(module);
    this.unload(module);
    return wantsOwn ? this.isolate(module) : this.of(module);
  }

  /** Assigns a module to a process of its own, in which it does not delay others. */
  isolate(module: string): SkillProcesses {
    if (!this.#own.has(module)) this.#own.set(module, new SkillProcesses(this.#options));
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
