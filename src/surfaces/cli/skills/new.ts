import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Command, Option } from "commander";

import type { CommandAction } from "../command-action.ts";
import { shownPath } from "../text/layout.ts";
import { takenOverNote } from "../text/run-texts.ts";
import { UsageError } from "../usage-error.ts";
import { writeNewFile } from "../input/write-new-file.ts";
import { requireFileStem } from "./file-stem.ts";
import { FORMS, type Form, template, testTemplate } from "./templates.ts";

export function addSkillsNew(skills: Command, act: CommandAction): void {
  skills
    .command("new")
    .description("create a skill: a working file, and a test for it")
    .argument("<name>", "the topic of the skill, such as weather or home-office")
    .addOption(new Option("--form <form>", "the form of the file").choices(FORMS).default("functions" satisfies Form))
    .action(
      act(async ({ folders, paint }, name: string, { form }: { readonly form: Form }) => {
        const { moduleToSkillName } = await import("../../../providers/skills/index.ts");
        const stem = requireFileStem(name);
        const skill = moduleToSkillName(stem);
        const { skills: inUse, ownSkills } = await folders();
        const files = [join(ownSkills, `${stem}.ts`), join(ownSkills, `${stem}.test.ts`)] as const;
        for (const file of [...files, join(ownSkills, stem)]) refuseExisting(file);
        const { changeByHand } = await import("../../../config/index.ts");
        await changeByHand({ cwd: process.cwd(), env: process.env }, { files }, async () => {
          await writeNewFile(files[0], template(form, skill));
          await writeNewFile(files[1], testTemplate(stem, skill));
        });
        const paths = files.map(shownPath);
        return {
          exit: "ok",
          json: { skill, form, files },
          text: [
            `Created ${skill} in ${paths[0]}, and its test in ${paths[1]}`,
            `Try it:   skillgate call ${skill}.greet name=Ada`,
            `Check it: skillgate skills check ${skill}`,
            `Test it:  skillgate skills test ${skill}`,
          ].join("\n"),
          remarks: inUse === ownSkills ? "" : takenOverNote(inUse, paint.err),
        };
      }),
    );
}

function refuseExisting(file: string): void {
  if (!existsSync(file)) return;
  throw new UsageError(`Cannot create the skill: ${shownPath(file)} already exists`);
}
