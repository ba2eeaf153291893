import { readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

import type { DefinedSkill } from "../../../authoring/define-skill.ts";
import { createError, getMessage, type SkillgateError } from "../../../errors.ts";
import type { JsonSchema } from "../../../model/json.ts";
import type { Outcome } from "../../../model/outcome.ts";
import type { CallContext, LogLevel, MethodDefinition } from "../../../model/skill.ts";
import type { Space } from "../../../store/index.ts";
import type { SkillModule } from "../load/discover.ts";
import type { ModuleError } from "../module-skills.ts";
import { digestBytes } from "../source-files.ts";
import { addCount, MAX_FAILURES, readCounts, type SavedCounts } from "./saved-counts.ts";
import { MAX_FILE_BYTES, parseSavedFile, type SavedFile } from "./saved-file.ts";

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

/** Runs the programs of saved skills, which need no process of their own, and stores their counts. */
export interface SavedHost {
  /** Returns the program to run, which takes the parameters from `device.input()`. Throws `SKILL_INVALID`. */
  readonly readProgram: (source: string, parameters: readonly string[]) => string;
  readonly run: (run: ProgramExecution) => Promise<SavedOutcome>;
  readonly counts: Space;
  /** A skill that has passed so often is not marked as saved any more. */
  readonly requiredPasses: number;
  /** Limit of a run, in milliseconds. */
  readonly wallMs: number;
  readonly log: (level: LogLevel, text: string) => void;
}

/** A saved skill with its test. */
export interface SavedSkill {
  readonly file: SavedFile;
  /** The name of its file in the folder. */
  readonly source: string;
  readonly counts: SavedCounts;
}

/** The content of a file, and the digest of its bytes. */
export interface SavedContent {
  readonly file: SavedFile;
  readonly digest: string;
}

/** Reads a file. Throws `SKILL_INVALID` with the line of the mistake. */
export async function readSavedFile(path: string): Promise<SavedContent> {
  const { size } = await stat(path);
  if (size > MAX_FILE_BYTES) throw invalid(`it has ${size} bytes; at most ${MAX_FILE_BYTES} are read`);
  const bytes = await readFile(path);
  return { file: parseSavedFile(bytes.toString("utf8")), digest: digestBytes(bytes) };
}

/** Creates the skill of a file. `onChange` is called when its counts change what it offers. Throws `SKILL_INVALID`. */
export async function openSavedModule(
  module: SkillModule,
  content: SavedContent,
  host: SavedHost,
  onChange: () => void,
): Promise<SavedModule> {
  const { source, parameters } = content.file;
  const program = host.readProgram(source, Object.keys(parameters));
  const counts = await readCounts(host.counts, module.source, content.digest);
  return new SavedModule({ ...content, ...module, program, counts }, host, onChange);
}

interface SavedModuleParts extends SavedContent, SkillModule {
  /** The program as it is executed. */
  readonly program: string;
  readonly counts: SavedCounts;
}

/** The skill of a file: marked until it has passed often enough, and not offered any more when it has failed too often. */
export class SavedModule implements SavedSkill {
  readonly #parts: SavedModuleParts;
  readonly #host: SavedHost;
  readonly #onChange: () => void;
  #counts: SavedCounts;
  #skills: readonly DefinedSkill[];

  constructor(parts: SavedModuleParts, host: SavedHost, onChange: () => void) {
    this.#parts = parts;
    this.#host = host;
    this.#onChange = onChange;
    this.#counts = parts.counts;
    this.#skills = this.#createSkills();
  }

  get file(): SavedFile {
    return this.#parts.file;
  }

  get source(): string {
    return this.#parts.source;
  }

  get digest(): string {
    return this.#parts.digest;
  }

  get counts(): SavedCounts {
    return this.#counts;
  }

  /** The path of the record that tests the skill. */
  get cassettePath(): string {
    return join(dirname(this.#parts.entry), this.file.cassette);
  }

  /** The skill, which is the same object until it loses its mark. */
  get skills(): readonly DefinedSkill[] {
    return this.#skills;
  }

  get errors(): readonly ModuleError[] {
    if (this.#state !== "demoted") return [];
    const { failures, why } = this.#counts;
    const { message } = invalid(`${this.file.name} failed ${failures} times in succession, last because it ${why}`);
    return [{ error: message, fix: `Edit ${this.source}, or save the skill again from another run` }];
  }

  /** Counts a pass, or a failure with its reason. */
  async count(failure: string | undefined): Promise<void> {
    const { counts: before, source: file, digest } = this;
    // A skill that is trusted and does not fail is not counted further.
    if (failure === undefined && before.failures === 0 && this.#state === "trusted") return;
    const counts = await addCount(this.#host.counts, { file, digest }, failure);
    const state = this.#state;
    this.#counts = counts;
    if (this.#state === state) return;
    this.#skills = this.#createSkills();
    this.#onChange();
  }

  get #state(): "marked" | "trusted" | "demoted" {
    const { passes, failures } = this.#counts;
    if (failures >= MAX_FAILURES) return "demoted";
    return passes < this.#host.requiredPasses ? "marked" : "trusted";
  }

  #createSkills(): readonly DefinedSkill[] {
    if (this.#state === "demoted") return [];
    const { file, source, digest } = this.#parts;
    const { requiredPasses, wallMs } = this.#host;
    const description = this.#state === "marked" ? `[saved] ${file.description}` : file.description;
    const parameters = Object.keys(file.parameters);
    const method: MethodDefinition = {
      name: file.method,
      description,
      input: { type: "object", properties: file.parameters, required: parameters, additionalProperties: false },
      metadata: { timeoutMs: wallMs, ...file.metadata },
      fileDigest: digest,
    };
    const skill: DefinedSkill = {
      name: file.name,
      description,
      source,
      kind: "file",
      saved: { run: file.run, requiredPasses, getPasses: () => this.#counts.passes },
      methods: Object.freeze([Object.freeze(method)]),
      invoke: (_method, input, context) => this.#invoke({ input, inputSchema: method.input, context }),
      health: async () => ({ healthy: true, message: "ok" }),
    };
    return [Object.freeze(skill)];
  }

  async #invoke(call: Pick<ProgramExecution, "input" | "inputSchema" | "context">): Promise<unknown> {
    const { file, program: source } = this.#parts;
    const path = `${file.name}.${file.method}`;
    const { outcome, isOwnFailure } = await this.#host.run({ path, source, ...call });
    if (outcome.kind === "completed") {
      await this.#tryCount(undefined);
      if (outcome.output !== "") call.context.log("info", outcome.output);
      for (const note of outcome.notes) call.context.addNote?.(note);
      return outcome.value;
    }
    const reason = getReason(outcome);
    if (isOwnFailure) await this.#tryCount(reason);
    throw createError("CALL_FAILED", `the program of ${path} ${reason}`);
  }

  /** A store that cannot be written does not change the result of a call. */
  async #tryCount(failure: string | undefined): Promise<void> {
    await this.count(failure).catch((error: unknown) =>
      this.#host.log("warn", `Cannot count the runs of ${this.file.name}: ${getMessage(error)}`),
    );
  }
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
  return createError("SKILL_INVALID", why);
}
