import type { Problem } from "../../../model/provider.ts";
import type { Runtime } from "../../../runtime.ts";

/** Describes the addresses that several MCP servers have. */
export async function findAddressCollisions(runtime: Runtime): Promise<readonly Problem[]> {
  if (runtime.servers.filter(({ status }) => status === "connected").length < 2) return [];
  const { findCollisions } = await import("../../mcp/index.ts");
  return findCollisions(runtime);
}
