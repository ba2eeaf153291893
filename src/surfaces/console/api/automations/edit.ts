import { MASK } from "../../../../shared/masks/mask.ts";
import type { AutomationCheck, AutomationFileText } from "../../automation-messages.ts";
import { type ConsoleRequest, readText as readField } from "../../endpoints.ts";
import { invalidRequest } from "../../problem.ts";
import { createHiddenError, readOffer, seesContent } from "./offers.ts";

/** Reads the file of an automation to edit it. A file with a secret is not shown, and must be edited in the project. */
export async function readText({
  view,
  getPart,
}: Pick<ConsoleRequest, "view" | "getPart">): Promise<AutomationFileText> {
  const name = getPart("name");
  if (!(await seesContent(name, view))) throw createHiddenError(name);
  const file = await view.automations.readText(name);
  if (view.secrets.maskText(file.text) === file.text) return file;
  throw invalidRequest(
    `automations/${name}.yaml contains a secret, which this page must not show: edit it in the project`,
  );
}

/** Describes an automation with another text of its file, or the mistake in the text. Nothing is written. */
export async function checkText({
  view,
  getPart,
  readBody,
}: Pick<ConsoleRequest, "view" | "getPart" | "readBody">): Promise<AutomationCheck> {
  view.require("ManageServers");
  const name = getPart("name");
  const { offer, problem, isHidden } = await readOffer(name, view, { text: readField(await readBody(), "text") });
  if (isHidden) throw createHiddenError(name);
  return view.secrets.maskTexts<AutomationCheck>({ offer: offer ?? null, problem });
}

/** Writes the file of an automation. An accepted automation is held until a person accepts it again. */
export async function replaceText({
  view,
  getPart,
  readBody,
}: Pick<ConsoleRequest, "view" | "getPart" | "readBody">): Promise<void> {
  const body = await readBody();
  const text = readField(body, "text");
  if (text.includes(MASK)) throw invalidRequest(`the text contains ${MASK}, which stands for a secret`);
  await view.automations.replaceText(getPart("name"), { text, digest: readField(body, "digest") });
}
