import type { CliCommand, CommandResult } from "../command.ts";
import { findRun, openRuns } from "../runs/find-run.ts";
import type { CliSession } from "../session.ts";
import { shownPath } from "../text/layout.ts";
import { takenOverNote } from "../text/run-texts.ts";
import { collected } from "../mcp/server-flags.ts";
import { requireFileStem } from "./local-skills.ts";
import { quoteForShell } from "../../../shared/format-text.ts";

interface SaveFlags {
  readonly name: string;
  readonly param: readonly string[];
  readonly description?: string;
  readonly method: string;
  readonly force?: true;
}

export function addSkillsSave(skills: CliCommand): void {
  skills
    .command("save")
    .description("make a saved skill of a run that worked; its recorded calls become its test")
    .argument("<run>", "the run, or the beginning of its id")
    .requiredOption("--name <name>", "the topic of the skill, such as city-weather")
    .option(
      "--param <parameter>",
      "a constant of the program, or name=value for the literal with that value; repeatable",
      collected,
      [],
    )
    .option("--description <text>", "what the skill does, for search (default: the methods that it calls)")
    .option("--method <method>", "the name of its method", "run")
    .option("--force", "replace the saved skill of this name")
    .addHelpText("after", HELP)
    .run(saveRun);
}

const HELP = `
The skill is marked as saved until it has passed three times, in use or in skills test; it is not used any more when it
fails twice in succession. The setting runs.savedPasses changes the number of passes.

Examples:
  skillgate skills save 3f9c --name city-weather --param city
  skillgate skills save 3f9c --name refund --param order=1001 --description "Refund an order and tell the customer"`;

/** Makes a saved skill of a run. */
export async function saveRun(session: CliSession, id: string, flags: SaveFlags): Promise<CommandResult> {
  const [runtime, { skills: inUse, ownSkills }] = await Promise.all([openRuns(session), session.folders()]);
  const stem = requireFileStem(flags.name);
  const { id: run } = await findRun(runtime, id);
  await session.openRuntime({ until: "known" });
  const { writeSavedSkill } = await import("../../../runtime/saved/write-skill.ts");
  const { name, files, parameters, example } = await writeSavedSkill(runtime, run, {
    stem,
    method: flags.method,
    description: flags.description,
    parameters: flags.param,
    folder: ownSkills,
    project: { cwd: process.cwd(), env: process.env },
    mayReplace: flags.force === true,
    howToReplace: "write --force",
  });
  const path = `${name}.${flags.method}`;
  const inputs = Object.entries(example).map(([key, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return `${key}=${quoteForShell(text)}`;
  });
  return {
    json: { skill: name, method: flags.method, run, parameters, files },
    text: [
      `Saved ${path}(${Object.keys(parameters).join(", ")}) in ${shownPath(files[0])}, and its test in ${shownPath(files[1])}`,
      `Try it:  ${["skillgate call", path, ...inputs].join(" ")}`,
      `Test it: skillgate skills test ${name}`,
    ].join("\n"),
    remarks: inUse === ownSkills ? "" : takenOverNote(inUse, session.paint.err),
  };
}
