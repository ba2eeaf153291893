import type { Command } from "commander";

import type { CommandAction } from "../command-action.ts";
import { createSettingsSchema } from "./schema.ts";

export function addSettings(program: Command, act: CommandAction): void {
  program
    .command("settings")
    .description("describe the settings file")
    .command("schema")
    .description("print the JSON Schema of settings.yaml, for editors")
    .addHelpText("after", "\nExample:\n  skillgate settings schema > settings.schema.json")
    .action(
      act(async () => {
        const schema = await createSettingsSchema();
        return { exit: "ok", json: schema, text: JSON.stringify(schema, null, 2) };
      }),
    );
}
