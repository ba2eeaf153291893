import type { Problem } from "../../model/provider.ts";
import type { ProvidedSkill } from "../../model/skill.ts";
import type { Listing } from "./listing.ts";
import type { ServerConfig } from "./server-config.ts";
import { importTools, type QuarantinedTool, type Tool } from "./tools.ts";

/** What a server offers, as it said when it was last asked. */
export interface Offer {
  readonly skill: ProvidedSkill;
  /** By their names on the wire. */
  readonly tools: ReadonlyMap<string, Tool>;
  readonly quarantined: readonly QuarantinedTool[];
  readonly problems: readonly Problem[];
  /** When to ask again, in milliseconds since 1970. */
  readonly staleAt: number;
  readonly protocolVersion: string;
}

/** Makes a skill of a server's tools. The skill stays the same object as long as nothing of it has changed. */
export function offerOf(
  config: ServerConfig,
  listing: Listing,
  {
    name,
    invoke,
    last,
  }: { readonly name: string; readonly invoke: ProvidedSkill["invoke"]; readonly last: Offer | undefined },
): Offer {
  const hasHeaders = config.transport !== "stdio" && listing.era.kind === "modern";
  const { tools, quarantined } = importTools(listing.tools, { ...config, hasHeaders });
  const skill: ProvidedSkill = {
    name,
    description: descriptionOf(config, listing),
    source: config.name,
    kind: "mcp",
    server: config.name,
    ...(listing.instructions !== "" && { guidance: listing.instructions }),
    methods: tools.map((tool) => tool.method),
    invoke,
  };
  const reasons = quarantined.map(({ tool, reason }) => `the tool "${tool}" is left out, ${reason}`);
  return {
    skill: last !== undefined && isSame(last.skill, skill) ? last.skill : skill,
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    quarantined,
    problems: [...(listing.incomplete === undefined ? [] : [listing.incomplete]), ...reasons].map((error) => ({
      source: config.name,
      error,
    })),
    staleAt: listing.ttlMs === 0 ? Number.POSITIVE_INFINITY : Date.now() + listing.ttlMs,
    protocolVersion: listing.protocolVersion,
  };
}

function descriptionOf({ description, name }: ServerConfig, { server }: Listing): string {
  const own = [server["description"], server.title].find((text) => typeof text === "string" && text.trim() !== "");
  return description ?? (typeof own === "string" ? own : `MCP server: ${name}`);
}

function isSame(a: ProvidedSkill, b: ProvidedSkill): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
