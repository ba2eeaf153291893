import type { CliSession } from "../session.ts";
import { askYesNo, isAtTerminal } from "../terminal/ask-line.ts";
import type { CommandResult } from "../terminal/terminal.ts";
import { escaped, lines } from "../text/layout.ts";
import type { ConnectTarget } from "./index.ts";

interface SeparateOptions {
  /** True if the user has asked for it on the command line. */
  readonly move: boolean;
  readonly session: Pick<CliSession, "signal">;
}

/**
 * Adds to a result that the client would see the servers of `.mcp.json` twice: itself, and through Skillgate. Moves them if the
 * user wants that.
 */
export async function separateServers(
  result: CommandResult,
  { client, files }: Pick<ConnectTarget, "client" | "files">,
  { move, session }: SeparateOptions,
): Promise<CommandResult> {
  const { configModule } = files;
  const servers = client.readsSharedFile === true ? configModule.findSharedServers(files) : [];
  if (servers.length === 0) return result;
  const names = servers.map(({ name }) => name);
  const fact = `${client.title} reads .mcp.json, too, and sees these servers twice: ${escaped(names.join(", "))}`;
  const question = `${fact}. Move them to mcp.json, which only Skillgate reads? [y/N] `;
  const json = result.json as Readonly<Record<string, unknown>>;
  if (move || (isAtTerminal() && (await askYesNo(question, session.signal)))) {
    const file = await configModule.moveSharedServers(servers, files);
    const text = lines([result.text, `Moved ${escaped(names.join(", "))} from .mcp.json to ${file}`]);
    return { ...result, json: { ...json, moved: names }, text };
  }
  const remarks = `${fact}. skillgate connect ${client.id} --move moves them to mcp.json, which only Skillgate reads`;
  return { ...result, json: { ...json, twice: names }, remarks };
}
