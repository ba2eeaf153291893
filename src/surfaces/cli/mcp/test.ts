import type { Command } from "commander";

import type { CommandAction } from "../command-action.ts";
import { lines } from "../text/layout.ts";
import { serverText } from "../text/server-texts.ts";
import { startServers } from "./start-servers.ts";

export function addMcpTest(mcp: Command, act: CommandAction): void {
  mcp
    .command("test")
    .description("start a server and list its tools, or show why it fails")
    .argument("[name]", "name of the server (default: all enabled servers)")
    .addHelpText("after", "\nExample:\n  skillgate mcp test filesystem")
    .action(
      act(async (session, name: string | undefined) => {
        const started = await startServers(session, name);
        const servers = started.servers.filter(({ status }) => name !== undefined || status !== "disabled");
        return {
          exit: servers.every(({ status }) => status === "connected") ? "ok" : "unreachable",
          json: { servers },
          text: lines(servers.map((server) => serverText(server, session.paint.out))) || "No MCP servers to test",
        };
      }),
    );
}
