import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";

import type { CommandAction } from "../command-action.ts";
import { getMessage } from "../../../errors.ts";
import { throwIfServerMissing } from "../unknown-path.ts";
import { UsageError } from "../usage-error.ts";

export function addTypes(program: Command, act: CommandAction): void {
  program
    .command("types")
    .description("print TypeScript declarations of skills, for editors and models")
    .argument("[skills...]", "names of skills (default: all)")
    .option("-o, --out <file>", "write them to a file, such as skills.d.ts")
    .action(
      act(async ({ shownRuntime }, skills: readonly string[], { out }: { readonly out?: string }) => {
        const runtime = await shownRuntime();
        for (const skill of skills) throwIfServerMissing(runtime, skill);
        const declarations = runtime.declarations(skills.length === 0 ? undefined : skills);
        if (out === undefined) return { exit: "ok", json: { declarations }, text: declarations };
        await writeTextFile(out, declarations.endsWith("\n") ? declarations : `${declarations}\n`);
        return { exit: "ok", json: { declarations, file: resolve(out) }, text: `Wrote the types to ${out}` };
      }),
    );
}

async function writeTextFile(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    throw new UsageError(`Cannot write ${file}: ${getMessage(error)}`);
  }
}
