import { BUILTIN_TOOLS, CALL_TOOLS } from "../../../runtime/builtin-tools/definitions.ts";
import type { OpeningTexts } from "./answers.ts";
import type { Expose } from "../../../model/tools/exposure.ts";
import type { KnownServer } from "../../../providers/mcp/known-server.ts";
import { COMPLETE_UNITS } from "./client-limits.ts";
import { formatInstructions } from "./sentences.ts";
import { formatServers } from "./server-list.ts";

export { EarlyAnswers, type GetOpeningTexts, type OpeningTexts } from "./answers.ts";
export { parseExactMessages } from "../exact-messages.ts";
export { CLIENT_NAMES, getClientLimits } from "./client-limits.ts";
export { EXPOSES, type Expose } from "../../../model/tools/exposure.ts";
export { LEGACY_VERSIONS, MODERN_VERSION } from "./protocol.ts";
export { parseRequest } from "./request.ts";
export { Silence } from "./silence.ts";
export { OpeningStream } from "./stream.ts";

/** Returns the texts for a client while no method is known. A list with methods as tools has to wait for them. */
export function getFirstTexts(expose: Expose, servers: readonly KnownServer[] = []): OpeningTexts {
  const isShort = expose === "code" || expose === "auto";
  const tools = isShort ? BUILTIN_TOOLS : expose === "calls" ? CALL_TOOLS : undefined;
  const start = formatInstructions(expose);
  const list = expose === "tools" ? "" : formatServers(servers, COMPLETE_UNITS - start.length);
  return { instructions: start + list, tools };
}
