import {
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
  type StandardSchemaV1,
} from "@modelcontextprotocol/server";

import { isRecord } from "../../../model/json.ts";
import type { McpSkill, ReadContext } from "../../../model/mcp-features.ts";
import { truncateText } from "../../../shared/format-text.ts";
import { listedPage } from "./pages.ts";
import type { Library } from "./resources.ts";

/** Fields of both results: a client asks again each time, because servers come and go. */
const UNCACHED = { ttlMs: 0, cacheScope: "private" } as const;

/** Serves the skills that the servers of a caller offer. Their files are read as resources. */
export function serveSkills(
  server: Server,
  library: (context: ServerContext) => Promise<Library>,
  toContext: ToReadContext,
): void {
  server.setRequestHandler("skills/list", { params: PARAMS }, async ({ cursor }, context) => {
    const { offers, view } = await library(context);
    const skills = view.secrets.maskValue(offers.skills);
    return { ...listedPage("skills", skills, typeof cursor === "string" ? cursor : undefined), ...UNCACHED };
  });
  server.setRequestHandler("skills/get", { params: PARAMS }, async ({ uri }, context) => {
    const { offers, view } = await library(context);
    const [found] = typeof uri === "string" ? offers.find(uri) : [];
    const listed = offers.skills.find((skill) => skill.uri === uri);
    if (found === undefined) throw unknownSkill(uri);
    const answer = await found.offers.skill?.(found.uri, toContext(context)).catch((thrown: unknown) => {
      throw listed === undefined ? unknownSkill(uri) : thrown;
    });
    const skill = isRecord(answer) && isSkill(answer["skill"]) ? found.rewriting.skill(answer["skill"]) : listed;
    if (skill === undefined) throw unknownSkill(uri);
    return {
      ...(isRecord(answer) && view.secrets.maskValue(answer)),
      skill: view.secrets.maskValue(skill),
      ...UNCACHED,
    };
  });
}

function isSkill(value: unknown): value is McpSkill {
  return isRecord(value) && typeof value["uri"] === "string";
}

type ToReadContext = (context: ServerContext) => ReadContext;

/** Accepts any params: each member is checked where it is used. */
const PARAMS: StandardSchemaV1<Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>> = {
  "~standard": {
    version: 1,
    vendor: "skillgate",
    validate: (value) => ({ value: isRecord(value) ? value : {} }),
  },
};

function unknownSkill(uri: unknown): ProtocolError {
  const shortUri = truncateText(JSON.stringify(uri) ?? "undefined", 200);
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown skill: ${shortUri}; skills/list has the URIs`);
}
