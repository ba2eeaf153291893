import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";

import type { Runtime } from "../../../runtime.ts";
import type { CommandAction } from "../command-action.ts";
import { writeNewFile } from "../input/write-new-file.ts";
import { findRun, openRuns } from "../runs/find-run.ts";
import type { CliSession } from "../session.ts";
import type { CommandResult } from "../terminal/terminal.ts";
import { shownPath } from "../text/layout.ts";
import { takenOverNote } from "../text/run-texts.ts";
import { UsageError } from "../usage-error.ts";
import { toFileStem } from "./file-stem.ts";

interface SaveFlags {
  readonly name: string;
  readonly param: readonly string[];
  readonly description?: string;
  readonly method: string;
  readonly force?: true;
}

export function addSkillsSave(skills: Command, act: CommandAction): void {
  skills
    .command("save")
    .description("make a learned skill of a run that worked; its recorded calls become its test")
    .argument("<run>", "the run, or the beginning of its id")
    .requiredOption("--name <name>", "the topic of the skill, such as city-weather")
    .option(
      "--param <parameter>",
      "a constant of the program, or name=value for the literal with that value; repeatable",
      collect,
      [],
    )
    .option("--description <text>", "what the skill does, for search (default: the methods that it calls)")
    .option("--method <method>", "the name of its method", "run")
    .option("--force", "replace the learned skill of this name")
    .addHelpText("after", HELP)
    .action(act((session: CliSession, run: string, flags: SaveFlags) => saveRun(session, run, flags)));
}

const HELP = `
The skill is marked as learned until it has passed three times, in use or in skills test; it is not used any more when it
fails twice in succession. The setting runs.learnedPasses changes the number of passes.

Examples:
  skillgate skills save 3f9c --name city-weather --param city
  skillgate skills save 3f9c --name refund --param order=1001 --description "Refund an order and tell the customer"`;

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

async function saveRun(session: CliSession, id: string, flags: SaveFlags): Promise<CommandResult> {
  const [runtime, { skills: inUse, ownSkills }] = await Promise.all([openRuns(session), session.folders()]);
  const { moduleToSkillName } = await import("../../../providers/skills/index.ts");
  const stem = toFileStem(flags.name);
  const [skillFile, cassetteFile] = [`${stem}.learned.yaml`, `${stem}.cassette.json`];
  const files = [join(ownSkills, skillFile), join(ownSkills, cassetteFile)] as const;
  const { id: run } = await findRun(runtime, id);
  await session.readyRuntime();
  const name = moduleToSkillName(stem);
  const isReplaced = requireFree(runtime, name, files, flags.force === true);
  const saved = await runtime.learnedSkills.save(run, {
    name,
    method: flags.method,
    description: flags.description,
    parameters: flags.param,
    cassetteFile,
  });
  const { changeByHand } = await import("../../../config/index.ts");
  await changeByHand({ cwd: process.cwd(), env: process.env }, { files }, async () => {
    if (isReplaced) await Promise.all(files.map((file) => rm(file, { force: true })));
    await writeNewFile(files[0], saved.skillText);
    await writeNewFile(files[1], saved.cassetteText);
  });
  const path = `${name}.${flags.method}`;
  const example = Object.entries(saved.example).map(([key, value]) => `${key}=${toArgument(value)}`);
  return {
    exit: "ok",
    json: { skill: name, method: flags.method, run, parameters: saved.parameters, files },
    text: [
      `Saved ${path}(${Object.keys(saved.parameters).join(", ")}) in ${shownPath(files[0])}, and its test in ${shownPath(files[1])}`,
      `Try it:  ${["skillgate call", path, ...example].join(" ")}`,
      `Test it: skillgate skills test ${name}`,
    ].join("\n"),
    remarks: inUse === ownSkills ? "" : takenOverNote(inUse, session.paint.err),
  };
}

/** Returns true if a learned skill of this name is to be replaced. Throws if the name is taken otherwise. */
function requireFree(runtime: Runtime, name: string, files: readonly string[], isForced: boolean): boolean {
  const [file = ""] = files;
  const skill = runtime.catalog.skill(name) ?? runtime.disabled().find((each) => each.name === name);
  const source = skill?.source ?? "";
  const isOther = skill !== undefined && join(file, "..", source) !== file;
  if (isOther)
    throw new UsageError(`Cannot save the skill ${name}: the name is taken by ${source}; choose another --name`);
  if (!files.some((each) => existsSync(each))) return false;
  if (isForced) return true;
  throw new UsageError(`Cannot save the skill ${name}: ${shownPath(file)} already exists; write --force to replace it`);
}

function toArgument(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return /^[\w.,:@/+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
