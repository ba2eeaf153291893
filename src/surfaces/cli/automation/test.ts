import type { AutomationTest } from "../../../runtime/api/view.ts";
import type { CommandResult } from "../command.ts";
import { parseRunInput, readRunInput } from "../input/run-input.ts";
import type { CliSession } from "../session.ts";
import { outcomeText } from "../text/run-texts.ts";
import { openAutomations } from "./open-automations.ts";

export async function testAutomation(
  session: CliSession,
  name: string,
  flags: { readonly input?: string },
): Promise<CommandResult> {
  const json = flags.input === undefined ? undefined : await readRunInput(flags.input, session.signal);
  const options = json === undefined ? {} : { input: parseRunInput(json) };
  const { automations, secrets } = await openAutomations(session);
  const result: AutomationTest = secrets.maskTexts(await automations.test(name, options));
  const { out, err } = session.paint;
  if (result.kind === "passed") {
    const { outcome } = result;
    return {
      json: { automation: name, ...result },
      text: outcome === undefined ? "" : outcomeText(outcome),
      remarks: `${err.green("✓")} ${name} makes the recorded calls; nothing was called`,
    };
  }
  const what = result.kind === "diverged" ? "does something else than recorded" : "cannot be tested";
  return {
    exit: "failed",
    json: { automation: name, ...result },
    text: `${out.red("✗")} ${name} ${what}: ${result.why}`,
  };
}
