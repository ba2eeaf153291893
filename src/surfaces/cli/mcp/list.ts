import type { Command } from "commander";

import type { CommandAction } from "../command-action.ts";
import { warningsText } from "../text/output.ts";
import { serversText } from "../text/server-texts.ts";
import { startServers } from "./start-servers.ts";

export function addMcpList(mcp: Command, act: CommandAction): void {
  mcp
    .command("list")
    .alias("ls")
    .description("show the MCP servers and whether they are connected")
    .addHelpText("after", "\nExample:\n  skillgate mcp list --json")
    .action(
      act(async (session) => {
        const { servers, problems, otherProblems } = await startServers(session);
        return {
          exit: "ok",
          json: { servers, problems },
          text: serversText(servers, session.paint.out),
          remarks: warningsText(otherProblems, session.paint.err),
        };
      }),
    );
}
