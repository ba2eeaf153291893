import type { Command } from "commander";

import type { CommandAction } from "../command-action.ts";
import { lines } from "../text/layout.ts";
import { toolsText } from "../text/server-texts.ts";
import { type StartedServers, type StartedServer, startServers } from "./start-servers.ts";

export function addMcpTools(mcp: Command, act: CommandAction): void {
  mcp
    .command("tools")
    .description("list the tools of servers with their methods and descriptions")
    .argument("[name]", "name of the server (default: all servers)")
    .addHelpText("after", "\nExample:\n  skillgate mcp tools filesystem")
    .action(
      act(async (session, name: string | undefined) => {
        const live = await startServers(session, name);
        const listed = live.servers.map((server) => withTools(server, live));
        const isDown = name !== undefined && live.servers.some(({ status }) => status !== "connected");
        return {
          exit: isDown ? "unreachable" : "ok",
          json: { servers: listed },
          text: lines(listed.map((server) => toolsText(server, session.paint.out))) || "No MCP servers are configured",
        };
      }),
    );
}

/** A server with the descriptions of its tools. */
function withTools({ name, skill, status, error, tools, quarantined }: StartedServer, { runtime }: StartedServers) {
  return {
    name,
    skill,
    status,
    ...(error !== undefined && { error }),
    tools: tools.map((tool) => {
      const path = `${skill}.${tool.method}`;
      return { tool: tool.name, path, description: runtime.catalog.method(path)?.description ?? "" };
    }),
    quarantined,
  };
}
