import { dirname } from "node:path";

import type { DefinedSkill } from "../../authoring/define-skill.ts";
import { sentence, SkillgateError } from "../../errors.ts";
import { type Problem, describeHeld, type HeldSkill, type SkillGate } from "../../model/provider.ts";
import { assumeLoaded, deferImport } from "./deferred-import.ts";
import type { Cache, Prepared } from "./load/cache.ts";
import { discover, type SkillModule } from "./load/discover.ts";
import { type Guidance, readGuidance } from "./load/guidance.ts";
import { hangingImports } from "./load/import-marks.ts";
import { prepare } from "./load/prepare.ts";
import { loadError } from "./load/problems.ts";
import { computeSignature } from "./load/signature.ts";
import {
  createLoadRequest,
  type LoadedModule,
  type ModuleError,
  type ModuleSkills,
  describeNothing,
  createSkills,
  type LoadEnvironment,
} from "./module-skills.ts";
import { moduleToSkillName } from "./names.ts";
import { openSavedModule, readSavedFile, type SavedHost, type SavedModule } from "./saved/saved-skill.ts";
import { readRegularFile } from "../../shared/files/regular-file.ts";
import { digestBytes } from "./source-files.ts";
import { type Loaded, ModuleFailure } from "./process/index.ts";

/** The current content of a skills folder. */
export interface Contents {
  readonly skills: readonly DefinedSkill[];
  readonly problems: readonly Problem[];
  /** Skills that did not start. */
  readonly unstarted: readonly Unstarted[];
  /** Skills that are not used, because files of theirs are held. */
  readonly held: readonly HeldSkill[];
  /** The saved skills, also those that are not offered because they failed. */
  readonly saved: readonly SavedModule[];
  /** Every source file of the skills. */
  readonly files: readonly string[];
}

export interface Unstarted {
  readonly skill: string;
  readonly source: string;
}

/** The folder of the modules, the only module to load, if one is selected, and what decides which modules may run. */
interface FolderLocation {
  readonly dir: string;
  readonly only: string | undefined;
  readonly gate?: SkillGate | undefined;
}

/** The last loaded state of a module. */
interface LoadedEntry extends ModuleSkills {
  readonly module: SkillModule;
  readonly files: readonly string[];
  /** Changes when a file changes; empty if the module must be loaded again each time. */
  readonly signature: string;
  readonly held?: readonly HeldSkill[];
  /** A saved skill, which says itself what it offers: its counts change that at any time. */
  readonly saved?: SavedModule;
  /** Takes its place once the import has ended, if that takes long. Never rejects. */
  readonly rest?: Promise<LoadedEntry>;
}

/** Holds the skills of a folder. Unchanged modules keep their objects. */
export class SkillsFolder {
  readonly #location: FolderLocation;
  readonly #cache: Cache;
  readonly #around: LoadEnvironment;
  #entries: readonly LoadedEntry[] = [];
  #isLoaded = false;
  #refused: readonly Problem[] = [];
  #onLateChange: () => void = () => undefined;
  /** The source of each skill in use, by its name. */
  #sources: ReadonlyMap<string, string> = new Map();

  constructor(location: FolderLocation, cache: Cache, around: LoadEnvironment) {
    this.#location = location;
    this.#cache = cache;
    this.#around = around;
  }

  /** Scans the folder and loads new and changed modules. */
  async refresh(): Promise<void> {
    if (this.#isLoaded) await this.#location.gate?.refresh();
    this.#isLoaded = true;
    const since = Date.now();
    const { modules, saved, problems } = await discover(this.#location.dir, this.#location.only);
    const earlier = modules.map((module) => this.#unchanged(module));
    if (earlier.includes(undefined) && this.#location.gate === undefined) this.#around.processes.start();
    const preparations = modules.map((module, index) => earlier[index] ?? this.#prepare(module));
    const loads: Promise<LoadedEntry>[] = [];
    for (const [index, module] of modules.entries()) {
      const state = await preparations[index];
      if (state === undefined) continue;
      if (!("kind" in state)) loads.push(Promise.resolve(state));
      else if (state.kind === "held") loads.push(Promise.resolve(this.#hold(module, state)));
      else loads.push(this.#load(module, state, since));
    }
    // After the modules: of two new skills with one name, the saved one is not used.
    const entries = [...(await Promise.all(loads)), ...(await this.#loadSaved(saved, since))];
    const sources = new Set(entries.map(({ module }) => module.source));
    for (const { module } of this.#entries)
      if (!sources.has(module.source)) this.#around.processes.unload(module.source);
    this.#entries = entries;
    this.#refused = problems;
    this.#sources = this.#listSources();
    for (const entry of entries) void entry.rest?.then((later) => this.#replace(entry, later));
  }

  /** Removes its modules from processes that others use too. */
  unload(): void {
    for (const { module } of this.#entries) this.#around.processes.unload(module.source);
  }

  /** Calls the listener after a change between two refreshes: a long import has ended, or a saved skill was counted. */
  onLateChange(listener: () => void): void {
    this.#onLateChange = listener;
  }

  #replace(entry: LoadedEntry, later: LoadedEntry): void {
    if (!this.#entries.includes(entry)) return;
    this.#entries = this.#entries.map((each) => (each === entry ? later : each));
    this.#changeLate();
  }

  #changeLate(): void {
    this.#sources = this.#listSources();
    this.#onLateChange();
  }

  #listSources(): ReadonlyMap<string, string> {
    return new Map(this.contents.skills.map(({ name, source }) => [name, source]));
  }

  /** If two skills have the same name, the one that was used before stays; else the first is used. */
  get contents(): Contents {
    const skills = new Map<string, DefinedSkill>();
    const clashes: Problem[] = [];
    const all = this.#entries.flatMap(getSkills);
    const isInUse = ({ name, source }: DefinedSkill): boolean => this.#sources.get(name) === source;
    for (const skill of [...all.filter(isInUse), ...all.filter((each) => !isInUse(each))]) {
      const first = skills.get(skill.name);
      if (first === undefined) skills.set(skill.name, skill);
      else clashes.push({ source: skill.source, error: takenError(skill, first) });
    }
    const errors = this.#entries.flatMap(({ module, errors, saved }) =>
      [...errors, ...(saved?.errors ?? [])].map((error) => ({ source: module.source, ...error })),
    );
    return {
      skills: [...skills.values()],
      problems: [...this.#refused, ...errors, ...clashes],
      unstarted: this.#entries.flatMap(({ module, unstarted }) =>
        unstarted.map((skill) => ({ skill, source: module.source })),
      ),
      held: this.#entries.flatMap(({ held: skills = [] }) => skills),
      saved: this.#entries.flatMap(({ saved }) => saved ?? []),
      files: [...new Set(this.#entries.flatMap(({ files }) => files))],
    };
  }

  #earlier(module: SkillModule): LoadedEntry | undefined {
    return this.#entries.find((entry) => entry.module.source === module.source && entry.module.entry === module.entry);
  }

  #unchanged(module: SkillModule): LoadedEntry | undefined {
    const entry = this.#earlier(module);
    if (entry === undefined || entry.signature === "" || entry.module.guidanceFile !== module.guidanceFile)
      return undefined;
    return computeSignature(entry.files) === entry.signature ? entry : undefined;
  }

  async #prepare(module: SkillModule): Promise<Preparation> {
    try {
      const prepared = prepare(module, { root: this.#around.root, cache: this.#cache });
      const why = await this.#whyHeld(module, prepared);
      if (why !== undefined)
        return { kind: "held", files: prepared.files, skills: listHeld(module, prepared, why), why };
      this.#around.processes.start();
      return { kind: "prepared", prepared };
    } catch (error) {
      return { kind: "failed", error };
    }
  }

  /** The bundle has these digests, whatever the files contain by now; a folder is held with any file in it. */
  async #whyHeld({ source, entry, guidanceFile }: SkillModule, { digests }: Prepared): Promise<string | undefined> {
    const { gate } = this.#location;
    if (gate === undefined) return undefined;
    const guidance =
      guidanceFile === undefined ? [] : [[guidanceFile, digestBytes(readRegularFile(guidanceFile))] as const];
    const isFolder = source.includes("/");
    return (await gate.whyHeld([...digests, ...guidance])) ?? (isFolder ? gate.whyHeldIn(dirname(entry)) : undefined);
  }

  /** Holds a module: the version in use stays, if there is one. */
  #hold(module: SkillModule, { files, skills, why }: HeldModule): LoadedEntry {
    const inUse = this.#inUse(module);
    if (inUse !== undefined) {
      const error = `${describeHeld(module.source, why)}. Until then, its version before the change stays in use`;
      return { ...inUse, errors: [{ error, isHeld: true }], files, signature: "" };
    }
    return { module, ...NO_SKILLS, held: skills, files, signature: "" };
  }

  /** Loads the saved skills one after the other: each can have a large file. */
  async #loadSaved(modules: readonly SkillModule[], since: number): Promise<readonly LoadedEntry[]> {
    const { saved: host } = this.#around;
    if (host === undefined) return [];
    const entries: LoadedEntry[] = [];
    for (const module of modules)
      entries.push(this.#unchanged(module) ?? (await this.#loadSavedModule(module, host, since)));
    return entries;
  }

  async #loadSavedModule(module: SkillModule, host: SavedHost, since: number): Promise<LoadedEntry> {
    const { source, entry } = module;
    const files = [entry];
    try {
      const content = await readSavedFile(entry);
      const why = await this.#location.gate?.whyHeld([[entry, content.digest]]);
      const { name, method } = content.file;
      if (why !== undefined)
        return this.#hold(module, { files, why, skills: [{ name, source, why, methods: [{ name: method }] }] });
      const inUse = this.#earlier(module)?.saved;
      const isSame = inUse?.digest === content.digest;
      const saved = isSame ? inUse : await openSavedModule(module, content, host, () => this.#changeLate());
      return { module, ...NO_SKILLS, saved, files, signature: computeSignature(files, since) };
    } catch (error) {
      return this.#withoutIt(module, error, undefined);
    }
  }

  async #load(
    module: SkillModule,
    preparation: Exclude<Preparation, { readonly kind: "held" }>,
    since: number,
  ): Promise<LoadedEntry> {
    if (preparation.kind === "failed") return this.#withoutIt(module, preparation.error, undefined);
    const { prepared } = preparation;
    const guidanceFiles = module.guidanceFile === undefined ? [] : [module.guidanceFile];
    const files = [...prepared.files, ...guidanceFiles];
    try {
      const isReload = this.#inUse(module) !== undefined;
      if (isReload && isEmpty(prepared))
        throw new SkillgateError("SKILL_INVALID", describeNothing(prepared.definitions));
      const [guidance] = await Promise.all(guidanceFiles.map(readGuidance));
      if (!isReload && this.#around.processes.importTimeoutMs < Infinity && hangingImports.has(prepared.bundle))
        return { ...this.#defer(module, prepared, guidance), files, signature: computeSignature(files, since) };
      const finish = (loaded: Loaded): LoadedEntry => {
        const created = createSkills({ module, prepared, loaded, guidance }, this.#around);
        const errors =
          guidance?.problem === undefined ? created.errors : [...created.errors, { error: guidance.problem }];
        return { module, ...created, errors, files, signature: computeSignature(files, since) };
      };
      const imported = await this.#import(module, prepared, isReload);
      if (!("slow" in imported)) return finish(imported);
      const early = isReload ? undefined : this.#offerEarly({ module, prepared, guidance }, imported.slow);
      if (early === undefined) return finish(await imported.slow);
      const signature = computeSignature(files, since);
      const rest = imported.slow
        .then(finish)
        .catch((error: unknown) => ({ ...this.#withoutSkills(module, error, prepared), files, signature }));
      return { module, ...early, files, signature, rest };
    } catch (error) {
      const entry = this.#withoutIt(module, error, prepared);
      return { ...entry, files, signature: computeSignature(files, since) };
    }
  }

  /**
   * Imports a module. Names of defined skills are known only after the import, so the module may then move to another
   * process.
   */
  async #import(
    module: SkillModule,
    prepared: Prepared,
    isReload: boolean,
  ): ReturnType<LoadEnvironment["processes"]["load"]> {
    const { processes } = this.#around;
    const names = namesIn(module, prepared);
    const order = createLoadRequest(module, prepared, isReload);
    processes.assign(order, names);
    const imported = await processes.load(order);
    const defined = "slow" in imported ? [] : imported.skills.map(({ name }) => name);
    const isMoved = defined.length > 0 && processes.assign(order, [...names, ...defined]);
    return isMoved ? processes.load(order) : imported;
  }

  /**
   * Creates the skills of a module whose import takes long; a call waits for it. `undefined` if the source does not tell all about
   * them: tools, settings and defined skills are known only after the import.
   */
  #offerEarly(parts: Omit<LoadedModule, "loaded">, slow: Promise<Loaded>): ModuleSkills | undefined {
    const isPlain = ([name]: readonly string[]): boolean => name === "name" || name === "description";
    if (!parts.prepared.definitions.values.every(isPlain)) return undefined;
    const deferred = { isImported: false, ensureImported: () => slow };
    const created = createSkills({ ...parts, loaded: assumeLoaded(parts.prepared), deferred }, this.#around);
    return created.skills.length === 0 ? undefined : { ...created, errors: [] };
  }

  /** Offers the skills of a module whose import did not finish; a call imports it again. */
  #defer(module: SkillModule, prepared: Prepared, guidance?: Guidance): Omit<LoadedEntry, "files" | "signature"> {
    const { root, processes } = this.#around;
    const request = createLoadRequest(module, prepared, false);
    const deferred = deferImport({ module, prepared, request }, processes, hangingImports);
    const loaded = assumeLoaded(prepared);
    const { skills } = createSkills({ module, prepared, loaded, guidance, deferred }, this.#around);
    const error = new ModuleFailure(describeHang(processes.importTimeoutMs, skills.length > 0));
    return { module, skills, unstarted: [], errors: [loadError(error, { module, root, bundle: prepared.bundle })] };
  }

  /** Handles a module that cannot be loaded: keeps the version in use, if there is one. */
  #withoutIt(module: SkillModule, error: unknown, prepared: Prepared | undefined): LoadedEntry {
    const inUse = this.#inUse(module);
    if (inUse === undefined) return this.#withoutSkills(module, error, prepared);
    return { ...inUse, errors: [this.#describe(module, error, prepared)], signature: "" };
  }

  /** Handles a module that cannot be loaded and has no version in use. One that did not finish is imported at a call. */
  #withoutSkills(module: SkillModule, error: unknown, prepared: Prepared | undefined): LoadedEntry {
    if (prepared !== undefined && error instanceof ModuleFailure && error.isTimeout) {
      hangingImports.add(prepared.bundle);
      return { ...this.#defer(module, prepared), files: prepared.files, signature: "" };
    }
    const errors = [this.#describe(module, error, prepared)];
    return { module, skills: [], errors, unstarted: namesIn(module, prepared), files: [module.entry], signature: "" };
  }

  #describe(module: SkillModule, error: unknown, prepared: Prepared | undefined): ModuleError {
    return loadError(error, { module, root: this.#around.root, bundle: prepared?.bundle });
  }

  #inUse(module: SkillModule): LoadedEntry | undefined {
    const earlier = this.#earlier(module);
    return earlier !== undefined && getSkills(earlier).length > 0 ? earlier : undefined;
  }
}

type Preparation =
  | { readonly kind: "prepared"; readonly prepared: Prepared }
  | ({ readonly kind: "held" } & HeldModule)
  | { readonly kind: "failed"; readonly error: unknown };

/** A module with files that are held. */
interface HeldModule {
  readonly files: readonly string[];
  readonly skills: readonly HeldSkill[];
  readonly why: string;
}

const NO_SKILLS: ModuleSkills = { skills: [], errors: [], unstarted: [] };

function getSkills({ skills, saved }: LoadedEntry): readonly DefinedSkill[] {
  return saved?.skills ?? skills;
}

function isEmpty({ definitions: { classes, functions, values } }: Prepared): boolean {
  return classes.length + functions.length + values.length === 0;
}

function describeHang(timeoutMs: number, isCallable: boolean): string {
  const next = isCallable
    ? "it is imported only when one of its methods is called, or when it changes"
    : "it is imported again when it changes, or after a day";
  return `at import, it did not finish within ${timeoutMs / 1_000} s; ${next}`;
}

function takenError({ name }: DefinedSkill, first: DefinedSkill): string {
  return sentence("SKILL_INVALID", `"${name}" is already taken by "${first.source}"`);
}

/** Returns the names of the skills that a failed module would have had. */
function namesIn({ stem }: SkillModule, prepared: Prepared | undefined): readonly string[] {
  const classes = prepared?.definitions.classes.map(({ name }) => name) ?? [];
  return classes.length > 0 ? classes : [prepared?.definitions.name ?? moduleToSkillName(stem)];
}

function listHeld(module: SkillModule, prepared: Prepared, why: string): readonly HeldSkill[] {
  const { classes, functions } = prepared.definitions;
  const { source } = module;
  return namesIn(module, prepared).map((name) => {
    const methods = classes.find((each) => each.name === name)?.methods ?? functions;
    return { name, source, why, methods: methods.map(({ definition }) => definition) };
  });
}
