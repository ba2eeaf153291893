import type { Catalog } from "../../model/catalog.ts";
import type { JsonSchema } from "../../model/json.ts";
import type { SavedModule, SavedSkill } from "../../providers/skills/index.ts";
import { createError, SkillgateError } from "../../errors.ts";
import type { Cassette } from "../../runs/index.ts";
import type { KnownSecrets } from "../../shared/secrets.ts";
import { maskRecord } from "./mask-record.ts";
import type { RunReplays } from "../execution/replay.ts";
import { createSaveError, type ParameterizedProgram } from "./parameterize.ts";
import { createSavedFile, createSavedProgram, type SavedProgram, type SaveOptions } from "./save-run.ts";
import { testSavedSkill } from "./test-saved.ts";

export { SavedCalls, type SavedExecution } from "./saved-calls.ts";
export { readSavedProgram } from "./saved-program.ts";

/** The files of a saved skill, and what its parameters were. */
export interface SkillTexts {
  readonly skillText: string;
  readonly cassetteText: string;
  readonly parameters: Readonly<Record<string, JsonSchema>>;
  /** The arguments of the recorded run, by name. */
  readonly example: Readonly<Record<string, unknown>>;
}

/** The program of a run with its parameters, and the record that tests it. */
export interface RecordedProgram extends ParameterizedProgram {
  readonly cassetteText: string;
}

/** The skills that were saved from runs. */
export interface SavedSkills {
  /** All saved skills of the folder, also those that are not used because they failed. */
  list(): readonly SavedSkill[];
  /**
   * Executes the program of a saved skill with the recorded answers of its run, and counts the result. Resolves to why it
   * failed; to `undefined` if it passed. Throws `SKILL_UNKNOWN`.
   */
  test(name: string): Promise<string | undefined>;
  /**
   * Returns the files of a skill that does what a run did, with its secrets masked. Writes nothing. Throws `RUN_NOT_FOUND`, and
   * `SAVE_INVALID` for a run that did not work, or that is not the same with its secrets masked.
   */
  save(run: string, options: SaveOptions): Promise<SkillTexts>;
  /** Returns the program of a run, whose literals become the parameters. Throws as `save` does. */
  toProgram(run: string, parameters: readonly string[]): Promise<RecordedProgram>;
}

interface SavedSkillsOptions {
  readonly list: () => readonly SavedModule[];
  readonly getCatalog: () => Catalog;
  readonly runs: RunReplays;
  readonly secrets: KnownSecrets;
}

export function createSavedSkills({ list, getCatalog, runs, secrets }: SavedSkillsOptions): SavedSkills {
  const toProgram = async (run: string, parameters: readonly string[]): Promise<SavedProgram & RecordedProgram> => {
    const recorded = await maskRecord(await runs.cassette(run), secrets);
    const program = createSavedProgram(recorded, parameters, getCatalog());
    const repeated = await repeatSaved(program.cassette, program.source, runs);
    return { ...program, cassetteText: `${JSON.stringify(repeated)}\n` };
  };
  return {
    list,
    async test(name) {
      const skill = list().find(({ file }) => file.name === name);
      if (skill === undefined) throw createError("SKILL_UNKNOWN", name);
      const failure = await testSavedSkill(skill, runs);
      await skill.count(failure);
      return failure;
    },
    async save(run, options) {
      const program = await toProgram(run, options.parameters);
      const { formatSavedFile } = await import("../../providers/skills/index.ts");
      const { cassetteText, parameters, values: example } = program;
      const skillText = formatSavedFile(createSavedFile(program, options));
      return { skillText, cassetteText, parameters, example };
    },
    toProgram,
  };
}

/** Returns the cassette of a program with parameters. Throws `SAVE_INVALID` if that does not do what the run did. */
async function repeatSaved(cassette: Cassette, source: string, runs: RunReplays): Promise<Cassette> {
  try {
    return await runs.withSource(cassette, source);
  } catch (error) {
    if (!(error instanceof SkillgateError)) throw error;
    throw createSaveError(`with its secrets masked and its parameters declared, it is not the same (${error.message})`);
  }
}
