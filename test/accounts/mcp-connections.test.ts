import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { McpServer as OldServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {
  CompleteRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { expect, onTestFinished, test } from "vitest";

import { createRuntime, type RuntimeOptions } from "../../src/index.ts";
import type { Caller } from "../../src/model/caller.ts";
import type { ProvidedSkill } from "../../src/model/skill.ts";
import type { Runtime } from "../../src/runtime.ts";
import { type HttpServer, serve } from "../support/mcp/http-servers.ts";

const ADA: Caller = { id: "ada", permissions: ["call:*"] };
const BOB: Caller = { id: "bob", permissions: ["call:*"] };

const TOKENS = { ada: "token-of-ada-4f9c2e71", bob: "token-of-bob-88a1c0d2" };

interface Notes extends HttpServer {
  /** The subscriptions that arrived: `ada notes://own`. */
  readonly subscriptions: readonly string[];
  /** The requests whose place for the credential had none, or whose other places had one. */
  readonly astray: readonly string[];
}

/** A server that knows each owner by a key, only in the header, the query or a cookie, and answers with the name of the owner. */
async function startNotes(place: "header" | "query" | "cookie"): Promise<Notes> {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const subscriptions: string[] = [];
  const astray: string[] = [];
  const server = await serve(async (request, response) => {
    const found = {
      header: request.headers["x-key"],
      query: new URL(request.url ?? "/", "http://localhost").searchParams.get("x-key") ?? undefined,
      cookie: /(?:^|; )x-key=([^;]+)/.exec(request.headers.cookie ?? "")?.[1],
    };
    const owner = Object.entries(TOKENS).find(([, token]) => found[place] === token)?.[0];
    const others = Object.entries(found).filter(([name, value]) => name !== place && value !== undefined);
    if (owner === undefined || others.length > 0) astray.push(`${request.method} ${request.url}`);
    if (owner === undefined) return void response.writeHead(401).end("no key");
    const id = request.headers["mcp-session-id"];
    const known = typeof id === "string" ? transports.get(id) : undefined;
    if (known !== undefined) return known.handleRequest(request, response);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => void transports.set(session, transport),
    });
    const notes = new OldServer({ name: "notes", version: "1.0.0" });
    notes.registerTool("list", { annotations: { readOnlyHint: true } }, () => ({
      content: [{ type: "text", text: `notes of ${owner}` }],
    }));
    notes.registerResource("own", "notes://own", {}, () => ({ contents: [{ uri: "notes://own", text: owner }] }));
    notes.server.registerCapabilities({ completions: {}, resources: { subscribe: true } });
    notes.server.setRequestHandler(CompleteRequestSchema, () => ({ completion: { values: [owner] } }));
    notes.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
      subscriptions.push(`${owner} ${params.uri}`);
      return {};
    });
    notes.server.setRequestHandler(UnsubscribeRequestSchema, () => ({}));
    await notes.connect(transport as Parameters<OldServer["connect"]>[0]);
    return transport.handleRequest(request, response);
  });
  return Object.assign(server, { subscriptions, astray });
}

async function openRuntime(
  server: HttpServer,
  place: "header" | "query" | "cookie",
  { tokens = TOKENS, listsTools = true } = {},
): Promise<Runtime> {
  const cwd = mkdtempSync(join(tmpdir(), "skillgate-notes-"));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const options: RuntimeOptions = {
    cwd,
    skillsDir: false,
    workers: 1,
    env: { SKILLGATE_ACCOUNT_KEY: "0123456789abcdef".repeat(4) },
    accounts: { notes: { type: "apiKey", in: place, name: "x-key", for: "caller" } },
    mcpServers: { notes: { url: server.url, account: "notes" } },
    store: join(cwd, "store"),
  };
  const runtime = await createRuntime(options);
  onTestFinished(() => runtime.close());
  await runtime.known;
  for (const { id } of [ADA, BOB])
    await runtime.accounts.connect({ name: "notes", owner: id }, [tokens[id as keyof typeof TOKENS]]);
  if (listsTools) await runtime.listServersWith({ caller: ADA });
  return runtime;
}

test.each(["header", "query", "cookie"] as const)(
  "sends the key of each caller in the place %s, and nowhere else",
  async (place) => {
    const server = await startNotes(place);
    const runtime = await openRuntime(server, place);
    for (const caller of [ADA, BOB, ADA])
      expect(await runtime.run("await device.NotesMCP.list()", { caller })).toMatchObject({
        kind: "completed",
        value: `notes of ${caller.id}`,
      });
    expect(server.astray).toEqual([]);
  },
);

test("a key that is refused hides the methods from no other caller, at the same moment and later", async () => {
  const server = await startNotes("header");
  const tokens = { ...TOKENS, ada: "a-key-that-the-server-refuses" };
  const runtime = await openRuntime(server, "header", { tokens, listsTools: false });
  await Promise.all([ADA, BOB].map(async (caller) => runtime.listServersWith({ caller })));
  expect(await runtime.run("await device.NotesMCP.list()", { caller: BOB })).toMatchObject({ value: "notes of bob" });
});

function findSkill(runtime: Runtime): ProvidedSkill {
  const skill = runtime.catalog.skill("NotesMCP")?.provided;
  if (skill === undefined) throw new TypeError("The server has no skill");
  return skill;
}

test("completes with the connection of the caller, and subscribes with it", async () => {
  const server = await startNotes("header");
  const runtime = await openRuntime(server, "header");
  const skill = findSkill(runtime);
  const ending = new AbortController();
  const createContext = (caller: Caller) => ({
    caller,
    signal: ending.signal,
    log: () => {},
    progress: () => {},
  });
  const params = { ref: { type: "ref/prompt", name: "any" }, argument: { name: "day", value: "m" } };
  for (const caller of [ADA, BOB])
    expect(await skill.complete?.(params, createContext(caller))).toMatchObject({
      completion: { values: [caller.id] },
    });
  for (const caller of [BOB, ADA]) {
    const stop = await skill.subscribe?.("notes://own", () => {}, createContext(caller));
    onTestFinished(() => stop?.());
  }
  expect(server.subscriptions).toEqual(["bob notes://own", "ada notes://own"]);
});
