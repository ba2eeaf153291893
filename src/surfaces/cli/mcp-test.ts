import type { Command } from "commander";

import { SkillgateError } from "../../errors.ts";
import { nearest } from "../../model/nearest.ts";
import type { Runtime } from "../../runtime.ts";
import type { Act } from "./act.ts";
import { lines, serverText } from "./output.ts";

export function addMcpTest(mcp: Command, act: Act): void {
  mcp
    .command("test")
    .description("start a server and list its tools, or say why that fails")
    .argument("[name]", "name of the server; all that are enabled by default")
    .action(
      act(async ({ readyRuntime, paint }, name: string | undefined) => {
        const { servers: all } = await readyRuntime();
        const servers =
          name === undefined ? all.filter(({ status }) => status !== "disabled") : [serverNamed(name, all)];
        return {
          exit: servers.every(({ status }) => status === "connected") ? "ok" : "unreachable",
          json: { servers },
          text: lines(servers.map((server) => serverText(server, paint.out))) || "There is no MCP server to test",
        };
      }),
    );
}

function serverNamed(name: string, servers: Runtime["servers"]): Runtime["servers"][number] {
  const server = servers.find((each) => each.name === name);
  if (server !== undefined) return server;
  const suggestions = nearest(
    name,
    servers.map((each) => each.name),
  );
  const meant = suggestions.length === 0 ? "" : `; did you mean ${suggestions.join(" or ")}?`;
  throw new SkillgateError("SKILL_UNKNOWN", `MCP server not found: ${name}${meant}`, { server: name, suggestions });
}
