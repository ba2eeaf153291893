import { existsSync } from "node:fs";
import { join, relative } from "node:path";

import {
  type AutomationContent,
  type AutomationFile,
  createAutomationError,
  formatAutomationFile,
  parseAutomationFile,
} from "../../../automations/index.ts";
import { createError, type SkillgateError } from "../../../errors.ts";
import { OWNER } from "../../../model/caller.ts";
import type { JsonSchema } from "../../../model/json.ts";
import type { Plan } from "../../../model/plan.ts";
import { MASK } from "../../../shared/masks/mask.ts";
import type { RunApi } from "../../api/run.ts";
import type { RecordedProgram, SavedSkills } from "../../saved/index.ts";
import type { AutomationEntry } from "../automation-files.ts";
import { getAutomationFile } from "../file-contents.ts";
import { findWebhookConflict } from "../webhook-conflict.ts";
import { listPlannedCalls, type AutomationCall } from "../review.ts";
import type { AuthoringParts } from "./parts.ts";
import { writeFiles } from "./write-files.ts";

/** An automation to write, from a recorded run that worked or from a program. */
export interface AutomationToSave {
  readonly name: string;
  /** Name or id of an API key. It may be created later. */
  readonly key: string;
  readonly from:
    | {
        /** The id of a run. */
        readonly run: string;
        /** Literals of its program that become its input: `city`, or `city=Berlin` for the one with that value. */
        readonly parameters?: readonly string[];
      }
    | { readonly source: string; readonly input?: JsonSchema };
  /** The methods that it calls, by default. */
  readonly description?: string;
  /** The sections of the file, as they are written there. */
  readonly schedule?: Readonly<Record<string, unknown>>;
  readonly webhook?: Readonly<Record<string, unknown>>;
  readonly limits?: Readonly<Record<string, unknown>>;
  /** True if the automation of this name may be replaced. */
  readonly mayReplace?: boolean;
}

/** An automation whose files were written. It runs after `accept`. */
export interface SavedAutomation {
  readonly name: string;
  /** The automation, and the record of its run if it has one. Absolute. */
  readonly files: readonly string[];
  readonly calls: readonly AutomationCall[];
  /** JSON Schema by the name of the parameter. */
  readonly parameters: Readonly<Record<string, JsonSchema>>;
  /** The parameters of the recorded run, by name. */
  readonly example: Readonly<Record<string, unknown>>;
}

export interface SavingParts extends AuthoringParts {
  readonly check: RunApi["checkTexts"];
  readonly toProgram: SavedSkills["toProgram"];
  /** Returns the automation whose webhook has an id. */
  readonly findOwner: (id: string) => Promise<string | undefined>;
}

/** Writes the files of an automation. Throws `AUTOMATION_INVALID`, `SAVE_INVALID`, `RUN_NOT_FOUND`, `OPTION_INVALID` for a name in use. */
export async function saveAutomation(automation: AutomationToSave, parts: SavingParts): Promise<SavedAutomation> {
  const { name, from } = automation;
  const { automationsDir: folder } = parts.settings;
  await parts.providers.whenKnown();
  await requireFreeName(automation, parts);
  const program =
    "run" in from
      ? { run: from.run, ...(await parts.toProgram(from.run, from.parameters ?? [])) }
      : { source: from.source, input: from.input };
  const { values = {}, parameters = {}, cassetteText } = "run" in program ? program : {};
  const { plan } = await checkProgram(program.source, parts);
  const calls = listPlannedCalls(plan, parts.registry.viewFor(OWNER));
  const text = formatAutomationFile(describeContent(automation, program, calls));
  await requireOwnWebhook(name, parseAutomationFile(name, text).webhook, parts);
  const file = getAutomationFile(folder, name);
  const cassette = join(folder, getCassetteName(name));
  const texts = new Map<string, string | undefined>([[file, text]]);
  // A record of an earlier program would not test this one.
  if (cassetteText !== undefined || existsSync(cassette)) texts.set(cassette, cassetteText);
  await writeFiles(texts, parts.settings, (path, before) => {
    if (path === file && before !== undefined && automation.mayReplace !== true) throw createTakenError(file, parts);
  });
  await parts.files.refresh();
  const files = cassetteText === undefined ? [file] : [file, cassette];
  return { name, files, calls, parameters, example: values };
}

/** Compares also with files that were not accepted yet: only one of them could be. */
async function requireOwnWebhook(
  name: string,
  webhook: AutomationFile["webhook"],
  { files, findOwner }: SavingParts,
): Promise<void> {
  const findAny = async (id: string): Promise<string | undefined> => {
    const owner = await findOwner(id);
    if (owner !== undefined) return owner;
    return files.list().find((entry) => entry.name !== name && getWebhookId(entry) === id)?.name;
  };
  const conflict = await findWebhookConflict(name, webhook, findAny);
  if (conflict !== undefined) throw createAutomationError(`${name}: ${conflict}`);
}

function getWebhookId(entry: AutomationEntry): string | undefined {
  if (entry.kind !== "file" || entry.file.webhook === undefined) return undefined;
  return entry.file.webhook.id ?? entry.name;
}

export function getCassetteName(name: string): string {
  return `${name}.cassette.json`;
}

function createTakenError(
  file: string,
  { settings: { cwd } }: { readonly settings: Pick<AuthoringParts["settings"], "cwd"> },
): SkillgateError {
  return refuseName(
    `${relative(cwd, file)} already exists; choose another name, or replace it with --force (in a program: mayReplace)`,
  );
}

async function requireFreeName(
  { name, mayReplace = false }: AutomationToSave,
  { settings: { automationsDir, cwd }, files, database }: AuthoringParts,
): Promise<void> {
  await files.refresh();
  const row = await (await database.open()).automations.get(name);
  if (row?.state === "proposed")
    throw refuseName(
      `there is a proposal ${name} by ${row.by}; accept or remove it: skillgate automation accept ${name}`,
    );
  const file = getAutomationFile(automationsDir, name);
  if (mayReplace || (files.get(name) === undefined && !existsSync(file))) return;
  throw createTakenError(file, { settings: { cwd } });
}

const refuseName = (why: string): SkillgateError => createError("OPTION_INVALID", why);

async function checkProgram(source: string, { check }: SavingParts): Promise<{ readonly plan: Plan }> {
  const { violations, plan } = await check(source);
  const [first] = violations;
  if (first === undefined) return { plan };
  throw createAutomationError(`its program is refused at line ${first.line}: ${first.message}`);
}

type ProgramToSave =
  | ({ readonly run: string } & RecordedProgram)
  | { readonly source: string; readonly input: JsonSchema | undefined };

function describeContent(
  { name, key, description, schedule, webhook, limits }: AutomationToSave,
  program: ProgramToSave,
  calls: readonly AutomationCall[],
): AutomationContent {
  const { parameters = {}, values = {} } = "run" in program ? program : {};
  const hasParameters = Object.keys(parameters).length > 0;
  return {
    description: description ?? describeCalls(calls),
    key,
    // A webhook gives its delivery as the input.
    input: webhook !== undefined ? undefined : "run" in program ? toInputSchema(parameters) : program.input,
    schedule:
      schedule !== undefined && hasParameters && webhook === undefined
        ? { ...schedule, input: schedule["input"] ?? requireOpen(values) }
        : schedule,
    webhook,
    limits,
    plan: calls.length === 0 ? undefined : calls.map(({ path, effect }) => ({ [path]: effect })),
    ...("run" in program && { run: program.run, cassette: getCassetteName(name) }),
    source: program.source,
  };
}

function toInputSchema(parameters: Readonly<Record<string, JsonSchema>>): JsonSchema | undefined {
  const names = Object.keys(parameters);
  return names.length === 0 ? undefined : { type: "object", properties: parameters, required: names };
}

/** Returns the values that a schedule gives to each run. Throws for a secret, which is masked in the record. */
function requireOpen(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const secret = Object.entries(values).find(([, value]) => JSON.stringify(value).includes(MASK));
  if (secret === undefined) return values;
  throw createAutomationError(
    `its parameter ${secret[0]} is a secret, which must not be in a file, and a schedule has nothing else to give it; make it a setting of the skill that the program calls`,
  );
}

const MAX_NAMED = 4;

function describeCalls(calls: readonly AutomationCall[]): string {
  if (calls.length === 0) return "Computes a value";
  const paths = calls.slice(0, MAX_NAMED).map(({ path }) => path);
  const others = calls.length - paths.length;
  return `Calls ${paths.join(", ")}${others > 0 ? ` and ${others} more` : ""}`;
}
