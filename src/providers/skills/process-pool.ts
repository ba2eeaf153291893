import { SkillProcesses, type SkillProcessesOptions } from "./process/index.ts";

/** Where modules run: all in one process, but for those of which a skill wants one of its own. */
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

  /** Starts the process of most modules ahead of the first order. */
  start(): void {
    this.#shared.start();
  }

  /** The processes of a module, by what was last known of it. */
  of(module: string): SkillProcesses {
    return this.#own.get(module) ?? this.#shared;
  }

  /** The processes of a module with skills of these names; one that it was in before forgets it. */
  assign(module: string, skills: readonly string[]): SkillProcesses {
    const wantsOwn = skills.some((skill) => this.#isolated.has(skill));
    if (wantsOwn === this.#own.has(module)) return this.of(module);
    this.unload(module);
    if (wantsOwn) this.#own.set(module, new SkillProcesses(this.#options));
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
