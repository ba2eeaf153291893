import { writeFile } from "node:fs/promises";

import { toRecord } from "../../../model/json.ts";
import type { CliCommand, CommandResult } from "../command.ts";
import { toWriteError } from "../input/write-files.ts";
import { openServer } from "./files.ts";

interface ServerExportFlags {
  readonly output?: string;
  readonly id?: string;
}

export function addMcpExport(mcp: CliCommand): void {
  mcp
    .command("export")
    .description("print a server as a registry entry, server.json, without the values of secrets")
    .argument("<name>", "name of the server")
    .option("-o, --output <file>", "write it to a new file")
    .option("--id <id>", "its name in the registry, such as io.github.ada/weather")
    .run(async (session, name: string, { output, id }: ServerExportFlags): Promise<CommandResult> => {
      const { server, configModule } = await openServer(session, name);
      const { createRegistryEntry } = await import("./package/create-entry.ts");
      const masked = configModule.maskEntry(server.entry);
      const exported = createRegistryEntry(id ?? `local/${name.replaceAll(/[^\w.-]+/g, "-")}`, toRecord(masked));
      const text = `${JSON.stringify(exported, undefined, 2)}\n`;
      if (output === undefined) return { json: exported, text: text.trimEnd() };
      await writeFile(output, text, { flag: "wx" }).catch((thrown: unknown) => {
        throw toWriteError(output, thrown);
      });
      return { json: { exported: output }, text: `Wrote ${output}` };
    });
}
