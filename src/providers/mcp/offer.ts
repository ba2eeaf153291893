import type { Problem } from "../../model/provider.ts";
import type { ProvidedSkill } from "../../model/skill.ts";
import type { Connection } from "./connection.ts";
import type { ListedTools } from "./list-tools.ts";
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
  connection: Connection,
  listed: ListedTools,
  {
    name,
    invoke,
    last,
  }: { readonly name: string; readonly invoke: ProvidedSkill["invoke"]; readonly last: Offer | undefined },
): Offer {
  const hasHeaders = config.transport !== "stdio" && connection.era.kind === "modern";
  const { tools, quarantined } = importTools(listed.tools, { ...config, hasHeaders });
  const skill: ProvidedSkill = {
    name,
    description: descriptionOf(config, connection),
    source: config.name,
    kind: "mcp",
    server: config.name,
    ...(connection.instructions !== "" && { guidance: connection.instructions }),
    methods: tools.map((tool) => tool.method),
    invoke,
  };
  const reasons = quarantined.map(({ tool, reason }) => `the tool "${tool}" is left out, ${reason}`);
  return {
    skill: last !== undefined && isSame(last.skill, skill) ? last.skill : skill,
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    quarantined,
    problems: [...(listed.incomplete === undefined ? [] : [listed.incomplete]), ...reasons].map((error) => ({
      source: config.name,
      error,
    })),
    staleAt: listed.ttlMs === 0 ? Number.POSITIVE_INFINITY : Date.now() + listed.ttlMs,
    protocolVersion: connection.protocolVersion,
  };
}

function descriptionOf({ description, name }: ServerConfig, { server }: Connection): string {
  const own = [server["description"], server.title].find((text) => typeof text === "string" && text.trim() !== "");
  return description ?? (typeof own === "string" ? own : `MCP server: ${name}`);
}

function isSame(a: ProvidedSkill, b: ProvidedSkill): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
