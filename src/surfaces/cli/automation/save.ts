import { Option } from "commander";

import type { SavedAutomation } from "../../../runtime/api/view.ts";
import type { Runtime } from "../../../runtime.ts";
import type { CliCommand, CommandResult } from "../command.ts";
import { readTextFile } from "../input/read-text.ts";
import { findRun } from "../runs/find-run.ts";
import type { CliSession } from "../session.ts";
import { saveRun } from "../skills/save.ts";
import { lines, shownPath } from "../text/layout.ts";
import { UsageError } from "../usage-error.ts";
import { formatFlag } from "../input/option-values.ts";
import { openAutomations } from "./open-automations.ts";
import { addSaveOptions, AUTOMATION_FLAGS, type AutomationFlags, readSections } from "./save-flags.ts";

export function addAutomationAdd(automation: CliCommand): void {
  addSaveOptions(
    automation
      .command("add")
      .description("write an automation from a run that worked, or from a program; it runs after accept")
      .argument("<name>", "its name, such as daily-report")
      .argument("[file]", "the program, in place of --run")
      .option("--run <run>", "the run, or the beginning of its id; its recorded calls become its test"),
  ).run(add);
}

/** `skillgate save`: a run becomes an automation or a skill. */
export function addSave(program: CliCommand): void {
  addSaveOptions(
    program
      .command("save")
      .description("make an automation or a skill of a run that worked; its recorded calls become its test")
      .argument("<run>", "the run, or the beginning of its id")
      .addOption(
        new Option("--as <kind>", "what it becomes").choices(["automation", "skill"]).makeOptionMandatory(true),
      )
      .requiredOption("--name <name>", "the name of the automation, or the topic of the skill")
      .option("--method <method>", "of a skill: the name of its method", "run"),
  )
    .addHelpText("after", HELP)
    .run(save);
}

const HELP = `
Examples:
  skillgate save 3f9c --as automation --name daily-report --key reporter --param city --every 1h
  skillgate save 3f9c --as skill --name city-weather --param city`;

async function add(
  session: CliSession,
  name: string,
  file: string | undefined,
  flags: AutomationFlags,
): Promise<CommandResult> {
  const { run } = flags;
  if ((file === undefined) === (run === undefined))
    throw new UsageError("Give either a program file, or --run with a run that worked: skillgate runs list");
  if (file !== undefined && flags.param !== undefined)
    throw new UsageError("--param is for a run; a program file takes its input from device.input()");
  const sections = await readSections(flags);
  const runtime = await openAutomations(session, "known");
  const from =
    run === undefined
      ? { source: await readTextFile(file ?? "", session.signal) }
      : { run: (await findRun(runtime, run)).id, parameters: flags.param ?? [] };
  const saved = await runtime.automations.save({ name, from, ...sections });
  return describeSaved(saved, runtime);
}

interface SaveRunFlags extends AutomationFlags {
  readonly as: "automation" | "skill";
  readonly name: string;
  readonly method: string;
}

async function save(
  session: CliSession,
  run: string,
  { as: kind, name, ...flags }: SaveRunFlags,
): Promise<CommandResult> {
  if (kind === "automation") return add(session, name, undefined, { ...flags, run });
  const wrong = AUTOMATION_FLAGS.find((flag) => flags[flag] !== undefined);
  if (wrong !== undefined) throw new UsageError(`${formatFlag(wrong)} is for an automation: write --as automation`);
  return saveRun(session, run, { ...flags, name, param: flags.param ?? [] });
}

async function describeSaved(
  { name, files, calls, parameters, example }: SavedAutomation,
  { automations, secrets }: Runtime,
): Promise<CommandResult> {
  const { flaw } = await automations.offer(name);
  const [file = "", cassette] = files;
  const test = cassette === undefined ? "" : `, and its test in ${shownPath(cassette)}`;
  return {
    json: { automation: name, files, calls, parameters, example: secrets.maskTexts(example), flaw: flaw ?? null },
    text: lines([
      `Saved ${name} in ${shownPath(file)}${test}`,
      calls.length === 0 ? "" : `It calls ${calls.map(({ path, effect }) => `${path} (${effect})`).join(", ")}`,
      cassette === undefined ? "" : `Test it:   skillgate automation test ${name}`,
      `Accept it: skillgate automation accept ${name}`,
    ]),
    remarks: flaw === undefined ? "" : `It cannot be accepted yet: ${flaw}`,
  };
}
