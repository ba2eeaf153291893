// @module-tag rest

import { copyFile, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";

import { findSqlite } from "../../src/store/database/sqlite-program.ts";
import { openDatabase } from "../../src/store/index.ts";
import { usePostgres } from "../support/databases.ts";
import { listUnfinishedRuns, Shop } from "./main-job.ts";

const postgresServer = usePostgres();

const TIMEOUT_MS = 240_000;

test(
  "makes each effect once while a SQLite store is locked, vacuumed, backed up, deleted and restored, and its server ends [R2, S5]",
  { timeout: TIMEOUT_MS },
  async () => {
    const folder = await makeFolder();
    const [state, backup] = [join(folder, "state"), join(folder, "backup.db")];
    const shop = new Shop({ folder: state });
    shop.open();
    await shop.progress(20);
    for (const lockMs of [100, 500, 2_000, 6_000]) {
      const other = findSqlite()?.connect(join(state, "skillgate.db"));
      other?.exec("PRAGMA busy_timeout = 10000; BEGIN IMMEDIATE");
      // A lock of about the lock time may be noticed, or not.
      await Promise.all([wait(lockMs), lockMs > 500 && expectDegraded(shop)]);
      other?.exec("COMMIT");
      other?.close();
      await expectHealthy(shop);
      await shop.progress(10);
    }
    await shop.command("store", "vacuum");
    await shop.progress(10);
    await shop.command("store", "backup", "--out", backup);
    await shop.progress(10);
    await restart(shop);
    await expectWhole(shop);

    shop.open();
    await shop.progress(10);
    const files = (await readdir(state)).filter((name) => name.startsWith("skillgate.db"));
    for (const name of files) await rm(join(state, name), { force: true }); // the server removes its lock, too
    await (await shop.server).waitForLine("was deleted or replaced while it was in use");
    await (await shop.server).waitForLine("The store works again");
    await expectHealthy(shop);
    await shop.progress(10);
    await shop.command("store", "restore", backup);
    await shop.progress(10);
    await shop.close();
    await expectHealthy(shop);
    // A run that was open in the backup continues from there, so its calls may be made again.
    const continued = await listOpenOrders(backup, join(folder, "copy"));
    expect(shop.listDoubled().filter((order) => !continued.has(order))).toEqual([]);
    expect(shop.listLost()).toEqual([]);
    await shop.command("audit", "verify");
    expect((await shop.server).hasEnded()).toBe(false);
  },
);

test.skipIf(postgresServer === undefined)(
  "makes each effect once while PostgreSQL is locked and is ended, and the server of the runs ends [R2, S5]",
  { timeout: TIMEOUT_MS },
  async () => {
    if (postgresServer === undefined) throw new TypeError("PostgreSQL is not installed");
    const url = postgresServer.url();
    const shop = new Shop({ folder: await makeFolder(), url });
    shop.open();
    await shop.progress(20);
    for (const lockMs of [2_000, 6_000]) {
      await lockTables(url, () => Promise.all([wait(lockMs), expectDegraded(shop)]));
      await expectHealthy(shop);
      await shop.progress(10);
    }
    await postgresServer.kill();
    await expectDegraded(shop);
    await postgresServer.start();
    await expectHealthy(shop);
    await shop.progress(10);
    await restart(shop);
    await expectWhole(shop);
    expect((await shop.server).hasEnded()).toBe(false);
  },
);

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "skillgate-main-job-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function expectDegraded(shop: Shop): Promise<void> {
  const degraded = ["degraded", expect.stringMatching(/\([A-Z_]+\)$/), 503];
  await expect.poll(() => shop.getHealth(), { interval: 20 }).toEqual(degraded);
  await (await shop.server).waitForLine("The store fails: ");
}

async function expectHealthy(shop: Shop): Promise<void> {
  await expect.poll(() => shop.getHealth()).toEqual(["healthy", undefined, 200]);
}

async function restart(shop: Shop): Promise<void> {
  expect(await shop.restart("SIGTERM")).toBeOneOf([0, 143]);
  await shop.progress(10);
  expect(await shop.restart("SIGKILL")).toBeNull();
  await shop.progress(10);
}

/** Starts the server a last time while clients wait for it, and checks the effects, the runs and the chain. */
async function expectWhole(shop: Shop): Promise<void> {
  const closed = shop.close();
  await shop.restart("SIGKILL");
  await closed;
  await shop.withStore((database) =>
    expect.poll(() => listUnfinishedRuns(database), { interval: 500, timeout: 60_000 }).toEqual([]),
  );
  expect(shop.listDoubled()).toEqual([]);
  expect(shop.listLost()).toEqual([]);
  await shop.command("audit", "verify");
}

/** Locks all tables, also for reading, until `work` ends. */
async function lockTables(url: string, work: () => Promise<unknown>): Promise<void> {
  const { pathname, searchParams, username, password, host } = new URL(url);
  const schema = searchParams.get("search_path") ?? "";
  const sql = postgres(`postgres://${username}:${password}@${host}${pathname}`, { max: 1 });
  const tables = await sql`SELECT tablename FROM pg_tables WHERE schemaname = ${schema}`;
  const names = tables.map(({ tablename }) => `"${schema}"."${tablename}"`).join(", ");
  await sql.begin(async (transaction) => {
    await transaction.unsafe(`LOCK TABLE ${names} IN ACCESS EXCLUSIVE MODE`);
    await work();
  });
  await sql.end();
}

/** Returns the orders of the runs that have no end in a backup. */
async function listOpenOrders(backup: string, folder: string): Promise<ReadonlySet<number>> {
  await mkdir(folder);
  await copyFile(backup, join(folder, "skillgate.db"));
  await using database = await openDatabase({ folder });
  const titles = (await database.runs.list({ ended: null })).map(({ title }) => title);
  return new Set(titles.flatMap((title) => (title.split("// ")[1] ?? "").split(" ").map(Number)));
}
