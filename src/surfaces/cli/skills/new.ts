import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Option } from "commander";

import { isRecord, parseJson, toRecord } from "../../../model/json.ts";
import type { CliCommand } from "../command.ts";
import { writeNewFile } from "../input/write-files.ts";
import { shownPath } from "../text/layout.ts";
import { takenOverNote } from "../text/run-texts.ts";
import { UsageError } from "../usage-error.ts";
import { requireFileStem } from "./local-skills.ts";
import { type Form, FORMS, planSkill, template, type TestRunner, testTemplate } from "./templates.ts";

export function addSkillsNew(skills: CliCommand): void {
  skills
    .command("new")
    .description("create a skill: a working file, and a test for it, with vitest where the project has it")
    .argument("<name>", "the topic of the skill, such as weather or home-office")
    .addOption(new Option("--form <form>", "the form of the file").choices(FORMS).default("functions" satisfies Form))
    .run(async ({ folders, paint }, name: string, { form }: { readonly form: Form }) => {
      const { moduleToSkillName } = await import("../../../providers/skills/index.ts");
      const stem = requireFileStem(name);
      const skill = moduleToSkillName(stem);
      const { skills: inUse, ownSkills } = await folders();
      const files = [join(ownSkills, `${stem}.ts`), join(ownSkills, `${stem}.test.ts`)] as const;
      for (const file of [...files, join(ownSkills, stem)]) refuseExisting(file);
      const plan = planSkill(skill, stem);
      const runner = await findTestRunner(ownSkills);
      const { changeByHand } = await import("../../../config/index.ts");
      await changeByHand({ cwd: process.cwd(), env: process.env }, { files }, async () => {
        await writeNewFile(files[0], template(form, plan));
        await writeNewFile(files[1], testTemplate(plan, runner));
      });
      const paths = files.map(shownPath);
      return {
        json: { skill, form, files },
        text: [
          `Created ${skill} in ${paths[0]}, and its test in ${paths[1]}`,
          `Try it:   skillgate call ${skill}.${plan.method} name=example`,
          `Check it: skillgate skills check ${skill}`,
          `Test it:  ${runner === "vitest" ? `npx vitest run ${paths[1]}` : `skillgate skills test ${skill}`}`,
        ].join("\n"),
        remarks: inUse === ownSkills ? "" : takenOverNote(inUse, paint.err),
      };
    });
}

function refuseExisting(file: string): void {
  if (!existsSync(file)) return;
  throw new UsageError(`Cannot create the skill: ${shownPath(file)} already exists`);
}

/** Returns the test runner of the project: vitest, if the nearest package.json depends on it. */
async function findTestRunner(folder: string): Promise<TestRunner> {
  const text = await readFile(join(folder, "package.json"), "utf8").catch(() => undefined);
  const parent = dirname(folder);
  if (text === undefined) return parent === folder ? "node:test" : findTestRunner(parent);
  const { dependencies, devDependencies } = toRecord(parseJson(text)); // npm reports a damaged file better
  const isListed = [dependencies, devDependencies].some((each) => isRecord(each) && Object.hasOwn(each, "vitest"));
  return isListed ? "vitest" : "node:test";
}
