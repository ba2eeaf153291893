import { messageOf } from "./errors.ts";
import type { Problem, Provider } from "./model/provider.ts";
import type { ProvidedSkill } from "./model/skill.ts";
import type { Registry } from "./registry/index.ts";

/** Where skills come from, the strongest first: of two skills with one name the first is taken (L5, N3). */
export interface Sources {
  /** Adds a provider behind those that are there. */
  add(provider: Provider): void;
  register(skill: ProvidedSkill): void;
  unregister(name: string): boolean;
  /** What could not be used, and why. */
  readonly problems: readonly Problem[];
  close(): Promise<void>;
}

/** Keeps a registry equal to what the program and the providers offer at the moment. */
export function createSources(registry: Registry, own: readonly ProvidedSkill[]): Sources {
  const code = [...own];
  const providers: Provider[] = [];
  const registered = new Map<string, ProvidedSkill>();
  let clashes: Problem[] = [];

  function follow(): void {
    const wanted = new Map<string, ProvidedSkill>();
    clashes = [];
    for (const skill of [...code, ...providers.flatMap((provider) => provider.skills)]) {
      const first = wanted.get(skill.name);
      if (first === undefined) wanted.set(skill.name, skill);
      else clashes.push({ source: skill.source, error: `Skill '${skill.name}' is already taken by ${first.source}` });
    }
    for (const [name, skill] of registered) if (wanted.get(name) !== skill) forget(name);
    for (const skill of wanted.values()) if (!registered.has(skill.name)) take(skill);
  }

  function take(skill: ProvidedSkill): void {
    try {
      registry.register(skill);
      registered.set(skill.name, skill);
    } catch (error) {
      clashes.push({ source: skill.source, error: messageOf(error) });
    }
  }

  function forget(name: string): void {
    registry.unregister(name);
    registered.delete(name);
  }

  follow();
  return {
    add(provider) {
      providers.push(provider);
      provider.onChange(follow);
      follow();
    },
    register(skill) {
      registry.register(skill);
      registered.set(skill.name, skill);
      code.push(skill);
    },
    unregister(name) {
      const at = code.findIndex((skill) => skill.name === name);
      if (at >= 0) code.splice(at, 1);
      const was = registered.has(name);
      if (at >= 0) follow();
      else forget(name);
      return was;
    },
    get problems() {
      return [...providers.flatMap((provider) => provider.problems), ...clashes];
    },
    async close() {
      await Promise.all(providers.map((provider) => provider.close()));
    },
  };
}
