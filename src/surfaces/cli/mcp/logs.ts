import type { Command } from "commander";

import type { CommandAction } from "../command-action.ts";
import { startServer } from "./start-servers.ts";

export function addMcpLogs(mcp: Command, act: CommandAction): void {
  mcp
    .command("logs")
    .description("start a server and show what it prints on stderr")
    .argument("<name>", "name of the server")
    .addHelpText("after", "\nExample:\n  skillgate mcp logs filesystem")
    .action(
      act(async (session, name: string) => {
        const { status, error, transport, stderrTail } = await startServer(session, name);
        const nothing = transport === "stdio" ? `${name} printed nothing on stderr` : `${name} is not a local process`;
        return {
          exit: status === "connected" ? "ok" : "unreachable",
          json: { name, status, ...(error !== undefined && { error }), stderr: stderrTail },
          text: stderrTail,
          remarks: stderrTail === "" ? (error ?? nothing) : (error ?? ""),
        };
      }),
    );
}
