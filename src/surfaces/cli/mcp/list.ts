import type { Command } from "commander";

import type { CommandAction } from "../command-action.ts";
import { warningsText } from "../text/output.ts";
import { createServerRow } from "../text/server-texts.ts";
import { openServers } from "./open-servers.ts";

export function addMcpList(mcp: Command, act: CommandAction): void {
  mcp
    .command("list")
    .alias("ls")
    .description("show the MCP servers, and whether each connects within 5 seconds")
    .addHelpText("after", "\nExample:\n  skillgate mcp list --json")
    .action(
      act(async (session) => {
        const { runtime, follow } = await openServers(session);
        const formatRow = createServerRow(runtime.servers, session.paint.out);
        const { servers, problems, otherProblems } = await follow((server) => {
          if (!session.flags.json) session.write("out", `${formatRow(server)}\n`);
        });
        const isUsable = servers.every(({ status }) => status === "connected" || status === "disabled");
        return {
          exit: isUsable ? "ok" : "unreachable",
          json: { servers, problems },
          text: servers.length === 0 ? "No MCP servers are configured" : "",
          remarks: warningsText(otherProblems, session.paint.err),
        };
      }),
    );
}
