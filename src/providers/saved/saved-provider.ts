import { lstat, readdir, readFile, realpath } from "node:fs/promises";
import { join } from "node:path";

import { getMessage, sentence, SkillgateError } from "../../errors.ts";
import type { JsonSchema } from "../../model/json.ts";
import type { Outcome } from "../../model/outcome.ts";
import type { Problem, Provider, HeldSkill, SkillGate } from "../../model/provider.ts";
import type { CallContext, LogLevel, MethodDefinition, ProvidedSkill } from "../../model/skill.ts";
import { watchFolder } from "../../shared/watch-file.ts";
import type { Space } from "../../store/index.ts";
import { addCount, hashFile, type SavedCounts, MAX_FAILURES, readCounts } from "./saved-counts.ts";
import { type SavedFile, MAX_FILE_BYTES, parseSavedFile } from "./saved-file.ts";
import { readSavedProgram } from "./saved-program.ts";

/** One execution of the program of a saved skill. */
export interface ProgramExecution {
  /** `Skill.method`. */
  readonly path: string;
  readonly source: string;
  /** The arguments of the call by name, and their schema. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly inputSchema: JsonSchema;
  /** The call that asks for it: the program runs on behalf of its caller, and ends with it. */
  readonly context: CallContext;
}

/** The outcome, and whether a failure is one of the program. A caller without a permission is no reason to demote a skill. */
export interface SavedOutcome {
  readonly outcome: Outcome;
  readonly isOwnFailure: boolean;
}

export interface SavedOptions {
  readonly run: (run: ProgramExecution) => Promise<SavedOutcome>;
  readonly counts: Space;
  /** A skill that has passed so often is not marked as saved any more. */
  readonly requiredPasses: number;
  /** Limit of a run, in milliseconds. */
  readonly wallMs: number;
  /** Follows changes of the files. */
  readonly watch: boolean;
  readonly log: (level: LogLevel, text: string) => void;
  /** Decides which files may be used; without it, all may. */
  readonly gate?: SkillGate | undefined;
}

/** A saved skill with its test. */
export interface SavedSkill {
  readonly file: SavedFile;
  /** The name of its file in the folder. */
  readonly source: string;
  readonly counts: SavedCounts;
}

export interface SavedProvider extends Provider {
  /** All saved skills, also those that are not used because they failed. */
  readonly saved: readonly SavedSkill[];
  /** Counts the result of a test; `failure` is why it failed. Throws `SKILL_UNKNOWN`. */
  count(name: string, failure: string | undefined): Promise<SavedCounts>;
}

/** True for the name of a file with a saved skill. */
function isSavedFile(name: string): boolean {
  return /^[^._].*\.(?:saved|learned)\.ya?ml$/.test(name);
}

const MAX_FILES = 500;

/** Loads the saved skills of a folder. Files that cannot be used are problems. */
export async function loadSavedSkills(dir: string, options: SavedOptions): Promise<SavedProvider> {
  const folder = new SavedFolder(dir, options);
  await folder.refresh();
  return folder;
}

interface SavedEntry {
  readonly file: SavedFile;
  readonly source: string;
  readonly digest: string;
  /** The program as it is executed. */
  readonly program: string;
  counts: SavedCounts;
}

class SavedFolder implements SavedProvider {
  readonly #dir: string;
  readonly #options: SavedOptions;
  readonly #listeners = new Set<() => void>();
  readonly #skills = new WeakMap<SavedEntry, ProvidedSkill>();
  #entries: readonly SavedEntry[] = [];
  #heldSkills: readonly HeldSkill[] = [];
  #refused: readonly Problem[] = [];
  #stopWatching = (): void => {};

  constructor(dir: string, options: SavedOptions) {
    this.#dir = dir;
    this.#options = options;
    if (!options.watch) return;
    const fail = (error: unknown): void => options.log("warn", `Cannot follow saved skills: ${getMessage(error)}`);
    this.#stopWatching = watchFolder(dir, isSavedFile, {
      onChange: () => void this.#follow().catch(fail),
      onFailure: fail,
    });
  }

  get skills(): readonly ProvidedSkill[] {
    return this.#entries.filter(({ counts }) => !isDemoted(counts)).map((entry) => this.#getSkill(entry));
  }

  get problems(): readonly Problem[] {
    const demoted = this.#entries.filter(({ counts }) => isDemoted(counts));
    return [...this.#refused, ...demoted.map(toDemotion)];
  }

  get heldSkills(): readonly HeldSkill[] {
    return this.#heldSkills;
  }

  get saved(): readonly SavedSkill[] {
    return this.#entries;
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  async close(): Promise<void> {
    this.#stopWatching();
  }

  async #follow(): Promise<void> {
    await this.#options.gate?.refresh();
    await this.refresh();
  }

  /** Reads the folder. Unchanged files keep their skills. */
  async refresh(): Promise<void> {
    const names = (await readdir(this.#dir).catch(() => [])).filter(isSavedFile).toSorted();
    const refused: Problem[] = names
      .slice(MAX_FILES)
      .map((source) => ({ source, error: invalid(`there are more than ${MAX_FILES} saved skills`).message }));
    const entries: SavedEntry[] = [];
    const heldSkills: HeldSkill[] = [];
    for (const source of names.slice(0, MAX_FILES)) {
      try {
        const entry = await this.#load(source);
        if ("digest" in entry) entries.push(entry);
        else heldSkills.push(entry);
      } catch (error) {
        const reason =
          error instanceof SkillgateError ? error : invalid(getMessage(error).replace(/, \w+ '[^']*'$/, ""));
        refused.push({ source, error: reason.message });
      }
    }
    this.#entries = entries;
    this.#heldSkills = heldSkills;
    this.#refused = refused;
    for (const listener of this.#listeners) listener();
  }

  async count(name: string, failure: string | undefined): Promise<SavedCounts> {
    const entry = this.#entries.find(({ file }) => file.name === name);
    if (entry === undefined) throw new SkillgateError("SKILL_UNKNOWN", sentence("SKILL_UNKNOWN", name));
    return this.#count(entry, failure);
  }

  /** A file that is held leaves the version in use as it is. */
  async #load(source: string): Promise<SavedEntry | HeldSkill> {
    const path = join(this.#dir, source);
    const facts = await lstat(path);
    if (!facts.isFile()) throw invalid("it is not a regular file");
    if (facts.size > MAX_FILE_BYTES) throw invalid(`it has ${facts.size} bytes; at most ${MAX_FILE_BYTES} are read`);
    const text = await readFile(path, "utf8");
    const digest = hashFile(text);
    const before = this.#entries.find((entry) => entry.source === source);
    if (before?.digest === digest) return before;
    const why = await this.#options.gate?.whyHeld([[await realpath(path), digest]]);
    if (why !== undefined && before !== undefined) return before;
    const file = parseSavedFile(text);
    if (why !== undefined) return { name: file.name, source, why, methods: [{ name: file.method }] };
    const program = readSavedProgram(file.source, Object.keys(file.parameters));
    const counts = await readCounts(this.#options.counts, source, digest);
    return { file, source, digest, program, counts };
  }

  /** Returns the skill of an entry: always the same object, until it loses its mark. */
  #getSkill(entry: SavedEntry): ProvidedSkill {
    const skill = this.#skills.get(entry) ?? this.#createSkill(entry);
    this.#skills.set(entry, skill);
    return skill;
  }

  #createSkill(entry: SavedEntry): ProvidedSkill {
    const { file, source } = entry;
    const { requiredPasses, wallMs } = this.#options;
    const isMarked = entry.counts.passes < requiredPasses;
    const description = isMarked ? `[saved] ${file.description}` : file.description;
    const parameters = Object.keys(file.parameters);
    const method: MethodDefinition = {
      name: file.method,
      description,
      input: { type: "object", properties: file.parameters, required: parameters, additionalProperties: false },
      metadata: { timeoutMs: wallMs, ...file.metadata },
      fileDigest: entry.digest,
    };
    return Object.freeze<ProvidedSkill>({
      name: file.name,
      description,
      source,
      kind: "file",
      saved: { run: file.run, requiredPasses, getPasses: () => entry.counts.passes },
      methods: Object.freeze([Object.freeze(method)]),
      invoke: (_method, input, context) => this.#invoke(entry, { input, inputSchema: method.input }, context),
    });
  }

  async #invoke(
    entry: SavedEntry,
    input: Pick<ProgramExecution, "input" | "inputSchema">,
    context: CallContext,
  ): Promise<unknown> {
    const path = `${entry.file.name}.${entry.file.method}`;
    const { outcome, isOwnFailure } = await this.#options.run({ path, source: entry.program, ...input, context });
    if (outcome.kind === "completed") {
      await this.#tryCount(entry, undefined);
      if (outcome.output !== "") context.log("info", outcome.output);
      for (const note of outcome.notes) context.addNote?.(note);
      return outcome.value;
    }
    const reason = getReason(outcome);
    if (isOwnFailure) await this.#tryCount(entry, reason);
    throw new SkillgateError("CALL_FAILED", sentence("CALL_FAILED", `the program of ${path} ${reason}`));
  }

  /** A store that cannot be written does not change the result of a call. */
  async #tryCount(entry: SavedEntry, failure: string | undefined): Promise<void> {
    await this.#count(entry, failure).catch((error: unknown) =>
      this.#options.log("warn", `Cannot count the runs of ${entry.file.name}: ${getMessage(error)}`),
    );
  }

  async #count(entry: SavedEntry, failure: string | undefined): Promise<SavedCounts> {
    const { counts: before, source: file, digest } = entry;
    const { requiredPasses, counts: space } = this.#options;
    // A skill that is trusted and does not fail is not counted further.
    if (failure === undefined && before.failures === 0 && before.passes >= requiredPasses) return before;
    const counts = await addCount(space, { file, digest }, failure);
    entry.counts = counts;
    if (!this.#entries.includes(entry)) return counts;
    const isPromoted = before.passes < requiredPasses && counts.passes >= requiredPasses;
    if (isPromoted) this.#skills.delete(entry);
    if (isPromoted || isDemoted(before) !== isDemoted(counts)) for (const listener of this.#listeners) listener();
    return counts;
  }
}

function isDemoted({ failures }: SavedCounts): boolean {
  return failures >= MAX_FAILURES;
}

function toDemotion({ source, file, counts }: SavedEntry): Problem {
  const why = `${file.name} failed ${counts.failures} times in succession, last because it ${counts.why}`;
  return { source, error: invalid(why).message, fix: `Edit ${source}, or save the skill again from another run` };
}

function getReason(outcome: Exclude<Outcome, { readonly kind: "completed" }>): string {
  switch (outcome.kind) {
    case "failed": {
      const { line, message } = outcome.error;
      return line > 0 ? `failed at line ${line}: ${message}` : `failed: ${message}`;
    }
    case "refused":
      return `was refused: ${outcome.violations[0]?.message ?? "it is not valid"}`;
    case "waiting":
      return "waits for a person";
  }
}

function invalid(why: string): SkillgateError {
  return new SkillgateError("SKILL_INVALID", sentence("SKILL_INVALID", why));
}
