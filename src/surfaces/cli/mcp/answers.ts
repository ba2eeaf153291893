import { isRecord } from "../../../model/json.ts";
import { lines } from "../text/layout.ts";
import type { CommandResult, Terminal } from "../terminal/terminal.ts";
import { type CommandConfig, SCOPES } from "./files.ts";
import type { ConfigModule, WrittenServer } from "./load-config.ts";

/** The result of adding a server: its entry, warnings, and the next command. */
export function createAddedResult(
  written: WrittenServer,
  paint: Terminal["paint"],
  { configModule }: Pick<CommandConfig, "configModule">,
): CommandResult {
  const { name, file, entry } = written;
  return {
    exit: "ok",
    json: { added: written },
    text: `Added ${name} to ${file}: ${configModule.shownServer(entry)}`,
    remarks: lines([
      ...plainSecrets(written, configModule).map((note) => paint.err.yellow(note)),
      paint.err.dim(`Try it: skillgate mcp test ${name}`),
    ]),
  };
}

/** Warns of each value that is stored as plain text in the project's file, which others read. */
function plainSecrets({ file, scope, entry }: WrittenServer, configModule: ConfigModule): readonly string[] {
  if (scope !== "project" || !isRecord(entry)) return [];
  const values = [entry["env"], entry["headers"]].flatMap((record) => (isRecord(record) ? Object.entries(record) : []));
  const names = values.filter(([, value]) => value === configModule.MASK).map(([name]) => name);
  return names.map(
    (name) => `Note: ${name} is stored in ${file} as plain text; use \${VARIABLE} to take it from the environment`,
  );
}

export function scopeHelp(): string {
  return `Scopes:\n${[...SCOPES].map(([name, says]) => `  ${name.padEnd(8)} ${says}`).join("\n")}`;
}
