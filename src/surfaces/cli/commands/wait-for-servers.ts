import type { Problem } from "../../../model/provider.ts";
import type { Runtime } from "../../../runtime.ts";
import { waitAtMost } from "../../../shared/run-with-timeout.ts";

/** Milliseconds for which a command that only shows something waits for a server that does not answer. */
export const MAX_WAIT_MS = 5_000;

/** Waits until the tools of all servers are known, 5 s at most. Returns a problem for each server that has not answered. */
export async function waitForServers(runtime: Runtime): Promise<readonly Problem[]> {
  if (await waitAtMost(MAX_WAIT_MS, runtime.known)) return [];
  return runtime.servers
    .filter(({ status, skill }) => status === "connecting" && runtime.catalog.skill(skill) === undefined)
    .map(({ name }) => ({
      source: name,
      error: `MCP server "${name}": ${describeSilence(name)}`,
      isForAllRuns: true,
    }));
}

/** Says that a server has not answered, and how to wait for it. */
export function describeSilence(server: string): string {
  return `no answer within ${MAX_WAIT_MS / 1_000} s; wait for it with: skillgate mcp test ${server}`;
}
