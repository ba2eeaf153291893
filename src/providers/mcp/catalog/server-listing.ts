import { createHash } from "node:crypto";

import { isRecord } from "../../../model/json.ts";
import type { Connection } from "../connections/connection.ts";
import type { CapableTools } from "./capable-tools.ts";
import type { ListedTools } from "./list-tools.ts";
import type { ServerConfig } from "../server-config.ts";

/** The latest description of a server and its tools. Plain data, not validated yet. */
export interface ServerListing
  extends ListedTools, Pick<Connection, "protocolVersion" | "server" | "capabilities" | "instructions" | "era"> {
  /** In milliseconds since 1970. */
  readonly listedAt: number;
  /** The tools for clients with capabilities; absent if they are not known yet. They are not part of `tools`. */
  readonly capable?: CapableTools;
}

/** Returns a key that identifies a server by its configuration, without the texts that replace its own; contains no secret. */
export function listingKey({ name, transport, declared, ...config }: ServerConfig): string {
  const folder = "cwd" in config ? config.cwd : "";
  const { toolOverrides: _overrides, ...entry } = declared;
  const digest = createHash("sha256").update(JSON.stringify([transport, folder, entry]));
  return `${name}:${digest.digest("hex")}`;
}

/** Returns the description of a server by its entry, or else by itself; `undefined` without one. */
export function findDescription({ description }: ServerConfig, listing: ServerListing | undefined): string | undefined {
  const own: readonly unknown[] = [listing?.server["description"], listing?.server.title];
  return description ?? own.find((text): text is string => typeof text === "string" && text.trim() !== "");
}

/** Parses a stored listing; `undefined` if it is not valid. */
export function parseListing(stored: unknown): ServerListing | undefined {
  if (!isRecord(stored)) return undefined;
  const { protocolVersion, server, capabilities, instructions, era, tools, ttlMs, listedAt, capable } = stored;
  const isListing =
    typeof protocolVersion === "string" &&
    isRecord(server) &&
    isRecord(capabilities) &&
    typeof instructions === "string" &&
    isRecord(era) &&
    (era["kind"] === "legacy" || (era["kind"] === "modern" && isRecord(era["discover"]))) &&
    Array.isArray(tools) &&
    typeof ttlMs === "number" &&
    typeof listedAt === "number" &&
    (capable === undefined || (isRecord(capable) && Array.isArray(capable["tools"]) && isRecord(capable["needs"])));
  return isListing ? (stored as unknown as ServerListing) : undefined;
}
