import type { CliCommand } from "../command.ts";
import { createSettingsSchema } from "./schema.ts";

export function addSettings(program: CliCommand): void {
  program
    .command("settings")
    .description("describe the settings file")
    .command("schema")
    .description("print the JSON Schema of settings.yaml, for editors")
    .addHelpText("after", "\nExample:\n  skillgate settings schema > settings.schema.json")
    .run(async () => {
      const schema = await createSettingsSchema();
      return { json: schema, text: JSON.stringify(schema, null, 2) };
    });
}
