import type { CliCommand, CommandResult } from "../command.ts";
import { wholeNumber } from "../input/option-values.ts";
import { readRunInput } from "../input/run-input.ts";
import { performOperation } from "../commands/run.ts";
import type { CliSession } from "../session.ts";
import { NO_SOCKET, type OperationFlags } from "../socket/client.ts";
import { count } from "../text/layout.ts";
import { acceptAutomation } from "./accept.ts";
import { historyText } from "./automation-texts.ts";
import { changeAutomation } from "./change.ts";
import { openAutomations } from "./open-automations.ts";
import { addAutomationAdd } from "./save.ts";
import { listAutomations, showAutomation } from "./show.ts";
import { testAutomation } from "./test.ts";

export function addAutomation(program: CliCommand): void {
  const automation = program
    .command("automation")
    .description("programs that run by themselves, by schedules and webhooks: the folder automations")
    .addHelpText("after", HELP);
  addAutomationAdd(automation);
  automation.command("list").alias("ls").description("list the automations with their states").run(listAutomations);
  automation
    .command("show")
    .description("show an automation: its state, calls, next times and last occurrences")
    .argument("<name>", NAME)
    .run(showAutomation);
  automation
    .command("accept")
    .description("accept an automation, or a proposal, as it is now: it runs from then on")
    .argument("<name>", NAME)
    .option("--key <key>", "of a proposal: the API key with whose rights it runs")
    .option("--yes", "accept it without a question")
    .run(acceptAutomation);
  addStarts(automation);
  automation
    .command("pause")
    .description("start nothing of an automation until it is resumed")
    .argument("<name>", NAME)
    .option("--reason <text>", "why, for those who look at it")
    .run((session: CliSession, name: string, { reason }: { readonly reason?: string }) =>
      changeAutomation(session, (automations) => automations.pause(name, reason === undefined ? {} : { reason })),
    );
  automation
    .command("resume")
    .description("let a paused automation run again")
    .argument("<name>", NAME)
    .run((session: CliSession, name: string) => changeAutomation(session, (automations) => automations.resume(name)));
  automation
    .command("history")
    .description("list the occurrences of an automation, the latest first")
    .argument("<name>", NAME)
    .option("--limit <number>", "the number of occurrences", wholeNumber, 20)
    .run(listHistory);
  automation
    .command("test")
    .description("execute the program with the recorded answers of its run: nothing is called")
    .argument("<name>", NAME)
    .option("--input <json>", "another input than the recorded one; @FILE for a file")
    .run(testAutomation);
  automation
    .command("remove")
    .description("remove an automation or a proposal, with its files, its history and its stored values")
    .argument("<name>", NAME)
    .run(removeAutomation);
}

const NAME = "its name";

const HELP = `
Examples:
  skillgate automation add daily-report --run 3f9c --key reporter --cron "0 9 * * MON-FRI" --zone Europe/Berlin
  skillgate automation accept daily-report
  skillgate automation run daily-report --input '{"city": "Rome"}'
  skillgate automation history daily-report`;

interface StartFlags extends OperationFlags {
  readonly input?: string;
  readonly wait: boolean;
}

const NO_WAIT = ["--no-wait", "do not wait for its end; a process that serves the project runs it"] as const;

function addStarts(automation: CliCommand): void {
  automation
    .command("run")
    .description("run an automation once, now, and print its result")
    .argument("<name>", NAME)
    .option("--input <json>", "the value that the program gets from device.input(); @FILE for a file")
    .option(...NO_WAIT)
    .option(...NO_SOCKET)
    .run(async (session: CliSession, name: string, flags: StartFlags) => {
      const input = flags.input === undefined ? undefined : await readRunInput(flags.input, session.signal);
      const operation = { kind: "automation", name, wait: flags.wait, ...(input !== undefined && { input }) } as const;
      return performOperation(operation, flags, session);
    });
  automation
    .command("retry")
    .description("run an occurrence again that has failed, was cancelled or skipped; nothing is done twice")
    .argument("<name>", NAME)
    .argument("<occurrence>", "its id in the history")
    .option(...NO_WAIT)
    .option(...NO_SOCKET)
    .run((session: CliSession, name: string, occurrence: string, flags: StartFlags) =>
      performOperation({ kind: "automation", name, occurrence, wait: flags.wait }, flags, session),
    );
}

async function listHistory(
  session: CliSession,
  name: string,
  { limit }: { readonly limit: number },
): Promise<CommandResult> {
  const { automations, secrets } = await openAutomations(session);
  const occurrences = secrets.maskTexts(await automations.history(name, { limit }));
  return {
    json: { automation: name, occurrences },
    text: historyText(occurrences, session.paint.out) || `${name} has not run yet`,
  };
}

async function removeAutomation(session: CliSession, name: string): Promise<CommandResult> {
  const { automations } = await openAutomations(session);
  const removed = await automations.remove(name);
  const { files, values } = removed;
  const deleted = values === 0 ? "" : `; ${count(values, "stored value")} ${values === 1 ? "was" : "were"} deleted`;
  return { json: { removed: name, files, values }, text: `Removed ${name} and its history${deleted}` };
}
