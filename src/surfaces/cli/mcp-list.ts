import type { Command } from "commander";

import type { Act } from "./act.ts";
import { serversText, warningsText } from "./output.ts";
import { otherProblems } from "./problems.ts";

export function addMcpList(mcp: Command, act: Act): void {
  mcp
    .command("list")
    .description("show the MCP servers and whether they are connected")
    .action(
      act(async ({ readyRuntime, paint }) => {
        const runtime = await readyRuntime();
        const { servers, problems } = runtime;
        return {
          exit: "ok",
          json: { servers, problems },
          text: serversText(servers, paint.out),
          remarks: warningsText(otherProblems(runtime), paint.err),
        };
      }),
    );
}
