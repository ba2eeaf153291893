import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

import { beforeEach, describe, expect, onTestFinished, test } from "vitest";

import { openPostgres } from "../../src/store/database/postgres.ts";
import { createTables, type SqlEngine } from "../../src/store/database/schema.ts";
import { COUNTERS } from "../../src/store/tables/counters.ts";
import { openDatabase } from "../../src/store/index.ts";
import { createFolder } from "../approvals/mail.ts";
import { shareFilePostgres } from "../support/databases.ts";

const postgres = shareFilePostgres();

/** A network between a store and its server that can lose an answer. */
interface Network {
  readonly url: string;
  /** Cuts the connection instead of the next answer that contains a text; resolves when it is cut. */
  cutAt(text: string): Promise<void>;
}

async function openNetwork(target: string): Promise<Network> {
  let wanted: { readonly text: string; readonly resolve: () => void } | undefined;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(new URL(target).port), "127.0.0.1");
    for (const socket of [client, upstream]) sockets.add(socket.on("error", () => {}));
    client.pipe(upstream);
    upstream.on("data", (chunk) => {
      if (wanted === undefined || !chunk.includes(wanted.text)) return client.write(chunk);
      client.destroy();
      upstream.destroy();
      wanted.resolve();
      wanted = undefined;
      return false;
    });
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    cutAt: (text) => new Promise((resolve) => (wanted = { text, resolve })),
  };
}

const COUNTER = { bucket: "b", start: 0, count: 1, expires: 0 };

describe.skipIf(postgres === undefined)("an answer of PostgreSQL that is lost", () => {
  let network: Network;
  let engine: SqlEngine;
  beforeEach(async () => {
    network = await openNetwork((postgres as NonNullable<typeof postgres>).url());
    engine = await openPostgres(network.url, 500);
    onTestFinished(() => engine.close());
    await createTables(engine);
  });

  test("is never one to a query of the driver itself, which does not handle its failure [P8]", async () => {
    let isCut = false;
    // The column of the query that asks for the types of arrays.
    void network.cutAt("typarray").then(() => (isCut = true));
    const other = await openPostgres(network.url, 500);
    onTestFinished(() => other.close());
    await other.total(COUNTERS);
    expect(isCut).toBe(false);
  });

  test("does not repeat a transaction that was committed [P8]", async () => {
    const cut = network.cutAt("COMMIT");
    let times = 0;
    const total = await engine.transaction("lock", async (rows) => {
      const row = { ...COUNTER, start: times++ };
      await rows.insert(COUNTERS, [row]);
      return rows.total(COUNTERS);
    });
    await cut;
    expect({ total, times }).toEqual({ total: 1, times: 1 });
    expect(await engine.select(COUNTERS, {})).toEqual([COUNTER]);
  });

  test("repeats a transaction that was not committed [P8]", async () => {
    const cut = network.cutAt("INSERT 0 1");
    let times = 0;
    const count = await engine.transaction("lock", (rows) => {
      times++;
      return rows.count(COUNTERS, COUNTER, "count");
    });
    await cut;
    expect({ count, times }).toEqual({ count: 1, times: 2 });
  });

  test("adds rows once, and still refuses a row of another process [R1]", async () => {
    const cut = network.cutAt("INSERT 0 1");
    await engine.insert(COUNTERS, [COUNTER]);
    await cut;
    expect(await engine.select(COUNTERS, {})).toEqual([COUNTER]);
    void network.cutAt("duplicate key");
    await expect(engine.insert(COUNTERS, [{ ...COUNTER, count: 2 }])).rejects.toMatchObject({ code: "STORE_CONFLICT" });
  });

  test("says that a change may have been stored, and does not make it again [P5]", async () => {
    const cut = network.cutAt("INSERT 0 1");
    await expect(engine.count(COUNTERS, COUNTER, "count")).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("the connection ended, and whether the change was stored is not known"),
    });
    await cut;
    expect(await engine.select(COUNTERS, {})).toEqual([COUNTER]);
  });

  test.each(["INSERT 0 2", "COMMIT"])("appends records to the audit log once when %j is lost [P8]", async (text) => {
    await using database = await openDatabase({ folder: createFolder(), url: network.url });
    const time = new Date().toISOString();
    // The first append is a transaction, the following ones are insertions.
    if (text !== "COMMIT") await database.audit.append([{ time, id: 0 }]);
    const cut = network.cutAt(text);
    await database.audit.append([
      { time, id: 1 },
      { time, id: 2 },
    ]);
    await cut;
    await database.audit.append([{ time, id: 3 }]);
    const ids: unknown[] = [];
    for await (const { record } of database.audit.read()) ids.push((JSON.parse(record) as { id: unknown }).id);
    expect(ids).toEqual(text === "COMMIT" ? [1, 2, 3] : [0, 1, 2, 3]);
    expect(await database.audit.verify()).toMatchObject({ kind: "intact" });
  });
});
