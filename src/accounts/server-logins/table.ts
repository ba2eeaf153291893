import { randomUUID } from "node:crypto";

import {
  type AccountRow,
  type AccountTable,
  type Database,
  type LazyDatabase,
  SERVER_LOGIN,
  waitForChange,
} from "../../store/index.ts";
import { createQueues } from "../../shared/threads/queue.ts";
import { NEW_ROW } from "../changes.ts";
import { claimConnection, createHolder, ForeignClaim } from "../oauth/claim.ts";
import type { LoginEntries } from "./entries.ts";

/** A claim is renewed this often, so that it does not end while its work lasts. */
const HOLD_MS = 15_000;

/** The logins in the table of accounts, whose other rows they leave alone: their names are keys, which have a space. */
export function createLoginTable(database: Pick<LazyDatabase, "open">): LoginEntries {
  const queueUp = createQueues();
  const openTable = async (): Promise<AccountTable> => (await database.open()).accounts;
  return {
    get: async (key) => (await (await openTable()).find(key, null))?.value,
    async set(key, value) {
      const table = await openTable();
      for (;;) {
        const row = await table.find(key, null);
        if (row === undefined) return void (await table.replace(createRow(key, value)));
        if (await table.update(row, { value })) return;
      }
    },
    async replace(key, before, value) {
      const table = await openTable();
      const row = await table.find(key, null);
      return row?.value === before && table.update(row, { value });
    },
    async delete(key) {
      const table = await openTable();
      const row = await table.find(key, null);
      return row !== undefined && table.delete(row.id);
    },
    list: async () => new Map((await (await openTable()).listLogins()).map(({ name, value }) => [name, value])),
    exclusively: (key, work) => queueUp(key, async () => underClaim(await database.open(), key, work)),
  };
}

function createRow(name: string, value: string): AccountRow {
  const location = { id: randomUUID(), name, owner: null, definition: SERVER_LOGIN };
  return { ...NEW_ROW, ...location, value, created: Date.now() };
}

/** Runs work when no other process has a claim on the entry. Without an entry, there is nothing that two could renew. */
async function underClaim<Result>(database: Database, key: string, work: () => Promise<Result>): Promise<Result> {
  const { accounts } = database;
  const holder = createHolder();
  const foreign = new ForeignClaim();
  for (;;) {
    const row = await accounts.find(key, null);
    if (row === undefined) return work();
    if (foreign.isOver(row) && (await claimConnection(accounts, row, holder)))
      return workClaimed(accounts, { id: row.id, holder }, work);
    await waitForChange(database);
  }
}

async function workClaimed<Result>(
  table: AccountTable,
  { id, holder }: { readonly id: string; readonly holder: string },
  work: () => Promise<Result>,
): Promise<Result> {
  const hold = async (): Promise<void> => {
    const row = await table.get(id);
    if (row?.claimedBy === holder) await claimConnection(table, row, holder);
  };
  const holding = setInterval(() => void hold().catch(() => {}), HOLD_MS).unref(); // the next one tries again
  try {
    return await work();
  } finally {
    clearInterval(holding);
    await table.release(id, holder).catch(() => {}); // the claim ends by itself
  }
}
