import type { Caller } from "../model/caller.ts";
import type { Method } from "../model/catalog.ts";
import type { JsonSchema } from "../model/json.ts";
import { hashValue } from "../shared/digest.ts";
import type { KeyValueCache } from "../shared/file-cache.ts";
import type { ValueShape } from "./infer-schema.ts";
import type { InferredMethod } from "./inferred-results.ts";
import { collectObjects, mergeLike, type ObjectsByNames } from "./merge-like.ts";
import { toSchema } from "./shape-schema.ts";
import { parseMethods, serializeMethods, type StoredMethod } from "./stored-shapes.ts";
import { splitPath } from "../shared/names/method-paths.ts";

/** Where shapes are stored, one entry for each skill and version. */
export interface StoredResultsOptions {
  readonly cache: KeyValueCache;
  /** Identifies a skill and its version; `undefined` for a skill whose shapes are not stored. */
  readonly getKey: (skill: string) => string | undefined;
  /** The names of all skills. */
  readonly listSkills: () => readonly string[];
  readonly warn: (text: string) => void;
}

/** Milliseconds from a change until it is written. */
const WRITE_AFTER_MS = 5_000;

interface SkillShapes {
  readonly key: string | undefined;
  /** Shapes of an earlier runtime whose methods were not asked for yet. */
  readonly stored: Map<string, StoredMethod>;
  changes: number;
  writtenChanges: number;
  /** Computed from the shapes as of a number of changes. */
  derived: { readonly changes: number; readonly objects: ObjectsByNames; readonly schemas: Schemas } | undefined;
}

type Schemas = WeakMap<Method, WeakMap<Caller, JsonSchema>>;

/** The shapes of whole skills: those of earlier runtimes, and the schemas of what several methods return alike. */
export class StoredResults {
  readonly #options: StoredResultsOptions | undefined;
  readonly #getObserved: (skill: string) => readonly InferredMethod[];
  readonly #skills = new Map<string, SkillShapes>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `getObserved` returns the methods of a skill that were observed in this runtime, or taken. */
  constructor(options: StoredResultsOptions | undefined, getObserved: (skill: string) => readonly InferredMethod[]) {
    this.#options = options;
    this.#getObserved = getObserved;
  }

  /** Takes the stored shape of a method that has not changed since. */
  take(method: Method): ValueShape | undefined {
    const { stored } = this.#getSkill(method.skill);
    const entry = stored.get(method.name);
    if (entry === undefined || entry.digest !== digestMethod(method)) return undefined;
    stored.delete(method.name);
    return entry.shape;
  }

  /** Records that a shape of a skill has changed. */
  changed(skill: string): void {
    this.#getSkill(skill).changes += 1;
    if (this.#options !== undefined && !this.#isClosed)
      this.#timer ??= setTimeout(() => this.flush(), WRITE_AFTER_MS).unref();
  }

  getSchema(caller: Caller, method: Method, shape: ValueShape): JsonSchema {
    const { objects, schemas } = this.#getDerived(method.skill);
    const byCaller = schemas.get(method) ?? new WeakMap<Caller, JsonSchema>();
    schemas.set(method, byCaller);
    const schema = byCaller.get(caller) ?? toSchema(mergeLike(shape, objects), caller);
    byCaller.set(caller, schema);
    return schema;
  }

  /** Forgets the stored shapes of one method, or of all. */
  forget(path?: string): void {
    const { skill: only, method = "" } = path === undefined ? {} : splitPath(path);
    const names = only === undefined ? [...this.#skills.keys(), ...(this.#options?.listSkills() ?? [])] : [only];
    for (const name of names) {
      const { stored } = this.#getSkill(name);
      if (path === undefined) stored.clear();
      else stored.delete(method);
      this.changed(name);
    }
    this.flush();
  }

  /** Writes the skills whose shapes have changed. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [name, skill] of this.#skills) {
      if (skill.key === undefined || skill.changes === skill.writtenChanges) continue;
      skill.writtenChanges = skill.changes;
      const observed = this.#getObserved(name).map(({ method, shape }): [string, StoredMethod] => [
        method.name,
        { digest: digestMethod(method), shape },
      ]);
      const value = serializeMethods(new Map([...skill.stored, ...observed]));
      if (value !== undefined) this.#options?.cache.set(skill.key, value);
    }
  }

  /** Writes what is not written; shapes that change later are not stored. */
  close(): void {
    this.#isClosed = true;
    this.flush();
  }

  #getSkill(name: string): SkillShapes {
    const key = this.#options?.getKey(name);
    const existing = this.#skills.get(name);
    if (existing !== undefined && existing.key === key) return existing;
    const stored = new Map(key === undefined ? [] : this.#read(name, key));
    const skill: SkillShapes = { key, stored, changes: 0, writtenChanges: 0, derived: undefined };
    this.#skills.set(name, skill);
    return skill;
  }

  #read(skill: string, key: string): ReadonlyMap<string, StoredMethod> {
    const value = this.#options?.cache.get(key);
    const parsed = value === undefined ? undefined : parseMethods(value);
    if (value !== undefined && parsed === undefined)
      this.#options?.warn(
        `Cannot use the stored types of the results of ${skill}: they are not valid. They are observed again`,
      );
    return parsed ?? new Map<string, StoredMethod>();
  }

  #getDerived(name: string): NonNullable<SkillShapes["derived"]> {
    const skill = this.#getSkill(name);
    if (skill.derived?.changes === skill.changes) return skill.derived;
    const shapes = [...this.#getObserved(name), ...skill.stored.values()].map(({ shape }) => shape);
    skill.derived = { changes: skill.changes, objects: collectObjects(shapes), schemas: new WeakMap() };
    return skill.derived;
  }
}

/** Identifies what a method takes and returns, and its version. */
export function digestMethod(method: Method): string {
  const cached = DIGESTS.get(method);
  if (cached !== undefined) return cached;
  const { input, output, metadata } = method;
  const digest = hashValue([input, output ?? null, metadata.version]);
  DIGESTS.set(method, digest);
  return digest;
}

const DIGESTS = new WeakMap<Method, string>();
