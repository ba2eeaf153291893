import { sentence, SkillgateError } from "../../../errors.ts";
import { createKeys, getKeyState, type Keys, type WantedKey } from "../../../keys/index.ts";
import { type Caller, OWNER } from "../../../model/caller.ts";
import { isRecord } from "../../../model/json.ts";
import type { KeyRow } from "../../../store/index.ts";
import type { IssuedKey, KeyList, KeySummary } from "../admin-messages.ts";
import { invalidRequest } from "../problem.ts";
import { type JsonObject, readObject, readText } from "../read-body.ts";
import { requireAdmin } from "../security/guard.ts";
import type { AddConsoleApi } from "../services.ts";

/** Adds the list of keys for administrators, and their changes for the owner. */
export const addKeysApi: AddConsoleApi = (api, { runtime, http }) => {
  const openKeys = async (): Promise<Keys> => createKeys(await runtime.database());

  api.get("/keys", async (c) => {
    requireAdmin(c.get("caller"), "read");
    const [keys, { kind }] = await Promise.all([openKeys(), runtime.database()]);
    const list: KeyList = { keys: (await keys.list()).map(summarizeKey), isLasting: kind !== "memory" };
    return c.json(list);
  });
  api.post("/keys", async (c) => {
    requireOwner(c.get("caller"));
    const { text, key } = await (await openKeys()).create(readWantedKey(await readObject(c, http)));
    const issued: IssuedKey = { text, key: summarizeKey(key) };
    return c.json(issued, 201);
  });
  api.post("/keys/:id/rotate", async (c) => {
    requireOwner(c.get("caller"));
    const body = await readObject(c, http);
    const overlapMs = readWhole(body, "overlapMs") ?? 0;
    const { text, key } = await (await openKeys()).rotate(c.req.param("id"), { overlapMs });
    const issued: IssuedKey = { text, key: summarizeKey(key) };
    return c.json(issued);
  });
  api.post("/keys/:id/revoke", async (c) => {
    requireOwner(c.get("caller"));
    await (await openKeys()).revoke(c.req.param("id"));
    return c.body(null, 204);
  });
};

/** An administrator with a key of limited rights must not be able to create a key with more. */
function requireOwner({ id }: Caller): void {
  if (id === OWNER.id) return;
  throw new SkillgateError("ADMIN_MISSING", sentence("ADMIN_MISSING", "only the owner creates and changes keys"));
}

function summarizeKey(row: KeyRow): KeySummary {
  const { sha256: _sha256, previousSha256: _previous, ...key } = row;
  return { ...key, state: getKeyState(row) };
}

/** The module of keys checks the values; this one only the types. */
function readWantedKey(body: JsonObject): WantedKey {
  const { limits = {} } = body;
  if (!isRecord(limits)) throw invalidRequest("limits must be an object");
  const [perMinute, perHour] = [readWhole(limits, "perMinute"), readWhole(limits, "perHour")];
  const expires = readWhole(body, "expires");
  return {
    name: readText(body, "name"),
    permissions: readTexts(body, "permissions"),
    scopes: readTexts(body, "scopes"),
    roles: readTexts(body, "roles"),
    limits: { ...(perMinute !== undefined && { perMinute }), ...(perHour !== undefined && { perHour }) },
    ...(expires !== undefined && { expires }),
  };
}

function readTexts(body: JsonObject, name: string): readonly string[] {
  const value = body[name] ?? [];
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value;
  throw invalidRequest(`${name} must be a list of texts`);
}

/** Reads a whole number from 0; `null` and a missing one are `undefined`. */
function readWhole(body: JsonObject, name: string): number | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw invalidRequest(`${name} must be a whole number from 0`);
}
