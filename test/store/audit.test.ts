import { execFileSync } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { type AuditRecord, getSignedText } from "../../src/store/audit/chain.ts";
import { AUDIT, AUDIT_HEADS, type AuditRow } from "../../src/store/audit/rows.ts";
import { openSigner } from "../../src/store/audit/signer.ts";
import { createAuditWriter } from "../../src/store/audit/writer.ts";
import { openEngine } from "../../src/store/database/open.ts";
import type { StoreEngine } from "../../src/store/database/table.ts";
import { type Database, openDatabase, readPublicKeys, type StoreLocation } from "../../src/store/index.ts";
import { prepareDatabases } from "../support/databases.ts";

const { kinds, getFolder } = prepareDatabases();

const DAY_MS = 86_400_000;
const START = Date.parse("2026-03-01T12:00:00.000Z");

function createRecords(count: number, from = START): readonly AuditRecord[] {
  return Array.from({ length: count }, (_, n) => ({
    time: new Date(from + n).toISOString(),
    callId: n,
    caller: "ada",
  }));
}

describe.each(kinds)("an audit log in %s", (_kind, makeLocation) => {
  let location: StoreLocation;
  let database: Database;
  beforeEach(async () => {
    location = makeLocation();
    database = await openDatabase(location);
  });
  afterEach(() => database.close());

  /** Changes rows as an attacker with access to the database does. */
  async function tamper(change: (engine: StoreEngine, rows: readonly AuditRow[]) => Promise<unknown>): Promise<void> {
    const engine = await openEngine(location, { lockMs: 500, warn: () => {} });
    await change(engine, await engine.select(AUDIT, {}));
    await engine.close();
  }

  /** Replaces all heads by one of another key, for the last of some rows. */
  async function forgeHeads(engine: StoreEngine, rows: readonly AuditRow[], day?: string): Promise<void> {
    const folder = join(getFolder(), "forger");
    await using forger = await openDatabase({ folder });
    await forger.audit.append(createRecords(1));
    const signer = await openSigner(folder);
    const [seq, hash] = [rows.at(-1)?.seq ?? 0, rows.at(-1)?.hash ?? ""];
    const head = { day: day ?? "2026-03-01", signer: signer.id, seq, hash, time: START };
    await engine.delete(AUDIT_HEADS, {});
    await engine.put(AUDIT_HEADS, { ...head, signature: signer.sign(getSignedText(head)) });
  }

  test("chains records, and verifies them [P8]", async () => {
    await database.audit.append(createRecords(3));
    await database.audit.append(createRecords(30));
    const verdict = await database.audit.verify();
    expect(verdict).toMatchObject({ kind: "intact", records: 33, last: { seq: 33 } });
    const [first, second] = await database.audit.tail(33);
    expect(first).toMatchObject({ seq: 1, record: '{"callId":0,"caller":"ada","time":"2026-03-01T12:00:00.000Z"}' });
    expect(second?.hash).toMatch(/^[0-9a-f]{64}$/);
    expect((await database.audit.tail(2)).map(({ seq }) => seq)).toEqual([32, 33]);
  });

  test("appends from several places to one chain [P8]", async () => {
    const others = await Promise.all([1, 2, 3].map(() => openDatabase(location)));
    const all = [database, ...others];
    await Promise.all(
      all.map(async ({ audit }) => {
        for (let n = 0; n < 25; n++) await audit.append(createRecords(1 + (n % 3)));
      }),
    );
    await Promise.all(others.map((other) => other.close()));
    expect(await database.audit.verify()).toMatchObject({ kind: "intact", records: 4 * 49 });
  });

  test("names a record that was changed [P8]", async () => {
    await database.audit.append(createRecords(5));
    await tamper((engine, rows) =>
      engine.update(AUDIT, { seq: 3 }, { record: rows[2]?.record.replace("ada", "eve") ?? "" }),
    );
    expect(await database.audit.verify()).toEqual({
      kind: "broken",
      problem: "changed",
      seq: 3,
      says: "Record 3 was changed",
    });
  });

  test("names a record whose time was changed [P8]", async () => {
    await database.audit.append(createRecords(5));
    await tamper((engine) => engine.update(AUDIT, { seq: 4 }, { time: START + DAY_MS }));
    expect(await database.audit.verify()).toMatchObject({ kind: "broken", problem: "changed", seq: 4 });
  });

  test("names a record that is missing [P8]", async () => {
    await database.audit.append(createRecords(5));
    await tamper((engine) => engine.delete(AUDIT, { seq: 2 }));
    expect(await database.audit.verify()).toEqual({
      kind: "broken",
      problem: "missing",
      seq: 2,
      says: "Record 2 is missing",
    });
  });

  test("names a record that was moved [P8]", async () => {
    await database.audit.append(createRecords(5));
    await tamper(async (engine, [, second, third]) => {
      await engine.update(AUDIT, { seq: 2 }, { record: third?.record ?? "", time: third?.time ?? 0 });
      await engine.update(AUDIT, { seq: 3 }, { record: second?.record ?? "", time: second?.time ?? 0 });
    });
    expect(await database.audit.verify()).toEqual({
      kind: "broken",
      problem: "reordered",
      seq: 2,
      says: "Record 2 is at position 3: the records were reordered",
    });
  });

  test("names the first record that is missing at the end [P8]", async () => {
    await database.audit.append(createRecords(5));
    await database.audit.sign();
    await tamper((engine) => engine.delete(AUDIT, { seq: { gt: 3 } }));
    expect(await database.audit.verify()).toEqual({
      kind: "broken",
      problem: "truncated",
      seq: 4,
      says: "The records from 4 on are missing: a signed head says that there were at least 5",
    });
  });

  test("finds a chain that was computed again, by its signed head or by a position that was written down [P8]", async () => {
    await database.audit.append(createRecords(5));
    const head = await database.audit.sign();
    await tamper(async (engine) => {
      await engine.delete(AUDIT, {});
      const forger = await openDatabase({});
      await forger.audit.append(createRecords(6, START + 1));
      await engine.insert(AUDIT, await forger.audit.tail(6));
    });
    const broken = { kind: "broken", problem: "changed", seq: 5 };
    expect(await database.audit.verify()).toMatchObject(broken);
    await tamper((engine) => engine.delete(AUDIT_HEADS, {}));
    expect(await database.audit.verify()).toMatchObject(broken); // by the head in the folder
    await rm(join(location.folder ?? "", "audit-head.json"));
    expect(await database.audit.verify({ positions: head === undefined ? [] : [head] })).toMatchObject(broken);
  });

  test("accepts only heads of keys of the project, which are not in the database [P8]", async () => {
    await database.audit.append(createRecords(5));
    await tamper(async (engine, rows) => {
      await forgeHeads(engine, rows.slice(0, 5));
      await engine.delete(AUDIT, { seq: { gt: 3 } });
    });
    expect(await database.audit.verify()).toMatchObject({ problem: "truncated", seq: 4 });
    await rm(join(location.folder ?? "", "audit-head.json"));
    expect(await database.audit.verify()).toMatchObject({
      problem: "unsigned",
      says: expect.stringMatching(/^No head is signed by a key of this project; 1 are signed by other keys\. /),
    });
    await tamper((engine) => engine.delete(AUDIT_HEADS, {}));
    expect(await database.audit.verify()).toMatchObject({
      problem: "unsigned",
      says: "No head is signed by a key of this project",
    });
  });

  test("accepts the start of a pruned chain only from a key of the project [P8]", async () => {
    await database.audit.append(createRecords(5));
    await tamper(async (engine, rows) => {
      await forgeHeads(engine, rows.slice(0, 3), "pruned");
      await engine.delete(AUDIT, { seq: { lt: 4 } });
    });
    expect(await database.audit.verify()).toMatchObject({
      problem: "signature",
      says: expect.stringMatching(/^The records up to 3 are missing: .* signed by another key/),
    });
  });

  test("verifies elsewhere with the public keys of the project, also with one that was replaced [P8]", async () => {
    await database.audit.append(createRecords(2));
    await database.close();
    const folder = location.folder ?? "";
    await rename(join(folder, "audit-key.pem"), join(folder, "audit-key.old.pem"));
    database = await openDatabase(location);
    await database.audit.append(createRecords(2));
    await database.audit.sign();
    expect(await database.audit.verify()).toMatchObject({ kind: "intact", heads: [{}, {}], otherHeads: 0 });
    const signers = await readPublicKeys(join(folder, "audit-keys.pub.pem"));
    expect(signers.size).toBe(2);
    const elsewhere = { ...location, ...(location.url !== undefined && { folder: `${folder}-elsewhere` }) };
    await using other = await openDatabase(elsewhere);
    expect(await other.audit.verify({ signers })).toMatchObject({ kind: "intact", records: 4, otherHeads: 0 });
    expect(await other.audit.verify({ signers: new Set(["another"]) })).toMatchObject({ problem: "unsigned" });
  });

  test("finds a head whose signature is not valid [P8]", async () => {
    await database.audit.append(createRecords(5));
    await database.audit.sign();
    await tamper((engine) => engine.update(AUDIT_HEADS, { seq: 5 }, { seq: 4 }));
    expect(await database.audit.verify()).toEqual({
      kind: "broken",
      problem: "signature",
      seq: 4,
      says: "The head of 2026-03-01, at record 4, has a signature that is not valid",
    });
  });

  test("signs the end of each day, and of the log when it is closed [P8]", async () => {
    await database.audit.append(createRecords(2));
    await database.audit.append(createRecords(2));
    await database.audit.append(createRecords(1, START + DAY_MS));
    await database.audit.append(createRecords(1, START + DAY_MS));
    await database.close();
    database = await openDatabase(location);
    const verdict = await database.audit.verify();
    const heads = verdict.kind === "intact" ? verdict.heads.map(({ day, seq }) => [day, seq]) : [];
    expect(heads).toEqual([
      ["2026-03-01", 4],
      ["2026-03-02", 6],
    ]);
  });

  test("creates one key for all processes of a folder, which only the owner can read", async () => {
    const others = await Promise.all([1, 2, 3].map(() => openDatabase(location)));
    await Promise.all([database, ...others].map(({ audit }) => audit.append(createRecords(1))));
    const heads = await Promise.all([database, ...others].map(({ audit }) => audit.sign()));
    expect(new Set(heads.map((head) => head?.signer)).size).toBe(1);
    const file = join(location.folder ?? "", "audit-key.pem");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, "utf8")).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    await Promise.all(others.map((other) => other.close()));
  });

  test("deletes old records in steps, and verifies the others [P8]", { tags: "rest" }, async () => {
    await database.audit.append(createRecords(10));
    await database.audit.append(createRecords(10, START + DAY_MS));
    expect(await database.audit.prune(START + DAY_MS, 6)).toBe(6);
    expect(await database.audit.verify()).toMatchObject({ kind: "intact", records: 14, last: { seq: 20 } });
    expect(await database.audit.prune(START + DAY_MS, 6)).toBe(4);
    expect(await database.audit.prune(START + DAY_MS, 6)).toBe(0);
    expect(await database.audit.verify()).toMatchObject({ kind: "intact", records: 10 });
    expect(await database.audit.prune(START + 2 * DAY_MS, 100)).toBe(10);
    await database.close();
    database = await openDatabase(location);
    await database.audit.append(createRecords(1, START + 3 * DAY_MS));
    expect(await database.audit.verify()).toMatchObject({ kind: "intact", records: 1, last: { seq: 21 } });
    await tamper((engine) => engine.delete(AUDIT, { seq: 21 }));
    await database.audit.append(createRecords(1, START + 3 * DAY_MS));
    expect(await database.audit.verify()).toMatchObject({ kind: "broken", problem: "missing", seq: 21 });
  });
});

describe("old records are deleted beside those of a clock that is wrong", () => {
  test.each([
    ["ahead, before old ones", [9, 0, 9, 0, 0, 0, 0], 7],
    ["ahead, at the end", [0, 0, 0, 9], 3],
    ["behind, after younger ones", [0, 9, 9, 9, 0], 1],
  ])("%s [P8]", { tags: "rest" }, async (_name, days, deleted) => {
    await using database = await openDatabase({ folder: getFolder() });
    for (const day of days) await database.audit.append(createRecords(1, START + day * DAY_MS));
    expect(await database.audit.prune(START + DAY_MS, 100)).toBe(deleted);
    expect(await database.audit.verify()).toMatchObject({ kind: "intact", records: days.length - deleted });
  });
});

describe("a writer of audit records", () => {
  test("commits the records of many callers together [P8]", async () => {
    const commits: number[] = [];
    const writer = createAuditWriter(
      async () => ({ append: async (records) => void commits.push(records.length) }),
      () => {},
    );
    await Promise.all(
      createRecords(2_500).map((record) => {
        writer.add(record);
        return writer.flush();
      }),
    );
    expect(commits.length).toBeLessThan(10);
    expect(commits.reduce((sum, count) => sum + count, 0)).toBe(2_500);
  });

  test("commits each record once for callers that add the next one when the last one is committed [P8]", async () => {
    const stored: unknown[] = [];
    const writer = createAuditWriter(
      async () => ({ append: async (records) => void stored.push(...records.map(({ callId }) => callId)) }),
      () => {},
    );
    const records = createRecords(200);
    const add = async (caller: number): Promise<void> => {
      for (const record of records.slice(caller * 20, caller * 20 + 20)) {
        writer.add(record);
        await writer.flush();
        expect(stored).toContain(record["callId"]);
      }
    };
    await Promise.all(Array.from({ length: 10 }, (_, caller) => add(caller)));
    expect(stored.toSorted((a, b) => Number(a) - Number(b))).toEqual(records.map(({ callId }) => callId));
  });

  test("lets only effects wait: other records are committed soon, and before the next effect [P8]", async () => {
    const stored: unknown[] = [];
    const commits = new EventEmitter();
    const writer = createAuditWriter(
      async () => ({
        async append(records) {
          stored.push(...records.map(({ callId }) => callId));
          commits.emit("commit");
        },
      }),
      () => {},
    );
    const [read, effect, after, last] = createRecords(4) as [AuditRecord, AuditRecord, AuditRecord, AuditRecord];
    writer.add(read);
    expect(writer.flushEffects("r")).toBeUndefined();
    writer.addEffect({ ...effect, runId: "r" });
    expect(writer.flushEffects("other")).toBeUndefined();
    const committed = writer.flushEffects("r");
    expect(committed).toBeInstanceOf(Promise);
    await committed;
    expect(stored).toEqual([0, 1]);
    writer.add(after);
    expect(writer.flushEffects("r")).toBeUndefined();
    await once(commits, "commit");
    expect(stored).toEqual([0, 1, 2]);
    writer.add(last);
    await writer.close();
    expect(stored).toEqual([0, 1, 2, 3]);
  });

  test("commits a record that no caller waits for after a commit that took records that were added meanwhile [P8]", async () => {
    const commits = new EventEmitter();
    let addDuringCommit = (): void => {};
    const writer = createAuditWriter(
      async () => ({
        async append(records) {
          addDuringCommit();
          await new Promise((resolve) => setImmediate(resolve));
          for (const { callId } of records) commits.emit(String(callId));
        },
      }),
      () => {},
    );
    const [first, meanwhile, later] = createRecords(3) as [AuditRecord, AuditRecord, AuditRecord];
    addDuringCommit = () => {
      addDuringCommit = () => {};
      writer.add(meanwhile);
    };
    writer.add(first);
    await writer.flush();
    // The time of the record that was added meanwhile is over, and there was nothing left to commit.
    await new Promise((resolve) => setTimeout(resolve, 50));
    writer.add(later);
    await once(commits, "2");
  });

  test("forgets no record when another one is removed during a commit [P8]", async () => {
    const stored: unknown[] = [];
    let removeFirst = (): void => {};
    const writer = createAuditWriter(
      async () => ({
        async append(records) {
          removeFirst();
          stored.push(...records.map(({ callId }) => callId));
        },
      }),
      () => {},
    );
    const [first, second] = createRecords(2) as [AuditRecord, AuditRecord];
    writer.addEffect(first);
    removeFirst = () => {
      removeFirst = () => {};
      writer.remove(first);
      writer.addEffect({ ...second, runId: "r" });
    };
    await writer.flush();
    expect(stored).toEqual([0, 1]);
    expect(writer.flushEffects("r")).toBeUndefined();
  });

  test("keeps the records of a commit that fails, and adds them in order later [P8]", async () => {
    const stored: unknown[] = [];
    let isFull = true;
    const writer = createAuditWriter(
      async () => ({
        async append(records) {
          if (isFull) throw new Error("disk full");
          stored.push(...records.map(({ callId }) => callId));
        },
      }),
      () => {},
    );
    const [first, second] = createRecords(2);
    if (first === undefined || second === undefined) throw new Error("no records");
    writer.add(first);
    await expect(writer.flush()).rejects.toThrow("disk full");
    expect(writer.isReady).toBe(false);
    writer.add(second);
    isFull = false;
    await writer.flush();
    expect(stored).toEqual([0, 1]);
    expect(writer.isReady).toBe(true);
  });
});

test("loses no committed record when processes that append are killed [P8]", { tags: "rest" }, () => {
  const output = execFileSync(process.execPath, ["test/fixtures/store/cut-audit.mjs", "30"], { encoding: "utf8" });
  expect(output).toMatch(/^30 cuts, \d{2,} records reported as committed, \d{2,} records in the chain, none lost\n$/);
});
