import type { Command } from "commander";

import type { Act } from "../act.ts";
import { lines } from "../layout.ts";
import { toolsText } from "../server-texts.ts";
import { type Live, type LiveServer, startServers } from "./live.ts";

export function addMcpTools(mcp: Command, act: Act): void {
  mcp
    .command("tools")
    .description("list the tools of servers, each with its method and what it is for")
    .argument("[name]", "name of the server; all that are connected by default")
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

/** A server with what each of its tools is for. */
function withTools({ name, skill, status, error, tools, quarantined }: LiveServer, { runtime }: Live) {
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
