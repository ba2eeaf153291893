import type { AutomationFile } from "../../automations/index.ts";

/** The longest id of a webhook. */
const MAX_ID_UNITS = 64;

/**
 * Says why an automation cannot have its webhook: another one has the id, and a request starts one automation. `undefined` if it can.
 * `findOwner` returns the automation whose webhook has an id.
 */
export async function findWebhookConflict(
  name: string,
  webhook: AutomationFile["webhook"],
  findOwner: (id: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  if (webhook === undefined) return undefined;
  const id = webhook.id ?? name;
  const owner = await findOwner(id);
  if (owner === undefined || owner === name) return undefined;
  const suggestion = `${name.slice(0, MAX_ID_UNITS - SUFFIX.length)}${SUFFIX}`;
  return `its webhook has the id ${id}, which the automation ${owner} has already; write another one, as in webhook: { id: ${suggestion} }`;
}

const SUFFIX = "-hook";
