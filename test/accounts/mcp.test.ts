import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { McpServer as OldServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { expect, onTestFinished, test } from "vitest";

import { createRuntime, type RuntimeOptions } from "../../src/index.ts";
import type { Caller } from "../../src/model/caller.ts";
import type { CallContext } from "../../src/model/skill.ts";
import { connectServers, type McpProvider } from "../../src/providers/mcp/index.ts";
import type { Runtime } from "../../src/runtime.ts";
import { type HttpServer, plainServer, serve } from "../support/mcp/http-servers.ts";
import { TestAccounts } from "./test-accounts.ts";

const ADA: Caller = { id: "ada", permissions: ["call:*"] };
const BOB: Caller = { id: "bob", permissions: ["call:*"] };

const TOKENS = { ada: "token-of-ada-4f9c2e71", bob: "token-of-bob-88a1c0d2", all: "token-of-all-17b5e9aa" };

interface NotesServer extends HttpServer {
  /** The owners of the sessions, in the order in which they began. */
  listSessions(): readonly string[];
  /** Settles when a call of `wait` has begun. */
  readonly waiting: Promise<void>;
  /** A token that is not accepted any more. */
  refuse(token: string): void;
}

/** A server of version 2025-11-25, which answers each token with the name of its owner, and each owner only in its own sessions. */
async function startNotes(): Promise<NotesServer> {
  const sessions = new Map<string, { readonly owner: string; readonly transport: StreamableHTTPServerTransport }>();
  const refused = new Set<string>();
  let begin = (): void => {};
  const waiting = new Promise<void>((resolve) => (begin = resolve));
  const server = await serve(async (request, response) => {
    const [, token = ""] = /^Bearer (.+)$/.exec(request.headers.authorization ?? "") ?? [];
    const owner = Object.entries(TOKENS).find(([, text]) => token.startsWith(text))?.[0];
    if (owner === undefined || refused.has(token)) return void response.writeHead(401).end("no token");
    const id = request.headers["mcp-session-id"];
    const session = typeof id === "string" ? sessions.get(id) : undefined;
    if (id !== undefined && session?.owner !== owner) return void response.writeHead(404).end("Session not found");
    if (session !== undefined) return session.transport.handleRequest(request, response);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => void sessions.set(session, { owner, transport }),
    });
    const notes = new OldServer({ name: "notes", version: "1.0.0" });
    const say = (text: string): { content: { type: "text"; text: string }[] } => ({
      content: [{ type: "text", text }],
    });
    notes.registerTool("list", { annotations: { readOnlyHint: true } }, () => say(`notes of ${owner}`));
    notes.registerTool("leak", {}, ({ requestInfo }) => say(`sent ${String(requestInfo?.headers["authorization"])}`));
    notes.registerTool("wait", {}, () => {
      begin();
      return new Promise<never>(() => {});
    });
    notes.registerResource("own", "notes://own", {}, () => ({ contents: [{ uri: "notes://own", text: owner }] }));
    await notes.connect(transport as Parameters<OldServer["connect"]>[0]);
    await transport.handleRequest(request, response);
  });
  return Object.assign(server, {
    listSessions: () => [...sessions.values()].map(({ owner }) => owner),
    waiting,
    refuse: (token: string) => void refused.add(token),
  });
}

async function openRuntime(server: HttpServer, options: RuntimeOptions = {}): Promise<Runtime> {
  const cwd = mkdtempSync(join(tmpdir(), "skillgate-notes-"));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const runtime = await createRuntime({
    cwd,
    skillsDir: false,
    workers: 1,
    env: { SKILLGATE_ACCOUNT_KEY: "0123456789abcdef".repeat(4) },
    accounts: { notes: { type: "bearer", for: "caller" } },
    mcpServers: { notes: { url: server.url, account: "notes" } },
    store: join(cwd, "store"),
    ...options,
  });
  onTestFinished(() => runtime.close());
  await runtime.known;
  return runtime;
}

const connect = (runtime: Runtime, caller: Caller, token: keyof typeof TOKENS): Promise<void> =>
  runtime.accounts.connect({ name: "notes", owner: caller.id }, [TOKENS[token]]);

test("gives each caller its own data in a session of its own, and says what to do to one that is not connected", async () => {
  const server = await startNotes();
  const runtime = await openRuntime(server);
  expect(runtime.servers).toMatchObject([
    { status: "disconnected", error: "waits for a caller that has connected the account notes, to list its tools" },
  ]);
  expect(runtime.problems).toEqual([]);
  expect(server.requests).toEqual([]);
  await connect(runtime, ADA, "ada");
  await connect(runtime, BOB, "bob");
  await runtime.listServersWith({ caller: ADA });
  const run = (caller: Caller, method = "list"): ReturnType<Runtime["run"]> =>
    runtime.run(`await device.NotesMCP.${method}()`, { caller });
  expect(await run(ADA)).toMatchObject({ kind: "completed", value: "notes of ada" });
  expect(await run(BOB)).toMatchObject({ kind: "completed", value: "notes of bob" });
  expect(await run(ADA)).toMatchObject({ kind: "completed", value: "notes of ada" });
  expect(server.listSessions()).toEqual(["ada", "bob"]);
  expect(await run({ ...BOB, id: "carol" })).toMatchObject({
    kind: "failed",
    error: { code: "ACCOUNT_MISSING" },
    text: expect.stringContaining("skillgate account connect notes --caller carol"),
  });
  expect(await run(ADA, "leak")).toMatchObject({ kind: "completed", value: "sent [redacted]" });
  expect(runtime.servers).toMatchObject([{ status: "connected", toolCount: 3 }]);
  const readOwn = "await device.NotesMCP.resources_read({ uri: 'notes://own' })";
  for (const caller of [ADA, BOB]) expect(await runtime.run(readOwn, { caller })).toMatchObject({ value: caller.id });
});

test("lists the tools at the start with an account of everyone", async () => {
  const server = await startNotes();
  const runtime = await openRuntime(server, {
    accounts: { notes: { type: "bearer", token: "${NOTES}" } },
    env: { SKILLGATE_ACCOUNT_KEY: "0123456789abcdef".repeat(4), NOTES: TOKENS.all },
  });
  expect(runtime.servers).toMatchObject([{ status: "connected", toolCount: 3 }]);
  for (const caller of [ADA, BOB])
    expect(await runtime.run("await device.NotesMCP.list()", { caller })).toMatchObject({ value: "notes of all" });
  expect(server.listSessions()).toEqual(["all"]);
});

test(
  "ends a call under way when its connection is revoked, and begins a new session with the next connection",
  { tags: "rest" },
  async () => {
    const server = await startNotes();
    const runtime = await openRuntime(server);
    await connect(runtime, ADA, "ada");
    await runtime.listServersWith({ caller: ADA });
    const lasting = runtime.run("await device.NotesMCP.wait()", { caller: ADA });
    await server.waiting;
    await runtime.accounts.revoke({ name: "notes", owner: "ada" });
    expect(await lasting).toMatchObject({
      kind: "failed",
      error: { code: "CANCELLED" },
      text: expect.stringContaining("the account notes (ada) was revoked"),
    });
    await connect(runtime, ADA, "bob");
    expect(await runtime.run("await device.NotesMCP.list()", { caller: ADA })).toMatchObject({ value: "notes of bob" });
  },
);

/** The provider with accounts in memory, and a call of it as the router makes it. */
async function connectNotes(url: string, accounts: TestAccounts): Promise<(caller: Caller) => Promise<unknown>> {
  const config = {
    name: "notes",
    source: "test",
    enabled: true,
    disabledTools: [],
    declared: { url, account: "notes" },
  };
  const remote = { ...config, transport: "http", url, headers: {}, account: "notes", oauth: false } as const;
  const provider: McpProvider = connectServers([remote], { env: {}, accounts });
  onTestFinished(() => provider.close());
  await provider.known;
  await provider.listWith({ caller: ADA });
  return (caller) => {
    const signal = new AbortController().signal;
    const context = { caller, signal, log: () => {}, progress: () => {} } as unknown as CallContext;
    return provider.call("notes", "list", {}, context);
  };
}

test("renews a refused credential once, and repeats the request with it", async () => {
  const server = await startNotes();
  const renewals: string[] = [];
  const renew = (value: string): string => {
    renewals.push(value);
    return `${value}-2`;
  };
  const list = await connectNotes(server.url, new TestAccounts({ notes: { values: { ada: TOKENS.ada }, renew } }));
  expect(await list(ADA)).toBe("notes of ada");
  server.refuse(TOKENS.ada);
  expect(await list(ADA)).toBe("notes of ada");
  expect(await list(ADA)).toBe("notes of ada");
  expect(renewals).toEqual([TOKENS.ada]);
  server.refuse(`${TOKENS.ada}-2`);
  server.refuse(`${TOKENS.ada}-2-2`);
  await expect(list(ADA)).rejects.toMatchObject({
    code: "ACCOUNT_UNAVAILABLE",
    message: expect.stringContaining("The service does not accept the credential of the account notes (ada)"),
  });
  expect(renewals).toHaveLength(2);
});

test("says that a server refuses the credential with which a session would begin", async () => {
  const server = await startNotes();
  const list = await connectNotes(
    server.url,
    new TestAccounts({ notes: { values: { ada: TOKENS.ada, bob: "wrong-token-1" } } }),
  );
  await expect(list(BOB)).rejects.toMatchObject({ code: "ACCOUNT_UNAVAILABLE" });
  expect(await list(ADA)).toBe("notes of ada");
});

test("sends the credential to no other server, and to no body", async () => {
  const other = await plainServer(200, "hello");
  const redirecting = await serve(
    async (_request, response) => void response.writeHead(307, { location: other.url }).end(),
  );
  const accounts = new TestAccounts({ notes: { values: { ada: TOKENS.ada } } });
  const list = await connectNotes(redirecting.url, accounts);
  await expect(list(ADA)).rejects.toMatchObject({ code: "SERVER_GONE" });
  expect(redirecting.requests[0]).toContain(TOKENS.ada);
  expect(other.requests).toEqual([]);
  const inBody = new TestAccounts({ notes: { values: { ada: TOKENS.ada }, places: [{ in: "body", name: "token" }] } });
  const refused = await connectNotes(redirecting.url, inBody);
  await expect(refused(ADA)).rejects.toMatchObject({ message: expect.stringContaining("a field of the body") });
});

test("refuses an entry that logs in by itself, too, and an account of a process", async () => {
  const url = "https://notes.example/mcp";
  const server = await plainServer(200, "hello");
  const open = (entry: object): Promise<Runtime> =>
    openRuntime(server, { mcpServers: { notes: entry } as never, env: { T: "token-1234" } });
  const oauth = { clientId: "id" };
  await expect(open({ url, account: "notes", oauth })).rejects.toThrow(
    "account cannot be used beside oauth, as both log in to the server",
  );
  await expect(open({ url, account: "notes", headers: { authorization: "Bearer ${T}" } })).rejects.toThrow(
    "account cannot be used beside the header Authorization, as both log in to the server",
  );
  await expect(open({ command: "node", url, account: "notes" })).rejects.toThrow(
    "account is for servers over HTTP, which have a url and no command",
  );
  const runtime = await open({ url, account: "absent" });
  expect(runtime.problems).toMatchObject([
    { error: 'account names "absent", which the settings do not have: accounts: { absent: … }' },
  ]);
});

test("sends no credential to a server at a public address without encryption", async () => {
  const server = await startNotes();
  const runtime = await openRuntime(server, {
    mcpServers: { notes: { url: "http://notes.example.com/mcp", account: "notes" } },
  });
  expect(runtime.servers).toMatchObject([
    {
      status: "error",
      error: expect.stringContaining(
        "http://notes.example.com is not an https address, and the credential of the account notes is sent only encrypted",
      ),
    },
  ]);
});
