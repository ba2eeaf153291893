import { type CreatedKey, getKeyState, type KeyUsage, toNotation, type WantedKey } from "../../../keys/index.ts";
import type { CallLimits } from "../../../model/caller.ts";
import { isRecord } from "../../../model/json.ts";
import type { KeyRow } from "../../../store/index.ts";
import { withoutGaps } from "../../../shared/json/without-gaps.ts";
import { type Endpoints, type JsonObject, readText, readTexts } from "../endpoints.ts";
import type { IssuedKey, KeyList, KeySummary } from "../messages.ts";
import { invalidRequest } from "../problem.ts";

/**
 * The list of keys for administrators, and their changes for the owner: an administrator with a key of limited rights must not be
 * able to create a key with more.
 */
export function createKeyEndpoints(): Endpoints {
  return {
    "GET /keys": async ({ view }): Promise<KeyList> => {
      const { kind, list } = await view.admin("Read").openKeys();
      return { keys: (await list()).map(summarizeKey), isLasting: kind !== "memory" };
    },
    "GET /keys/:id/usage": async ({ view, getPart }): Promise<KeyUsage> =>
      (await view.admin("Read").openKeys()).readUsage(getPart("id")),
    "POST /keys": async ({ c, view, readBody }) => {
      const keys = await view.admin("ManageKeys").openKeys();
      return c.json(describeIssued(await keys.create(readWantedKey(await readBody()))), 201);
    },
    "POST /keys/:id/rotate": async ({ view, getPart, readBody }) => {
      const keys = await view.admin("ManageKeys").openKeys();
      const overlapMs = readWhole(await readBody(), "overlapMs") ?? 0;
      return describeIssued(await keys.rotate(getPart("id"), { overlapMs }));
    },
    "POST /keys/:id/revoke": async ({ view, getPart }) => {
      await (await view.admin("ManageKeys").openKeys()).revoke(getPart("id"));
    },
  };
}

function describeIssued({ text, key }: CreatedKey): IssuedKey {
  return { text, key: summarizeKey(key) };
}

function summarizeKey(row: KeyRow): KeySummary {
  const { sha256: _sha256, previousSha256: _previous, ...key } = row;
  return { ...key, permissions: row.permissions.flatMap(toNotation), state: getKeyState(row) };
}

const LIMITS = ["perMinute", "perHour", "maxRunning", "weight"] as const satisfies readonly (keyof CallLimits)[];

/** The module of keys checks the values; this one only the types. */
function readWantedKey(body: JsonObject): WantedKey {
  const { limits = {} } = body;
  if (!isRecord(limits)) throw invalidRequest("limits must be an object");
  const expires = readWhole(body, "expires");
  return {
    name: readText(body, "name"),
    permissions: readTexts(body, "permissions"),
    scopes: readTexts(body, "scopes"),
    roles: readTexts(body, "roles"),
    limits: withoutGaps(Object.fromEntries(LIMITS.map((name) => [name, readWhole(limits, name)]))),
    ...(expires !== undefined && { expires }),
  };
}

/** Reads a whole number from 0; `null` and a missing one are `undefined`. */
function readWhole(body: JsonObject, name: string): number | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw invalidRequest(`${name} must be a whole number from 0`);
}
