import type { Command } from "commander";

import type { CommandAction } from "../command-action.ts";
import { count, indented, lines } from "../text/layout.ts";
import { problemText } from "../text/output.ts";
import type { Paint } from "../terminal/terminal.ts";
import { type CheckedSkill, checkSkill } from "./findings.ts";
import { findFailures, localSkills } from "./local-skills.ts";

export function addSkillsCheck(skills: Command, act: CommandAction): void {
  skills
    .command("check")
    .description("lint skills: types, descriptions, names, and whether search finds them")
    .argument("[skills...]", "names of skills (default: all in the skills folder)")
    .action(
      act(async ({ readyRuntime, folders, paint }, names: readonly string[]) => {
        const runtime = await readyRuntime();
        const checked = localSkills(runtime, names).map((skill) => checkSkill(runtime, skill));
        const failures = names.length > 0 ? [] : findFailures(runtime);
        const { skills: folder } = await folders();
        return {
          exit: failures.length === 0 ? "ok" : "failed",
          json: { ok: failures.length === 0, skills: checked, failures },
          text: lines([
            ...failures.flatMap((failure) => [
              `${paint.out.red("✗")} ${problemText(failure)}`,
              indented(failure.frame ?? ""),
            ]),
            ...checked.map((each) => checkedText(each, paint.out)),
            checked.length + failures.length === 0 ? `No skills found in ${folder}` : "",
          ]),
        };
      }),
    );
}

function checkedText({ skill, source, methods, tokens, findings }: CheckedSkill, paint: Paint): string {
  const mark = findings.length === 0 ? paint.green("✓") : paint.yellow("!");
  const size = paint.dim(`${count(methods, "method")}, about ${tokens} tokens`);
  return lines([
    `${mark} ${skill}  ${source}  ${size}`,
    ...findings.map(({ path, says }) => indented(says.includes(path) ? says : `${path}: ${says}`)),
  ]);
}
