import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime, type RuntimeOptions } from "../../src/index.ts";
import type { Caller } from "../../src/model/caller.ts";
import type { Runtime } from "../../src/runtime.ts";
import { type ApiServer, startApiServer } from "../support/servers/api-server.ts";

const ADA: Caller = { id: "ada", permissions: ["call:*"] };
const BOB: Caller = { id: "bob", permissions: ["call:*"] };

const TOKENS = { ada: "token-of-ada-4f9c2e71", bob: "token-of-bob-88a1c0d2", eve: "token-of-eve-17b5e9aa" };

const DOCUMENT = {
  openapi: "3.1.0",
  info: { title: "Notes" },
  paths: {
    "/notes": {
      get: { operationId: "list" },
      post: {
        operationId: "add",
        requestBody: { content: { "application/json": { schema: { type: "object", properties: { text: {} } } } } },
      },
    },
  },
};

interface Notes {
  readonly server: ApiServer;
  readonly cwd: string;
  readonly open: (options?: RuntimeOptions) => Promise<Runtime>;
}

/** An API that answers each token with the name of its owner. */
async function startNotes(): Promise<Notes> {
  const cwd = mkdtempSync(join(tmpdir(), "skillgate-notes-"));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  writeFileSync(join(cwd, "api.json"), JSON.stringify(DOCUMENT));
  const server = await startApiServer(({ headers, method }, response) => {
    const owner = Object.entries(TOKENS).find(([, token]) => headers["authorization"] === `Bearer ${token}`)?.[0];
    response.writeHead(owner === undefined ? 401 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(owner === undefined ? {} : `${method} of ${owner}`));
  });
  const sources = { notes: { openapi: "./api.json", server: server.origin, private: true, account: "notes" } };
  const open: Notes["open"] = async (options) => {
    const runtime = await createRuntime({
      cwd,
      skillsDir: false,
      workers: 1,
      env: { SKILLGATE_ACCOUNT_KEY: "0123456789abcdef".repeat(4) },
      accounts: { notes: { type: "bearer", for: "caller" } },
      sources,
      store: join(cwd, "store"),
      ...options,
    });
    onTestFinished(() => runtime.close());
    await runtime.known;
    return runtime;
  };
  return { server, cwd, open };
}

const connect = (runtime: Runtime, caller: Caller, token: keyof typeof TOKENS): Promise<void> =>
  runtime.accounts.connect({ name: "notes", owner: caller.id }, [TOKENS[token]]);

test("gives each caller its own data, and says what to do to one that is not connected", async () => {
  const { open } = await startNotes();
  const runtime = await open();
  await connect(runtime, ADA, "ada");
  await connect(runtime, BOB, "bob");
  const run = (caller: Caller): ReturnType<Runtime["run"]> => runtime.run("await device.NotesAPI.list()", { caller });
  expect(await run(ADA)).toMatchObject({ kind: "completed", value: "GET of ada" });
  expect(await run(BOB)).toMatchObject({ kind: "completed", value: "GET of bob" });
  expect(await run({ ...BOB, id: "carol" })).toMatchObject({
    kind: "failed",
    error: { code: "ACCOUNT_MISSING" },
    text: expect.stringContaining("skillgate account connect notes --caller carol"),
  });
  expect(runtime.describe("NotesAPI.list", { caller: ADA }).notes).toContain("Uses the account notes (ada)");
});

test("names the account in the question for an approval and in the audit log", async () => {
  const { open } = await startNotes();
  const runtime = await open();
  await connect(runtime, ADA, "ada");
  const cards: string[] = [];
  const entries: unknown[] = [];
  runtime.on("call", (entry) => entries.push(entry));
  await runtime.run("await device.NotesAPI.add({ text: 'a' })", {
    caller: ADA,
    asksForEffects: true,
    approve: ({ card }) => cards.push(card) > 0,
  });
  expect(cards).toEqual([expect.stringContaining("uses the account notes (ada)")]);
  expect(entries).toMatchObject([{ accounts: ["notes (ada)"] }]);
});

test("ends a run whose connection is revoked", async () => {
  const { open, server } = await startNotes();
  const runtime = await open();
  await connect(runtime, ADA, "ada");
  const lasting = runtime.run(
    "for (let i = 0; i < 100; i++) { await device.NotesAPI.list(); await new Promise((done) => setTimeout(done, 100)); } return 'done'",
    { caller: ADA, observer: { onCallEnd: () => void runtime.accounts.revoke({ name: "notes", owner: "ada" }) } },
  );
  expect(await lasting).toMatchObject({
    kind: "failed",
    error: { code: "CANCELLED" },
    text: expect.stringContaining("the account notes (ada) was revoked"),
  });
  expect(server.received.length).toBeLessThan(3);
});

const ASKING = "const list = await device.NotesAPI.list(); await device.NotesAPI.add({ text: 'a' }); return list";

test.for(["revoked", "replaced"] as const)(
  "does not continue a run in another process after its connection was %s",
  async (change) => {
    const { open, server } = await startNotes();
    const first = await open({ approvals: { wait: true, holdSeconds: 0.05 } });
    await connect(first, ADA, "ada");
    const waiting = await first.run(ASKING, { caller: ADA, asksForEffects: true });
    expect(waiting.kind).toBe("waiting");
    await first.close();
    const second = await open({ approvals: { wait: true, holdSeconds: 0.05 } });
    if (change === "revoked") await second.accounts.revoke({ name: "notes", owner: "ada" });
    else await connect(second, ADA, "bob");
    const why = change === "revoked" ? "was revoked" : "began with another connection of the account notes";
    await expect(second.runs.resume(waiting.runId)).rejects.toMatchObject({
      code: "CANCELLED",
      message: expect.stringContaining(why),
    });
    expect(await second.runs.list()).toMatchObject([{ state: "cancelled" }]);
    expect(server.received.map(({ method }) => method)).toEqual(["GET"]);
  },
);

test("continues a failed run after a missing account was connected, and not with another connection", async () => {
  const { open } = await startNotes();
  const runtime = await open({ runs: { record: "full" } });
  const program = "await device.NotesAPI.add({ text: 'a' }); throw Error('no')";
  const missing = await runtime.run(program, { caller: ADA });
  expect(missing).toMatchObject({ kind: "failed", error: { code: "ACCOUNT_MISSING" } });
  await connect(runtime, ADA, "ada");
  const failed = await runtime.run(program, { caller: ADA, continue: missing.runId });
  expect(failed).toMatchObject({ kind: "failed", error: { message: expect.stringContaining("no") } });
  await connect(runtime, ADA, "eve");
  const again = "return device.NotesAPI.add({ text: 'a' })";
  await expect(runtime.run(again, { caller: ADA, continue: failed.runId })).rejects.toMatchObject({
    code: "CONTINUE_INVALID",
    message: expect.stringContaining("began with another connection of the account notes than notes (ada)"),
  });
  expect(await runtime.runs.replay(failed.runId)).toMatchObject({ kind: "failed" });
});

test("sends no credential to a public address without encryption, and says what to write", async () => {
  const { open } = await startNotes();
  const server = "http://api.example.com";
  const sources = { notes: { openapi: "./api.json", server, account: "notes" } };
  const runtime = await open({ sources });
  const says =
    "http://api.example.com is not an https address, and the credential of the account notes is sent only encrypted; write https://, " +
    "or, if the server is in your own network: accounts: { notes: { private: true } }";
  expect(runtime.problems).toMatchObject([{ source: "sources.notes", error: says }]);
  await connect(runtime, ADA, "ada");
  expect(await runtime.run("await device.NotesAPI.list()", { caller: ADA })).toMatchObject({
    kind: "failed",
    error: { code: "ACCOUNT_UNAVAILABLE", message: expect.stringContaining(says) },
  });
});
