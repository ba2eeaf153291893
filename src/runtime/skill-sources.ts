import { getMessage } from "../errors.ts";
import type { Problem, Provider, SkillHealth, HeldSkill } from "../model/provider.ts";
import type { ProvidedSkill } from "../model/skill.ts";
import type { Registry } from "../registry/index.ts";

/**
 * Merges the sources of skills, the strongest first: of two skills with one name the first is used. Keeps a registry equal
 * to what the program and the providers currently offer, without disabled skills.
 */
export class SkillSources {
  readonly #registry: Registry;
  /** Skills that the program itself defines. */
  readonly #code: ProvidedSkill[];
  readonly #providers: Provider[] = [];
  readonly #offered = new Map<string, ProvidedSkill>();
  readonly #registered = new Map<string, ProvidedSkill>();
  readonly #disabled: Set<string>;
  #clashes: Problem[] = [];
  readonly #unopened: Problem[] = [];

  constructor(registry: Registry, code: readonly ProvidedSkill[], disabled: readonly string[]) {
    this.#registry = registry;
    this.#code = [...code];
    this.#disabled = new Set(disabled);
    this.#follow();
  }

  /** Adds a provider behind those that are there, and returns it. */
  add<Added extends Provider>(provider: Added): Added {
    this.#providers.push(provider);
    provider.onChange(() => this.#follow());
    this.#follow();
    return provider;
  }

  /** Settles when the skills of every provider are known. */
  async whenKnown(): Promise<void> {
    await Promise.all(this.#providers.map(async (provider) => provider.known));
  }

  /** Settles when every provider has connected, or failed to. */
  async ready(): Promise<void> {
    await Promise.all(this.#providers.map(async (provider) => provider.ready ?? provider.known));
  }

  /** Adds the problem of a provider that could not be created. */
  addProblem(problem: Problem): void {
    this.#unopened.push(problem);
  }

  register(skill: ProvidedSkill): void {
    if (!this.#disabled.has(skill.name)) {
      this.#registry.register(skill);
      this.#registered.set(skill.name, skill);
    }
    this.#code.push(skill);
    this.#offered.set(skill.name, skill);
  }

  unregister(name: string): boolean {
    const at = this.#code.findIndex((skill) => skill.name === name);
    const was = this.#registered.has(name) || at >= 0;
    if (at >= 0) this.#code.splice(at, 1);
    if (at >= 0) this.#follow();
    else this.#forget(name);
    return was;
  }

  /** Switches a skill on or off (L7). Returns whether there is a skill of that name at the moment. */
  enable(name: string, isEnabled: boolean): boolean {
    if (isEnabled) this.#disabled.delete(name);
    else this.#disabled.add(name);
    this.#follow();
    return this.#offered.has(name);
  }

  isDisabled(name: string): boolean {
    return this.#disabled.has(name);
  }

  /** The skills that are there but switched off, by name. */
  get disabled(): readonly ProvidedSkill[] {
    return [...this.#disabled].toSorted().flatMap((name) => this.#offered.get(name) ?? []);
  }

  /** Returns a skill that a provider offers and that is not disabled. */
  findOffered(name: string): ProvidedSkill | undefined {
    return this.#registered.get(name);
  }

  /** Skills that are not used, because files of theirs are held. */
  get held(): readonly HeldSkill[] {
    return this.#providers.flatMap((provider) => provider.heldSkills ?? []);
  }

  /** Skills and providers that could not be used, and why. */
  get problems(): readonly Problem[] {
    return [...this.#unopened, ...this.#providers.flatMap((provider) => provider.problems), ...this.#clashes];
  }

  /** Returns the health of skills that report it, and of those that did not start. */
  async health(): Promise<readonly SkillHealth[]> {
    const reports = this.#providers.map(async (provider) => (await provider.health?.()) ?? []);
    return [...(await Promise.all(this.#code.map(checkHealth))), ...(await Promise.all(reports)).flat()];
  }

  async close(): Promise<void> {
    await Promise.all(this.#providers.map((provider) => provider.close()));
  }

  #follow(): void {
    this.#offered.clear();
    this.#clashes = [];
    for (const skill of [...this.#code, ...this.#providers.flatMap((provider) => provider.skills)]) {
      const { name, source } = skill;
      const first = this.#offered.get(name);
      if (first === undefined) this.#offered.set(name, skill);
      else this.#clashes.push({ source, error: `Skill '${name}' is already taken by ${first.source}` });
    }
    for (const [name, skill] of this.#registered) {
      if (this.#disabled.has(name) || this.#offered.get(name) !== skill) this.#forget(name);
    }
    for (const [name, skill] of this.#offered) {
      if (!this.#registered.has(name) && !this.#disabled.has(name)) this.#take(skill);
    }
  }

  #take(skill: ProvidedSkill): void {
    try {
      this.#registry.register(skill);
      this.#registered.set(skill.name, skill);
    } catch (error) {
      this.#clashes.push({ source: skill.source, error: getMessage(error) });
    }
  }

  #forget(name: string): void {
    this.#registry.unregister(name);
    this.#registered.delete(name);
  }
}

async function checkHealth(skill: ProvidedSkill): Promise<SkillHealth> {
  const { name, source } = skill;
  try {
    const { healthy, message } = (await skill.health?.()) ?? { healthy: true, message: "ok" };
    return { skill: name, source, healthy, message };
  } catch (error) {
    return { skill: name, source, healthy: false, message: getMessage(error) };
  }
}
