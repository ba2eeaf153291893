import { existsSync } from "node:fs";
import { join } from "node:path";

import { createQueue } from "../../../shared/threads/queue.ts";
import { type Caller, OWNER, requireAdmin } from "../../../model/caller.ts";
import type { RuntimeParts } from "../../api/parts.ts";
import type { RunApi } from "../../api/run.ts";
import type { Runs } from "../../execution/runs.ts";
import type { SavedSkills } from "../../saved/index.ts";
import type { AutomationFiles } from "../automation-files.ts";
import { getAutomationFile } from "../file-contents.ts";
import { createHeldError, createUnknownError } from "../life.ts";
import { type AutomationText, readAutomationText, replaceAutomationText } from "./edit.ts";
import type { AuthoringParts } from "./parts.ts";
import { type AutomationProposal, proposeAutomation, type ProposedAutomation } from "./propose.ts";
import {
  type AutomationToSave,
  getCassetteName,
  saveAutomation,
  type SavedAutomation,
  type SavingParts,
} from "./save.ts";
import { type AutomationTest, testAutomation } from "./test.ts";
import { writeFiles } from "./write-files.ts";

export { writeAutomation } from "./write-files.ts";
export type {
  AutomationProposal,
  AutomationTest,
  AutomationText,
  AutomationToSave,
  ProposedAutomation,
  RemovedAutomation,
  SavedAutomation,
};

/** Writes, tests and removes automations. */
export interface AutomationAuthoring {
  /**
   * Writes an automation from a recorded run that worked, or from a program. It runs after `accept`. Throws `AUTOMATION_INVALID`,
   * `SAVE_INVALID`, `RUN_NOT_FOUND`, and `OPTION_INVALID` for a name in use.
   */
  save(automation: AutomationToSave, options?: { readonly caller?: Caller }): Promise<SavedAutomation>;
  /** Reads the file of an automation, also one that cannot be used. Throws `AUTOMATION_UNKNOWN`, `AUTOMATION_INVALID`. */
  readText(name: string, options?: { readonly caller?: Caller }): Promise<AutomationText>;
  /**
   * Replaces the file of an automation if its text still has this digest. It runs after `accept`. Throws `AUTOMATION_UNKNOWN`,
   * `AUTOMATION_INVALID` with the line of a mistake, and `AUTOMATION_HELD` for a file that has changed.
   */
  replaceText(name: string, text: AutomationText, options?: { readonly caller?: Caller }): Promise<void>;
  /**
   * Executes the program of an automation with the recorded answers of its run, so that nothing is called; with another input, its
   * outcome may differ. Throws `AUTOMATION_UNKNOWN`, `AUTOMATION_INVALID`, `INPUT_INVALID`.
   */
  test(name: string, options?: { readonly caller?: Caller; readonly input?: unknown }): Promise<AutomationTest>;
  /** True if callers can propose automations: the setting `automations.proposals`. */
  readonly acceptsProposals: boolean;
  /**
   * Stores an automation that a person must accept: nothing runs, and no file is written. Any caller may do this. Throws
   * `AUTOMATION_INVALID`, and `AUTOMATION_HELD` if proposals are off or too many wait.
   */
  propose(proposal: AutomationProposal, options?: { readonly caller?: Caller }): Promise<ProposedAutomation>;
  /** Removes an automation or a proposal, with its files, its history and its stored values. Throws `AUTOMATION_UNKNOWN`. */
  remove(name: string, options?: { readonly caller?: Caller }): Promise<RemovedAutomation>;
}

interface AuthoringOptions {
  readonly parts: RuntimeParts;
  readonly run: Pick<RunApi, "checkTexts">;
  readonly runs: Pick<Runs, "record" | "replay">;
  readonly savedSkills: Pick<SavedSkills, "toProgram">;
}

export function createAuthoring(
  options: AuthoringOptions,
  files: AutomationFiles,
  findOwner: SavingParts["findOwner"],
): AutomationAuthoring {
  const { runs } = options;
  const { log } = options.parts;
  const { checkTexts: check } = options.run;
  const { toProgram } = options.savedSkills;
  const parts: SavingParts = { ...options.parts, files, check, toProgram, findOwner };
  /** One change after the other: each sees the files of those before it. */
  const inTurn = createQueue();
  return {
    async save(automation, { caller = OWNER } = {}) {
      requireAdmin(caller, "ManageServers");
      if ("run" in automation.from) await runs.record(automation.from.run, { caller });
      const saved = await inTurn(() => saveAutomation(automation, parts));
      log("info", `${caller.id} has written the automation ${saved.name}`);
      return saved;
    },
    async readText(name, { caller = OWNER } = {}) {
      requireAdmin(caller, "ManageServers");
      return readAutomationText(name, parts);
    },
    async replaceText(name, text, { caller = OWNER } = {}) {
      requireAdmin(caller, "ManageServers");
      await inTurn(() => replaceAutomationText(name, text, parts));
      log("info", `${caller.id} has changed the file of the automation ${name}`);
    },
    async test(name, { caller = OWNER, input } = {}) {
      requireAdmin(caller, "Read");
      return testAutomation(name, input, { ...parts, replay: runs.replay });
    },
    acceptsProposals: options.parts.settings.automations.proposals,
    async propose(proposal, { caller = OWNER } = {}) {
      if (!options.parts.settings.automations.proposals)
        throw createHeldError(
          "proposals are off; a person can allow them in the settings: automations.proposals: true",
        );
      const { secrets } = options.parts;
      const hasSecret = (text: string): boolean => secrets.maskText(text) !== text;
      const proposed = await inTurn(() => proposeAutomation(proposal, caller, { ...parts, hasSecret }));
      log("info", `${caller.id} proposes the automation ${proposed.name}`);
      return proposed;
    },
    async remove(name, { caller = OWNER } = {}) {
      requireAdmin(caller, "ManageServers");
      const removed = await inTurn(() => removeAutomation(name, parts));
      log("info", `${caller.id} has removed the automation ${name}`);
      return removed;
    },
  };
}

/** An automation that was removed with its history. */
interface RemovedAutomation {
  readonly name: string;
  /** The files that were deleted. Absolute. */
  readonly files: readonly string[];
  /** The number of values of `device.store` that were deleted. */
  readonly values: number;
}

/**
 * Removes an automation or a proposal: its files, and what the store has of it, which includes the values of its programs. Also
 * deletes the values of an automation whose file was deleted by hand. Throws `AUTOMATION_UNKNOWN`.
 */
async function removeAutomation(name: string, parts: AuthoringParts): Promise<RemovedAutomation> {
  const { files, settings, database, programStore } = parts;
  await files.refresh();
  const { automations } = await database.open();
  const isKnown = files.get(name) !== undefined || (await automations.get(name)) !== undefined;
  const existing = isKnown ? listOwnFiles(name, settings.automationsDir) : [];
  try {
    if (existing.length > 0) await writeFiles(new Map(existing.map((file) => [file, undefined])), settings);
  } finally {
    // After its files, as another process that accepts it meanwhile looks for them. Without its row nothing of it begins, also
    // if a file cannot be deleted.
    await automations.delete(name);
  }
  const values = await programStore.deleteAll(name);
  if (!isKnown && values === 0) {
    const stored = (await automations.list()).map((each) => each.name);
    throw createUnknownError(name, [...new Set([...files.listNames(), ...stored])]);
  }
  await files.refresh();
  return { name, files: existing, values };
}

function listOwnFiles(name: string, folder: string): readonly string[] {
  return [getAutomationFile(folder, name), join(folder, getCassetteName(name))].filter((file) => existsSync(file));
}
