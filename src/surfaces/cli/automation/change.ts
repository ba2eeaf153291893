import type { AutomationApi, AutomationFacts } from "../../../runtime/api/view.ts";
import type { CommandResult } from "../command.ts";
import type { CliSession } from "../session.ts";
import { automationsText } from "./automation-texts.ts";
import { openAutomations } from "./open-automations.ts";

/** Changes the state of an automation, and shows it. */
export async function changeAutomation(
  session: CliSession,
  change: (automations: AutomationApi) => Promise<AutomationFacts>,
): Promise<CommandResult> {
  const { automations } = await openAutomations(session);
  const facts = await change(automations);
  return { json: { automation: facts }, text: automationsText([facts], session.paint.out) };
}
