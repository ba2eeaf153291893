import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { findSqlite } from "../../../src/store/database/sqlite-program.ts";
import { serve } from "../serving.ts";

const LOCKED = "Timed out waiting for the store: another process has been writing to it for 50 ms (LOCK_TIMEOUT)";

async function serveWithStore(): Promise<Awaited<ReturnType<typeof serve>> & { readonly folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-health-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const server = await serve({}, { store: folder, timeouts: { lockMs: 50 } }, (token) => token === "owner");
  return { ...server, folder };
}

/** Locks the store as another process that writes does; the returned function ends it. */
function lockStore(folder: string): () => void {
  const other = findSqlite()?.connect(join(folder, "skillgate.db"));
  other?.exec("BEGIN IMMEDIATE");
  return () => {
    other?.exec("COMMIT");
    other?.close();
  };
}

test("is degraded with the reason after a failed commit, and healthy again after the next one", async () => {
  const { url, runtime, folder } = await serveWithStore();
  const database = await runtime.database();
  const lines: (readonly [string, string, string | undefined])[] = [];
  runtime.on("log", ({ level, text, path }) => {
    if (text.startsWith("The store ")) lines.push([level, text, path]);
  });
  const getHealth = async (query = "", headers: Record<string, string> = {}): Promise<unknown> => {
    const response = await fetch(`${url}/health${query}`, { headers });
    const { status, reason } = (await response.json()) as Record<string, unknown>;
    return [response.status, status, reason];
  };
  expect(await getHealth("?ready")).toEqual([200, "healthy", undefined]);

  const unlock = lockStore(folder);
  await expect(database.tryCommit()).rejects.toMatchObject({ code: "LOCK_TIMEOUT" });
  const summary = "Timed out waiting for the store (LOCK_TIMEOUT)";
  expect(await getHealth()).toEqual([200, "degraded", summary]);
  expect(await getHealth("?ready")).toEqual([503, "degraded", summary]);
  expect(await getHealth("", { authorization: "Bearer owner" })).toEqual([200, "degraded", LOCKED]);
  expect(lines).toEqual([["error", `The store fails: ${LOCKED}`, undefined]]);
  expect(runtime.problems).toEqual([{ source: "store", error: LOCKED, isForAllRuns: true }]);

  unlock();
  await database.tryCommit();
  expect(await getHealth("?ready")).toEqual([200, "healthy", undefined]);
  expect(lines.at(-1)).toEqual(["warn", "The store works again", undefined]);
  expect(runtime.problems).toEqual([]);
});

test("names the place of a store that fails to the owner only", async () => {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-health-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "file"), "");
  const { url, runtime } = await serve({}, { store: join(folder, "file", "store") }, (token) => token === "owner");
  const key = { authorization: `Bearer sg_${"a".repeat(12)}_${"b".repeat(43)}` };
  const owner = { authorization: "Bearer owner" };
  const summary = "Cannot use the store (STORE_UNAVAILABLE)";

  const refused = await fetch(`${url}/tools/search_skills`, { method: "POST", headers: key, body: "{}" });
  expect([refused.status, await refused.json()]).toMatchObject([
    502,
    { detail: summary, suggestions: ["Tell the owner: the log of the server says what is wrong with the store"] },
  ]);
  const stored = await fetch(`${url}/tools/run_code`, {
    method: "POST",
    headers: { ...owner, "content-type": "application/json" },
    body: JSON.stringify({ code: 'await device.store.get("a")' }),
  });
  expect(await stored.json()).toMatchObject({ detail: summary });

  expect(runtime.storeFailure?.message).toContain(folder);
  const getReason = async (headers: Record<string, string>): Promise<unknown> =>
    ((await (await fetch(`${url}/health`, { headers })).json()) as Record<string, unknown>)["reason"];
  expect([await getReason({}), await getReason(key)]).toEqual([summary, summary]);
  expect(await getReason(owner)).toContain(folder);
});
