import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";

import { getMessage } from "../../../errors.ts";
import type { CliCommand } from "../command.ts";
import { wholeNumber, wholeNumberOrZero } from "../input/option-values.ts";
import { warningsText } from "../text/output.ts";
import { throwIfServerMissing, throwUnknown } from "../unknown-path.ts";
import { UsageError } from "../usage-error.ts";

export function addSearch(program: CliCommand): void {
  program
    .command("search")
    .description("find methods by words; without words, list them")
    .argument("[words...]", "what the method should do, or its name")
    .option("--limit <n>", "maximum number of results (default: 8)", wholeNumber)
    .option("--offset <n>", "number of results to skip (default: 0)", wholeNumberOrZero)
    .option(
      "--max-tokens <n>",
      "approximate size of the answer in tokens; detail beyond it is omitted (default: 700)",
      wholeNumber,
    )
    .addHelpText("after", EXAMPLES)
    .option("--explain", "show the scores, and what each word adds to them")
    .run(
      async (
        { openRuntime, flags: { verbose }, paint },
        words: readonly string[],
        { explain = false, ...numbers }: { limit?: number; offset?: number; maxTokens?: number; explain?: boolean },
      ) => {
        const runtime = await openRuntime({ until: "shown" });
        const answer = runtime.search(words.join(" "), { explain, ...numbers, readMs: Infinity });
        return {
          json: answer,
          text: answer.text,
          asides: warningsText(verbose ? runtime.problems : [], paint.err),
        };
      },
    );
}

const EXAMPLES = `
Examples:
  skillgate search read a file
  skillgate search "roll dice" --limit 3 --json`;

export function addDescribe(program: CliCommand): void {
  program
    .command("describe")
    .description("show a method with its types and an example, or a skill with its methods")
    .argument("<paths...>", "Skill.method, Skill, or a pattern such as Skill.read_*")
    .run(async ({ openRuntime }, paths: readonly string[]) => {
      const runtime = await openRuntime({ until: "shown" });
      for (const path of paths) throwUnknown(runtime, path);
      const description = runtime.describe(paths.join(" "));
      return { json: description, text: description.text };
    });
}

export function addTypes(program: CliCommand): void {
  program
    .command("types")
    .description("print TypeScript declarations of skills, for editors and models")
    .argument("[skills...]", "names of skills (default: all)")
    .option("-o, --out <file>", "write them to a file, such as skills.d.ts")
    .run(async ({ openRuntime }, skills: readonly string[], { out }: { readonly out?: string }) => {
      const runtime = await openRuntime({ until: "shown" });
      for (const skill of skills) throwIfServerMissing(runtime, skill);
      const declarations = runtime.declarations(skills.length === 0 ? undefined : skills);
      if (out === undefined) return { json: { declarations }, text: declarations };
      await writeTextFile(out, declarations.endsWith("\n") ? declarations : `${declarations}\n`);
      return { json: { declarations, file: resolve(out) }, text: `Wrote the types to ${out}` };
    });
}

async function writeTextFile(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    throw new UsageError(`Cannot write ${file}: ${getMessage(error)}`);
  }
}
