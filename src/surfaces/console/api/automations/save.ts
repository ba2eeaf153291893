import { basename } from "node:path";

import { SkillgateError } from "../../../../errors.ts";
import { isRecord } from "../../../../model/json.ts";
import type { AutomationToSave, RuntimeView, SavedAutomation } from "../../../../runtime/api/view.ts";
import type { SavedAutomationFacts } from "../../automation-messages.ts";
import { type ConsoleRequest, type JsonObject, readSource, readText, readTexts } from "../../endpoints.ts";
import { invalidRequest } from "../../problem.ts";

const MAX_PARAMETERS = 50;

/** Writes the file of an automation from a run that worked, or from its program if the run was not recorded. */
export async function saveAutomation({
  view,
  readBody,
}: Pick<ConsoleRequest, "view" | "readBody">): Promise<SavedAutomationFacts> {
  view.require("ManageServers");
  const body = await readBody();
  const parameters = readTexts(body, "parameters");
  if (parameters.length > MAX_PARAMETERS) throw invalidRequest(`parameters must have at most ${MAX_PARAMETERS} texts`);
  const { description } = body;
  const automation = {
    name: readText(body, "name"),
    key: readText(body, "key"),
    ...(typeof description === "string" && description !== "" && { description }),
    ...readSection(body, "schedule"),
    ...readSection(body, "webhook"),
  };
  const { name, files } = await saveRunOrProgram(automation, { body, parameters, view });
  return { name, file: basename(files[0] ?? "") };
}

interface SavedParts {
  readonly body: JsonObject;
  readonly parameters: readonly string[];
  readonly view: RuntimeView;
}

async function saveRunOrProgram(
  automation: Omit<AutomationToSave, "from">,
  { body, parameters, view }: SavedParts,
): Promise<SavedAutomation> {
  const run = readText(body, "run");
  try {
    return await view.automations.save({ ...automation, from: { run, parameters } });
  } catch (error) {
    const isUnrecorded = error instanceof SkillgateError && error.code === "RUN_NOT_FOUND";
    if (!isUnrecorded || body["source"] === undefined) throw error;
  }
  if (parameters.length > 0)
    throw invalidRequest(
      "this run was not recorded, so its constants cannot become parameters: leave parameters empty",
    );
  const source = readSource(body, "source", view.shared.limits.sourceBytes);
  return view.automations.save({ ...automation, from: { source } });
}

/** Reads a section of the file as it is written there; the parser of the file checks it. */
function readSection<Name extends "schedule" | "webhook">(
  body: JsonObject,
  name: Name,
): Partial<Record<Name, Readonly<Record<string, unknown>>>> {
  const value = body[name];
  if (value === undefined) return {};
  if (!isRecord(value)) throw invalidRequest(`${name} must be an object, as in the file of an automation`);
  return { [name]: value } as Partial<Record<Name, Readonly<Record<string, unknown>>>>;
}
