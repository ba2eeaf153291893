import {
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
  type StandardSchemaV1,
} from "@modelcontextprotocol/server";

import { isRecord } from "../../../model/json.ts";
import type { ReadContext } from "../../../model/mcp-features.ts";
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
    const skills = view.secrets.maskValue([...offers.skills.values()].map(({ item }) => item));
    return { ...listedPage("skills", skills, typeof cursor === "string" ? cursor : undefined), ...UNCACHED };
  });
  server.setRequestHandler("skills/get", { params: PARAMS }, async ({ uri }, context) => {
    const { offers, view } = await library(context);
    const offered = typeof uri === "string" ? offers.skills.get(uri) : undefined;
    if (typeof uri !== "string" || offered === undefined) throw unknownSkill(uri);
    const answer = await offered.offers.skill?.(uri, toContext(context));
    return { skill: offered.item, ...(isRecord(answer) && view.secrets.maskValue(answer)), ...UNCACHED };
  });
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
