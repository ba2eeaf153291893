import { SkillgateError } from "../../../errors.ts";
import type { AutomationOffer } from "../../../runtime/api/view.ts";
import type { Runtime } from "../../../runtime.ts";
import type { CommandResult } from "../command.ts";
import type { CliSession } from "../session.ts";
import { lines } from "../text/layout.ts";
import { automationsText, automationText, historyText } from "./automation-texts.ts";
import { openAutomations } from "./open-automations.ts";

export async function listAutomations(session: CliSession): Promise<CommandResult> {
  const { automations, secrets } = await openAutomations(session);
  const list = secrets.maskTexts(await automations.list());
  return { json: { automations: list }, text: automationsText(list, session.paint.out) };
}

const SHOWN_OCCURRENCES = 5;

export async function showAutomation(session: CliSession, name: string): Promise<CommandResult> {
  const runtime = await openAutomations(session, "known");
  const { automations, secrets } = runtime;
  const detail = await automations.get(name);
  const offer = await findOffer(name, runtime);
  const calls = offer?.review.calls ?? [];
  const occurrences = secrets.maskTexts(await automations.history(name, { limit: SHOWN_OCCURRENCES }));
  const history = historyText(occurrences, session.paint.out);
  const { file, nextSlots, ...rest } = detail;
  const facts = {
    ...rest,
    calls,
    limits: file?.limits ?? null,
    nextSlots: nextSlots.map((slot) => new Date(slot).toISOString()),
    flaw: offer?.flaw ?? null,
    occurrences,
  };
  return {
    json: { automation: secrets.maskTexts(facts) },
    text: lines([
      secrets.maskText(automationText(detail, calls, session.paint.out)),
      history === "" ? "  It has not run yet" : "",
      history,
    ]),
    remarks: describeNext(detail, offer),
  };
}

/** Returns an automation as it is now; `undefined` if its file is gone or cannot be used. */
export async function findOffer(
  name: string,
  { automations }: Pick<Runtime, "automations">,
): Promise<AutomationOffer | undefined> {
  try {
    return await automations.offer(name);
  } catch (error) {
    const isExpected =
      error instanceof SkillgateError && ["AUTOMATION_UNKNOWN", "AUTOMATION_INVALID"].includes(error.code);
    if (isExpected) return undefined; // its state says why
    throw error;
  }
}

function describeNext(
  { name, state }: { readonly name: string; readonly state: string },
  offer: AutomationOffer | undefined,
): string {
  if (offer?.flaw !== undefined && state !== "paused") return `It cannot run as it is: ${offer.flaw}`;
  if (offer !== undefined && ["held", "unaccepted", "proposed"].includes(state))
    return `Accept it with: skillgate automation accept ${name}`;
  return state === "paused" ? `Let it run again with: skillgate automation resume ${name}` : "";
}
