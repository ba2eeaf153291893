import { createHash } from "node:crypto";

import { isRecord } from "../../model/json.ts";
import type { Connection } from "./connection.ts";
import type { ListedTools } from "./list-tools.ts";
import type { ServerConfig } from "./server-config.ts";

/** What a server said of itself and of its tools when it was last asked. Plain data, not looked at yet. */
export interface Listing extends ListedTools, Pick<Connection, "protocolVersion" | "server" | "instructions" | "era"> {}

/**
 * Keeps listings, so that a server need not be started to be found: it is started by its first call. A `Map` will do for
 * one process.
 */
export interface ListingCache {
  get(key: string): unknown;
  set(key: string, listing: Listing): unknown;
}

/** Changes with whatever changes which server is meant; holds no secret. */
export function listingKey({ name, transport, declared, ...config }: ServerConfig): string {
  const place = "cwd" in config ? config.cwd : "";
  const digest = createHash("sha256").update(JSON.stringify([transport, place, declared]));
  return `${name}:${digest.digest("hex")}`;
}

/** A listing that was kept; `undefined` if it is not one. */
export function parseListing(kept: unknown): Listing | undefined {
  if (!isRecord(kept)) return undefined;
  const { protocolVersion, server, instructions, era, tools, ttlMs } = kept;
  const isListing =
    typeof protocolVersion === "string" &&
    isRecord(server) &&
    typeof instructions === "string" &&
    isRecord(era) &&
    (era["kind"] === "legacy" || (era["kind"] === "modern" && isRecord(era["discover"]))) &&
    Array.isArray(tools) &&
    typeof ttlMs === "number";
  return isListing ? (kept as unknown as Listing) : undefined;
}
