import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from "@modelcontextprotocol/server";

import { isRecord } from "../../../model/json.ts";
import { MCP_LOG_LEVELS } from "../../../shared/log-levels.ts";

/** A valid `tools/call` request with only the usual members. */
export interface RegularCall {
  readonly id: string | number;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly progressToken?: string | number;
  readonly era: "legacy" | "modern";
}

/**
 * Parses a regular call, which is answered without the SDK. Returns `undefined` for any other message, and for answers to
 * questions: the SDK handles those completely, but parses each message several times.
 */
export function regularCall(message: unknown): RegularCall | undefined {
  if (!isRecord(message) || message["method"] !== "tools/call" || message["jsonrpc"] !== "2.0") return undefined;
  if (!Object.keys(message).every((key) => MEMBERS.has(key))) return undefined;
  const { id, params } = message;
  if (!isId(id) || !isRecord(params) || !Object.keys(params).every((key) => PARAMETERS.has(key))) return undefined;
  const { name, arguments: args = {}, _meta: meta = {} } = params;
  if (typeof name !== "string" || !isRecord(args) || !isRecord(meta)) return undefined;
  const era = detectEra(meta);
  const { progressToken } = meta;
  if (era === undefined || (progressToken !== undefined && !isId(progressToken))) return undefined;
  return { id, name, args, meta, era, ...(progressToken !== undefined && { progressToken }) };
}

const MEMBERS: ReadonlySet<string> = new Set(["jsonrpc", "id", "method", "params"]);

const PARAMETERS: ReadonlySet<string> = new Set(["name", "arguments", "_meta"]);

function isId(value: unknown): value is string | number {
  return typeof value === "string" || Number.isSafeInteger(value);
}

/** Detects the protocol by the metadata of the client, which only 2026 requests carry; `undefined` if it is invalid. */
function detectEra(meta: RegularCall["meta"]): RegularCall["era"] | undefined {
  const present = ENVELOPE.filter((key) => meta[key] !== undefined);
  if (present.length === 0) return "legacy";
  const capabilities = meta[CLIENT_CAPABILITIES_META_KEY];
  const level = meta[LOG_LEVEL_META_KEY];
  const isWhole =
    meta[PROTOCOL_VERSION_META_KEY] === MODERN_VERSION &&
    isRecord(capabilities) &&
    Object.values(capabilities).every(isRecord) &&
    (level === undefined || MCP_LOG_LEVELS.some((each) => each === level)) &&
    isPlainInfo(meta[CLIENT_INFO_META_KEY]);
  return isWhole ? "modern" : undefined;
}

export const MODERN_VERSION = "2026-07-28";

const ENVELOPE = [
  PROTOCOL_VERSION_META_KEY,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
] as const;

function isPlainInfo(info: unknown): boolean {
  if (info === undefined) return true;
  return isRecord(info) && typeof info["name"] === "string" && typeof info["version"] === "string";
}
