import type { CommandResult } from "../command.ts";
import type { CliSession } from "../session.ts";
import { requireYes } from "../terminal/ask.ts";
import { lines } from "../text/layout.ts";
import { automationText, differenceText } from "./automation-texts.ts";
import { openAutomations } from "./open-automations.ts";

interface AcceptFlags {
  readonly key?: string;
  readonly yes?: true;
}

/** Shows an automation and what has changed, asks, and accepts it as it was shown. */
export async function acceptAutomation(
  session: CliSession,
  name: string,
  { key, yes }: AcceptFlags,
): Promise<CommandResult> {
  const { automations, secrets } = await openAutomations(session, "known");
  const options = key === undefined ? {} : { key };
  const offer = await automations.offer(name, options);
  const detail = await automations.get(name);
  const { review, difference, digest, flaw, file } = offer;
  const isNew = detail.state === "unaccepted" || detail.state === "proposed";
  const description = secrets.maskText(
    lines([automationText({ ...detail, file }, review.calls, session.paint.out), differenceText(offer, isNew)]),
  );
  const facts = { automation: name, calls: review.calls, difference };
  if (flaw !== undefined)
    return {
      exit: "unreachable",
      json: secrets.maskTexts({ ...facts, accepted: false, flaw }),
      text: description,
      remarks: session.paint.err.red(`It cannot be accepted: ${flaw}`),
    };
  if (!yes) {
    session.write("err", `${description}\n`);
    await requireYes(`Accept ${name}?`, session.signal, {
      refusal: (why) => `${name} was not accepted: ${why}; with --yes it is accepted without a question`,
      facts,
    });
  }
  const accepted = await automations.accept(name, { ...options, digest });
  return {
    json: secrets.maskTexts({ ...facts, accepted: true, state: accepted.state }),
    text: yes ? description : "",
    remarks: `Accepted ${name}. A process that serves the project runs it: skillgate serve`,
  };
}
