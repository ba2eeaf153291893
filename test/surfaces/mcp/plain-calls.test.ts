import { createRequire } from "node:module";
import { describe, expect, onTestFinished, test } from "vitest";

import { defineSkill } from "../../../src/authoring/define-skill.ts";
import { OWNER } from "../../../src/model/caller.ts";
import { createMcpSurface } from "../../../src/surfaces/mcp/index.ts";
import { serveDescribed } from "./features/described.ts";
import { newClient, oldClient, type Parsed, post, serve, shareRuntime, whenSlow } from "../serving.ts";

const { version } = createRequire(import.meta.url)("../../../package.json") as { version: string };

const serveShared = shareRuntime();

const SESSION = { "mcp-protocol-version": "2025-11-25" };

/** Opens a session as an older client does; returns the headers of its requests. */
async function openSession(url: string): Promise<Record<string, string>> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
  const { headers } = await post(`${url}/mcp?expose=both`, { jsonrpc: "2.0", id: 0, method: "initialize", params });
  const session = { ...SESSION, "mcp-session-id": headers.get("mcp-session-id") ?? "" };
  await post(`${url}/mcp`, { jsonrpc: "2.0", method: "notifications/initialized" }, session);
  return session;
}

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** The same request of either generation, as a client would send it. */
async function generations(url: string) {
  const session = await openSession(url);
  return {
    old: { headers: () => session, meta: {} },
    new: {
      headers: (name: string) => ({
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": name,
      }),
      meta: META,
    },
  };
}

function createCall(id: number, name: string, args: unknown, more: object): object {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args, ...more } };
}

/** Masks the random parts of an answer. */
function settled({ json, status }: { readonly json: Parsed; readonly status: number }): Parsed {
  const text = JSON.stringify(json).replaceAll(/"(trace_id|runId)":"[^"]*"/g, '"$1":"?"');
  return { status, json: JSON.parse(text) };
}

describe.each(["old", "new"] as const)("a plain call of the %s generation", (generation) => {
  test.each([
    ["TestSkill__add", { a: 1, b: 2 }],
    ["TestSkill__add", { a: "one" }],
    ["TestSkill__fail", {}],
    ["TestSkill__picture", {}],
    ["TestSkill__ad", {}],
    ["run_code", { code: "1 + 1" }],
    ["run_code", { code: "device.TestSkill.ad(1)" }],
    ["describe_function", { path: "TestSkill.add" }],
  ])("%s is answered as the SDK answers it [V1]", async (name, args) => {
    const { url } = await serveShared({ expose: "both" });
    const { headers, meta } = (await generations(url))[generation];
    const ask = (id: number, more: object) =>
      post(`${url}/mcp?expose=both`, createCall(id, name, args, { ...more, _meta: meta }), headers(name));
    const short = settled(await ask(7, {}));
    expect(short).toEqual(settled(await ask(7, { unknown: 1 })));
    expect(short.json.id).toBe(7);
  });

  test("is answered with JSON, or with a stream if a notification precedes the answer [V1]", async () => {
    const { url } = await serveShared({ expose: "both" });
    const { headers, meta } = (await generations(url))[generation];
    const ask = (id: number, more: object) =>
      post(`${url}/mcp`, createCall(id, "TestSkill__chatty", {}, { _meta: { ...meta, ...more } }), {
        ...headers("TestSkill__chatty"),
      });
    const silent = generation === "old" ? "text/event-stream" : "application/json"; // an older client gets every log message
    expect((await ask(1, {})).headers.get("content-type")).toBe(silent);
    expect((await ask(2, { progressToken: "p" })).headers.get("content-type")).toBe("text/event-stream");
  });

  test("is stopped when its connection is lost [V6]", async () => {
    const { url } = await serveShared({ expose: "both" });
    const { headers, meta } = (await generations(url))[generation];
    const connection = new AbortController();
    const began = whenSlow("began");
    const gone = fetch(`${url}/mcp`, {
      method: "POST",
      signal: connection.signal,
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers("TestSkill__slow"),
      },
      body: JSON.stringify(createCall(1, "TestSkill__slow", {}, { _meta: meta })),
    });
    await began;
    const aborted = whenSlow("aborted");
    connection.abort();
    await expect(gone).rejects.toThrow("aborted");
    await aborted;
    const next = await post(
      `${url}/mcp`,
      createCall(2, "TestSkill__add", { a: 1, b: 2 }, { _meta: meta }),
      headers("TestSkill__add"),
    );
    expect(next.json.result.structuredContent).toEqual({ sum: 3 });
  });
});

test("adds the server's name and version to answers of the 2026 protocol [V1]", async () => {
  const { url } = await serveShared({ expose: "both" });
  const { headers, meta } = (await generations(url)).new;
  const { json } = await post(
    `${url}/mcp`,
    createCall(1, "TestSkill__add", { a: 1, b: 2 }, { _meta: meta }),
    headers("TestSkill__add"),
  );
  expect(json.result).toEqual({
    resultType: "complete",
    content: [{ type: "text", text: '{"sum":3}' }],
    structuredContent: { sum: 3 },
    _meta: { "io.modelcontextprotocol/serverInfo": { name: "skillgate", title: "Skillgate", version } },
  });
});

test("answers a call whose result JSON cannot represent [V3]", async () => {
  const { url, runtime } = await serve({ expose: "both" });
  const size = {
    toJSON: () => {
      throw new TypeError("no JSON");
    },
  };
  const link = { type: "resource_link", uri: "x:y", name: "y", size };
  runtime.register({
    name: "OddSkill",
    description: "Is odd",
    source: "code",
    kind: "mcp",
    methods: [{ name: "link", description: "Links to something", input: { type: "object" } }],
    invoke: async () => link,
  });
  runtime.register(
    defineSkill({ name: "OwnSkill", description: "", methods: { link: { description: "", run: () => link } } }),
  );
  const both = await generations(url);
  for (const { headers, meta } of [both.old, both.new]) {
    const answer = await post(
      `${url}/mcp`,
      createCall(1, "OddSkill__link", {}, { _meta: meta }),
      headers("OddSkill__link"),
    );
    expect(answer.json).toMatchObject({ id: 1, error: { code: -32603, data: { error_type: "InternalError" } } });
    const own = await post(
      `${url}/mcp`,
      createCall(2, "OwnSkill__link", {}, { _meta: meta }),
      headers("OwnSkill__link"),
    );
    expect(own.json).toMatchObject({
      id: 2,
      result: { isError: true, content: [{ text: expect.stringMatching(/^no JSON\n/) }] },
    });
  }
});

test("opens a stream for an older client that waits in silence [V1]", async () => {
  const { url } = await serveShared({ expose: "both" });
  const session = await openSession(url);
  const connection = new AbortController();
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    signal: connection.signal,
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...session },
    body: JSON.stringify(createCall(1, "TestSkill__slow", {}, {})),
  });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  expect(response.headers.get("mcp-session-id")).toBe(session["mcp-session-id"]);
  connection.abort();
});

test("adds search results after repeated refusals in one session [S5]", async () => {
  const { url } = await serve();
  const client = await oldClient(url);
  const stranger = await oldClient(url);
  const guess = async (who: typeof client): Promise<string> => {
    const { content } = await who.callTool({ name: "run_code", arguments: { code: "device.TestSkil.add(1, 2)" } });
    return (content as { text: string }[])[0]?.text ?? "";
  };
  const texts = [await guess(client), await guess(client), await guess(client)];
  expect(texts.map((text) => text.includes("device.search_skills("))).toEqual([false, false, true]);
  expect(await guess(stranger)).toBe(texts[0]);
  const stateless = await newClient(url);
  for (let i = 0; i < 4; i++)
    expect(
      JSON.stringify(await stateless.callTool({ name: "run_code", arguments: { code: "device.TestSkil.add(1, 2)" } })),
    ).not.toContain("device.search_skills(");
});

/** Sends a call as a client does, and observes its messages as they arrive. */
function open(url: string, body: unknown, headers: Readonly<Record<string, string>>, signal?: AbortSignal) {
  return fetch(`${url}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
}

const cancelledAs = (cause: string): object => ({
  code: -32003,
  data: { reason: `The run was cancelled: ${cause} (CANCELLED)` },
});

const CANCELLED = cancelledAs("the client cancelled its request");

describe("the id of a call", () => {
  const cancel = (id: number) => ({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });

  test("may be reused after the call was cancelled, and each call gets its own answer [V6]", async () => {
    const { url } = await serveShared({ expose: "both" });
    const session = await openSession(url);
    const began = whenSlow("began");
    const first = post(`${url}/mcp`, createCall(1, "TestSkill__slow", {}, {}), session);
    await began;
    await post(`${url}/mcp`, cancel(1), session);
    const second = await post(`${url}/mcp`, createCall(1, "TestSkill__add", { a: 1, b: 2 }, {}), session);
    expect(second.json.result.structuredContent).toEqual({ sum: 3 });
    expect((await first).json).toMatchObject({ id: 1, error: CANCELLED });
  });

  test("is not cancelled by the closed connection of an earlier answered call [V6]", async () => {
    const { url } = await serveShared({ expose: "both" });
    const session = await openSession(url);
    const connection = new AbortController();
    const unread = await open(
      url,
      createCall(1, "TestSkill__large", { size: 30_000_000 }, {}),
      session,
      connection.signal,
    );
    expect(unread.status).toBe(200);
    const began = whenSlow("began");
    const later = post(`${url}/mcp`, createCall(1, "TestSkill__slow", {}, {}), session);
    await began;
    let wasAborted = false;
    const aborted = whenSlow("aborted").then(() => (wasAborted = true));
    connection.abort();
    await post(`${url}/mcp`, createCall(2, "TestSkill__add", { a: 1, b: 2 }, {}), session);
    await new Promise((resolve) => setTimeout(resolve, 200)); // no event marks what must not happen
    expect(wasAborted).toBe(false);
    await post(`${url}/mcp`, cancel(1), session);
    await aborted;
    expect((await later).json).toMatchObject({ id: 1, error: CANCELLED });
  });

  test("is rejected for another request while the call is in progress, without disturbing it [V1]", async () => {
    const { url } = await serveShared({ expose: "both" });
    const session = await openSession(url);
    const began = whenSlow("began");
    const first = post(`${url}/mcp`, createCall(5, "TestSkill__slow", {}, {}), session);
    await began;
    const list = { jsonrpc: "2.0", id: 5, method: "tools/list" };
    for (const second of [createCall(5, "TestSkill__add", { a: 1, b: 2 }, {}), list, [list]])
      expect(await post(`${url}/mcp`, second, session)).toMatchObject({
        status: 400,
        json: {
          id: 5,
          error: {
            code: -32600,
            data: {
              reason: "The request id 5 is already in use by a request in progress. Use another id",
            },
          },
        },
      });
    await post(`${url}/mcp`, cancel(5), session);
    expect((await first).json).toMatchObject({ id: 5, error: CANCELLED });
  });

  test("is accepted for only one of two simultaneous requests [V1]", async () => {
    const { runtime } = await serveShared();
    const surface = createMcpSurface(runtime, { sessions: { most: 2, idleMs: 60_000 }, bodyBytes: 1_000 });
    onTestFinished(() => surface.close());
    const asker = { caller: OWNER, exposure: { expose: "code", names: "raw", budgetTokens: 0 } } as const;
    const ask = (body: object, more: Record<string, string> = {}): Promise<Response> => {
      const headers = {
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        ...SESSION,
        ...more,
      };
      const request = new Request("http://localhost/mcp", { method: "POST", headers });
      const respond = (json: string): Response => new Response(json);
      return surface.fetch({ request, body, onEnd: () => {}, respond }, asker);
    };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
    const opened = await ask({ jsonrpc: "2.0", id: 0, method: "initialize", params });
    const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    const list = { jsonrpc: "2.0", id: 7, method: "tools/list" };
    const both = await Promise.all([ask(list, session), ask(list, session)]);
    expect(both.map(({ status }) => status)).toEqual([200, 400]);
    await both[0]?.text();
    expect((await ask(list, session)).status).toBe(200);
  });

  test("is independent in each session [V1]", async () => {
    const { url } = await serveShared({ expose: "both" });
    const [one, other] = [await openSession(url), await openSession(url)];
    const began = whenSlow("began");
    const first = post(`${url}/mcp`, createCall(5, "TestSkill__slow", {}, {}), one);
    await began;
    const { json } = await post(`${url}/mcp`, createCall(5, "TestSkill__add", { a: 1, b: 2 }, {}), other);
    expect(json.result.structuredContent).toEqual({ sum: 3 });
    await post(`${url}/mcp`, cancel(5), one);
    expect((await first).json).toMatchObject({ id: 5, error: CANCELLED });
  });
});

test("ends the calls of a session with the session [V6]", async () => {
  const { url } = await serveShared({ expose: "both" });
  const session = await openSession(url);
  const began = whenSlow("began");
  const call = post(`${url}/mcp`, createCall(1, "TestSkill__slow", {}, {}), session);
  await began;
  const aborted = whenSlow("aborted");
  expect((await fetch(`${url}/mcp`, { method: "DELETE", headers: session })).status).toBe(200);
  await aborted;
  expect((await call).json).toMatchObject({ id: 1, error: cancelledAs("the session has ended") });
});

test("answers the open requests of a session at its end, also those that call nothing [V1, V6]", async () => {
  const uri = "note://today";
  const notes = { resources: [{ uri, name: "today" }], silent: ["resources/read"] };
  const { url, runtime } = await serveDescribed({ notes });
  const session = await openSession(url.replace(/\/mcp$/, ""));
  const read = post(url, { jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri } }, session);
  const listArrived = async () => {
    const { received } = (await runtime.call("NotesMCP.received", {})) as Parsed;
    return received.map(({ method }: Parsed) => method);
  };
  await expect.poll(listArrived).toContain("resources/read");
  expect((await fetch(url, { method: "DELETE", headers: session })).status).toBe(200);
  expect((await read).json).toMatchObject({ id: 1, error: cancelledAs("the session has ended") });
});

test("rejects a message that is both a request and an answer [V1]", async () => {
  const { url } = await serveShared({ expose: "both" });
  const both = await generations(url);
  for (const { headers, meta } of [both.old, both.new])
    for (const more of [{ result: {} }, { error: { code: 1, message: "no" } }]) {
      const body = { ...createCall(1, "TestSkill__add", { a: 1, b: 2 }, { _meta: meta }), ...more };
      const { status, json } = await post(`${url}/mcp`, body, headers("TestSkill__add"));
      expect([status, json.result]).toEqual([400, undefined]);
    }
});

test.each([
  ["tools/call", {}, "name: expected string, received undefined"],
  ["tools/call", { name: "TestSkill__add", arguments: [1] }, "arguments: expected record, received array"],
  ["resources/read", {}, "uri: expected string, received undefined"],
  ["prompts/get", { name: 5 }, "name: expected string, received number"],
])("answers %s with %j with a readable error [V1]", async (method, params, flaw) => {
  const { url } = await serveShared();
  const old = await openSession(url);
  const request = { jsonrpc: "2.0", id: 4, method, params };
  const error = { code: -32602, message: `Invalid params: ${flaw}` };
  expect((await post(`${url}/mcp`, request, old)).json).toEqual({ jsonrpc: "2.0", id: 4, error });
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": method, "mcp-name": "TestSkill__add" };
  const modern = await post(`${url}/mcp`, { ...request, params: { ...params, _meta: META } }, headers);
  expect(modern.json.error.message).not.toContain("\n");
});

test("does not warn of a leak while many sessions listen to one runtime", async () => {
  const warnings: string[] = [];
  const note = ({ message }: Error): void => void (message.includes("leak") && warnings.push(message));
  process.on("warning", note);
  onTestFinished(() => void process.off("warning", note));
  const { url } = await serve();
  for (let count = 0; count < 12; count++) await openSession(url);
  await new Promise((resolve) => setImmediate(resolve)); // warnings come in the next tick
  expect(warnings).toEqual([]);
});
