import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, onTestFinished, test, vi } from "vitest";

import { createRuntime, defineSkill } from "../../src/index.ts";
import { createApprovals } from "../../src/approvals/index.ts";
import { openPostgres } from "../../src/store/database/postgres.ts";
import { createTables, type SqlEngine } from "../../src/store/database/schema.ts";
import { COUNTERS } from "../../src/store/tables/counters.ts";
import { KEYS, type KeyRow } from "../../src/store/tables/keys.ts";
import { type Database, openDatabase, type RunRow } from "../../src/store/index.ts";
import { createFolder, followQuestions } from "../approvals/mail.ts";
import { usePostgres } from "../support/databases.ts";

const postgres = usePostgres();

const KEY: KeyRow = {
  id: "k1",
  prefix: "",
  sha256: "",
  previousSha256: null,
  previousExpires: null,
  name: "",
  permissions: [],
  scopes: [],
  roles: [],
  limits: {},
  created: 0,
  lastUsed: null,
  expires: null,
  revoked: null,
};

const RUN: RunRow = {
  id: "r1",
  caller: "ada",
  state: "running",
  title: "",
  program: "",
  duration: 0,
  created: 1,
  updated: 1,
  ended: null,
  continues: null,
  calls: 0,
  effects: 0,
  size: 0,
  claimedBy: null,
  attempts: 1,
};

describe.skipIf(postgres === undefined)("a server of PostgreSQL", () => {
  const server = postgres as NonNullable<typeof postgres>;

  async function open(url: string, folder = createFolder()): Promise<Database> {
    const database = await openDatabase({ folder, url });
    onTestFinished(() => database.close());
    return database;
  }

  async function openEngine(url: string, lockMs = 500): Promise<SqlEngine> {
    const engine = await openConnected(url, lockMs);
    await createTables(engine);
    return engine;
  }

  /** Opens a store whose tables exist. */
  async function openConnected(url: string, lockMs = 500): Promise<SqlEngine> {
    const engine = await openPostgres(url, lockMs);
    onTestFinished(() => engine.close());
    return engine;
  }

  const describeError = (error: unknown): string =>
    error instanceof Error && "code" in error ? String(error.code) : String(error);

  test(
    "loses no stored record and doubles none when it is killed and restarted under load [P6, P8, R1]",
    { tags: "rest", timeout: 120_000 },
    async () => {
      const url = server.url();
      const folder = createFolder();
      const databases = [await open(url, folder), await open(url)];
      const stored = { audit: [] as string[], approvals: [] as string[], entries: [] as string[] };
      const errors = new Set<string>();
      const progress = { isOver: false, count: 0 };

      /** Writes one record of each kind after the other. Only what the store has acknowledged is noted. */
      async function write(database: Database, writer: string): Promise<void> {
        const attempt = (list: string[], id: string, work: () => Promise<unknown>): Promise<void> =>
          work().then(
            () => void (list.push(id), progress.count++),
            (error: unknown) => void errors.add(describeError(error)),
          );
        for (let n = 0; !progress.isOver; n++) {
          const id = `${writer}-${n}`;
          await attempt(stored.audit, id, () => database.audit.append([{ time: new Date().toISOString(), id }]));
          await attempt(stored.approvals, id, () => database.approvals.add(createApproval(id)));
          const run = { ...RUN, id };
          await attempt(stored.entries, `${id}/0`, () => database.runs.add(run, createEntry(id, 0)));
          await attempt(stored.entries, `${id}/1`, () => database.runs.append(createEntry(id, 1)));
          await attempt(stored.entries, `${id}/2`, () =>
            database.runs.appendAndUpdate(createEntry(id, 2), { state: "completed" }),
          );
        }
      }
      const waitForMore = async (records: number): Promise<void> => {
        const until = progress.count + records;
        while (progress.count < until) await new Promise((resolve) => setTimeout(resolve, 5));
      };

      const writers = Promise.all(
        databases.flatMap((database, at) => ["a", "b", "c"].map((name) => write(database, `${name}${at}`))),
      );
      for (let kill = 0; kill < 3; kill++) {
        await waitForMore(200);
        await server.kill();
        await server.start();
      }
      await waitForMore(200);
      progress.isOver = true;
      await writers;

      expect([...errors].filter((code) => code !== "STORE_UNAVAILABLE")).toEqual([]);
      // The keys of the first process verify the chain.
      await using database = await openDatabase({ folder, url });
      const audited: string[] = [];
      for await (const { record } of database.audit.read()) audited.push((JSON.parse(record) as { id: string }).id);
      expect(audited.length).toBe(new Set(audited).size);
      const found = new Set(audited);
      expect(stored.audit.filter((id) => !found.has(id))).toEqual([]);
      expect(await database.audit.verify()).toMatchObject({ kind: "intact" });
      const questions = new Set((await database.approvals.list("pending")).map(({ id }) => id));
      expect(stored.approvals.filter((id) => !questions.has(id))).toEqual([]);
      const entries = new Set<string>();
      for (const { id } of await database.runs.list({}))
        for (const { run, seq } of await database.runs.entries(id)) entries.add(`${run}/${seq}`);
      expect(stored.entries.filter((id) => !entries.has(id))).toEqual([]);
    },
  );

  test("repeats a transaction whose connection is lost before it is committed [P8]", async () => {
    const url = server.url();
    const engine = await openEngine(url);
    const other = await openEngine(url);
    let times = 0;
    await engine.transaction("count", async (rows) => {
      times++;
      const count = await rows.count(COUNTERS, { bucket: "b", start: 0, count: 1, expires: 0 }, "count");
      if (times === 1) await endConnections(other, "idle in transaction");
      return count;
    });
    expect(times).toBe(2);
    expect(await engine.select(COUNTERS, {})).toMatchObject([{ count: 1 }]);
  });

  test("hears of a change that another process makes, also after a restart [P6]", async () => {
    const url = server.url();
    const [listener, writer] = [await open(url), await open(url)];
    let wake = (): void => {};
    const whenHeard = (): Promise<void> => new Promise((resolve) => (wake = resolve));
    const subscribed = whenHeard();
    listener.watch(() => wake());
    await subscribed;
    const first = whenHeard();
    await writer.keys.add(KEY);
    await first;
    const caughtUp = whenHeard();
    await server.kill();
    await server.start();
    await caughtUp;
    const second = whenHeard();
    await writer.keys.update("k1", { revoked: 5 });
    await second;
  }, 60_000);

  test("continues a run that waits for an answer of another process after a restart [P6]", async () => {
    const url = server.url();
    const openRuntime = async (): Promise<Awaited<ReturnType<typeof createRuntime>>> => {
      const cwd = createFolder();
      writeFileSync(join(cwd, "settings.yaml"), `store: ${JSON.stringify({ dir: "state", url })}\n`);
      const pay = { description: "Pay", approval: "user", destructive: true, run: () => "paid" } as const;
      const skills = [defineSkill({ name: "MoneySkill", description: "Money", methods: { pay } })];
      const runtime = await createRuntime({ cwd, discover: true, skills, workers: 1, approvals: { wait: true } });
      onTestFinished(() => runtime.close());
      return runtime;
    };
    const [runs, answers] = [await openRuntime(), await openRuntime()];
    const next = followQuestions(runs);
    const outcome = runs.run("await device.MoneySkill.pay()");
    const { id } = await next();
    await server.kill();
    await server.start();
    expect(await answers.approvals.answer(id, { approve: true })).toMatchObject({ state: "approved" });
    expect(await outcome).toMatchObject({ kind: "completed", value: "paid" });
  }, 60_000);

  test("ends a statement that takes too long", async () => {
    const url = server.url();
    await openEngine(url);
    const engine = await openConnected(`${url}&statement_timeout=100`);
    await expect(engine.execute("SELECT pg_sleep(30)")).rejects.toMatchObject({
      code: "STORE_TIMEOUT",
      message: expect.stringMatching(
        /^The store took too long: postgres:\/\/\S+ took more than 100 ms \(STORE_TIMEOUT\)$/,
      ),
    });
    expect(await engine.total(KEYS)).toBe(0);
    await engine.vacuum();
  });

  test("ends the wait for the lock of another process", async () => {
    const url = server.url();
    const [first, second] = [await openEngine(url), await openConnected(`${url}&lock_timeout=100`)];
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const holds = new Promise<void>((resolve) => {
      void first.transaction("lock", () => (resolve(), held));
    });
    await holds;
    await expect(second.transaction("lock", async () => {})).rejects.toMatchObject({
      code: "LOCK_TIMEOUT",
      message: "Timed out waiting for the store: another process has been writing to it for 100 ms (LOCK_TIMEOUT)",
    });
    release();
    await second.transaction("lock", async () => {});
  });

  test("gives the lock of a process that stops in a transaction to others, and repeats the transaction", async () => {
    const url = server.url();
    const second = await openEngine(url, 30_000);
    const first = await openConnected(`${url}&idle_in_transaction_session_timeout=100`);
    let times = 0;
    let goOn = (): void => {};
    const stopped = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const row = { bucket: "b", start: 0, count: 1, expires: 0 };
    await new Promise<void>((resolve, reject) => {
      const work = first.transaction("lock", async (rows) => {
        await rows.count(COUNTERS, row, "count");
        if (++times > 1) return;
        resolve();
        await stopped;
        await rows.count(COUNTERS, row, "count");
      });
      work.catch(reject);
      onTestFinished(() => work);
    });
    expect(await second.transaction("lock", (rows) => rows.total(COUNTERS))).toBe(0);
    goOn();
    while ((await second.total(COUNTERS)) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await second.select(COUNTERS, {})).toMatchObject([{ count: 1 }]);
    expect(times).toBe(2);
  });

  test("says that a change may have been stored when its connection ends", async () => {
    const url = server.url();
    const [first, second] = [await openEngine(url), await openEngine(url)];
    const sleeping = first.execute("SELECT pg_sleep(30)");
    const failed = expect(sleeping).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("the connection ended, and whether the change was stored is not known"),
    });
    await endConnections(second, "active");
    await failed;
    expect(await first.total(KEYS)).toBe(0);
  });

  test.for([
    ["closes", ":\\d+ closed the connection without an answer", "closed the connection without an answer"],
    ["resets", "ECONNRESET", "whether the change was stored is not known"],
  ] as const)(
    "fails behind a proxy that %s its connections, and says of a change alone that it may have been stored",
    { tags: "rest" },
    async ([how, read, changed]) => {
      const { url, cut } = await startProxy(server.url());
      const engine = await openEngine(url);
      cut(how);
      const started = performance.now();
      await expect(engine.total(KEYS)).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
        message: expect.stringMatching(read),
      });
      expect(performance.now() - started).toBeLessThan(10_000);
      await expect(engine.execute("SELECT 1")).rejects.toMatchObject({ message: expect.stringContaining(changed) });
      await expect(openDatabase({ url })).rejects.toMatchObject({ message: expect.stringMatching(read) });
    },
  );

  test("opens a database and a schema of any name, written as in a URL", async () => {
    const url = new URL(server.url());
    const admin = await openConnected(url.href);
    await admin.execute(`CREATE DATABASE "größe %"`);
    url.pathname = "/gr%C3%B6%C3%9Fe%20%25";
    url.searchParams.set("search_path", `Team "B"`);
    const database = await open(url.href);
    await database.keys.add(KEY);
    const again = await openConnected(url.href);
    expect(await again.total(KEYS)).toBe(1);
    await again.execute(`CREATE TABLE "Team ""B""".other (id TEXT)`);
    expect(await again.hasTable("other")).toBe(true);
  });

  test.each(["mysql://a:secret@h/b", "postgres://a:sec%ret@h/b", "postgres://a:sec/ret@h/b"])(
    "says how to write a URL in place of %s, without its password",
    async (url) => {
      await expect(openDatabase({ url })).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
        message:
          "Cannot use the store: store.url is not a URL: write it as postgres://user:password@host/name, with %25 for % in a part " +
          "of it, %2F for /, %23 for # and %3F for ? (STORE_UNAVAILABLE)",
      });
    },
  );

  test("names the schema that its user may not use", async () => {
    const url = new URL(server.url());
    const schema = url.searchParams.get("search_path");
    const owner = await openEngine(url.href);
    await owner.execute("CREATE ROLE stranger LOGIN PASSWORD 'secret'");
    url.username = "stranger";
    await expect(openDatabase({ url: url.href })).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining(`its user has no right to use the schema "${schema}"`),
    });
  });

  test("does not say that a change may have been stored when no connection can be opened", async () => {
    const closing = createServer((socket) => socket.once("data", () => socket.end("N"))).listen(0, "127.0.0.1");
    await once(closing, "listening");
    onTestFinished(() => void closing.close());
    const url = `postgres://a@127.0.0.1:${(closing.address() as AddressInfo).port}/b?sslmode=require`;
    await expect(openDatabase({ url })).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.not.stringContaining("whether the change was stored"),
    });
  });

  test("does not wait for a server that never answers", async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket)).listen(0, "127.0.0.1");
    await once(silent, "listening");
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    const url = `postgres://a@127.0.0.1:${(silent.address() as AddressInfo).port}/b?connect_timeout=1`;
    await expect(openDatabase({ url })).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("CONNECT_TIMEOUT"),
    });
  });
});

/** Ends the connections of other stores in a state, once there is one. */
async function endConnections(engine: SqlEngine, state: string): Promise<void> {
  await engine.execute(`
    DO $$ BEGIN
      LOOP
        PERFORM pg_stat_clear_snapshot();
        PERFORM pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE state = '${state}' AND pid <> pg_backend_pid() AND application_name = 'skillgate';
        EXIT WHEN FOUND;
        PERFORM pg_sleep(0.01);
      END LOOP;
    END $$`);
}

function createApproval(id: string): Parameters<Database["approvals"]["add"]>[0] {
  return {
    id,
    runId: id,
    callId: 1,
    caller: "ada",
    path: "MailSkill.send",
    description: "",
    marks: [],
    approver: "user",
    arguments: [],
    digest: "",
    plan: null,
    provenance: [],
    scopes: ["once"],
    waiter: null,
    created: 1,
    expires: 2,
  };
}

function createEntry(run: string, seq: number): { run: string; seq: number; events: string; hash: string } {
  return { run, seq, events: "[]", hash: `${run}/${seq}` };
}

test.skipIf(postgres === undefined)(
  "expires no question by the clock of a process that is ahead of the database [P6]",
  async () => {
    await using database = await openDatabase({ url: postgres?.url() ?? "" });
    const created = await database.approvals.now();
    const call = {
      runId: "r",
      callId: 1,
      caller: "ada",
      path: "S.do",
      description: "",
      marks: [],
      digest: "",
    } as const;
    const question = { ...call, arguments: [], plan: [], provenance: [], scopes: ["once"], waiter: null } as const;
    await database.approvals.add({ ...question, id: "q", approver: "user", created, expires: created + 60_000 });
    vi.useFakeTimers({ toFake: ["Date"], now: created + 3_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    const approvals = createApprovals(async () => database);
    expect(await approvals.list()).toMatchObject([{ state: "pending" }]);
    expect(await approvals.answer("q", { approve: true })).toMatchObject({ state: "approved" });
    const { answeredAt, closedAt } = (await database.approvals.get("q")) ?? {};
    expect(answeredAt).toBeLessThan(created + 60_000);
    expect(closedAt).toBe(answeredAt);
  },
);

/** Starts a proxy to a database. After `cut` it ends each connection, as one does whose server is gone. */
async function startProxy(
  target: string,
): Promise<{ readonly url: string; readonly cut: (how: "closes" | "resets") => void }> {
  const url = new URL(target);
  const port = Number(url.port);
  const sockets = new Set<Socket>();
  let end: ((socket: Socket) => void) | undefined;
  const proxy = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    if (end !== undefined) {
      socket.once("data", () => end?.(socket));
      return;
    }
    const server = connect(port, "127.0.0.1");
    server.on("error", () => {});
    socket.pipe(server).pipe(socket);
    socket.once("close", () => server.destroy());
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const cut = (how: "closes" | "resets"): void => {
    end = (socket) => (how === "closes" ? socket.destroy() : socket.resetAndDestroy());
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    cut("closes");
    proxy.close();
  });
  url.port = String((proxy.address() as AddressInfo).port);
  return { url: url.href, cut };
}
