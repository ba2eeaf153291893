import { EventEmitter, once } from "node:events";
import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";

import {
  type ApiCallContext,
  type ApiClient,
  type ApiClientOptions,
  createApiClient,
  type ApiSendOptions,
} from "../../../../src/providers/sources/http/api-client.ts";
import type { ApiRequest } from "../../../../src/providers/sources/http/api-request.ts";
import type { RequestAccount } from "../../../../src/shared/http/request-account.ts";
import { type ApiServer, startApiServer } from "../../../support/servers/api-server.ts";

type Options = Partial<ApiClientOptions>;

function clientFor({ origin }: Pick<ApiServer, "origin">, options: Options = {}): ApiClient {
  const client = createApiClient({ server: origin, allowsPrivate: true, ...options });
  onTestFinished(() => client.close());
  return client;
}

const READ: ApiSendOptions = { isRead: true };
const WRITE: ApiSendOptions = { isRead: false };

function requestFor(target: string, given: Partial<ApiRequest> = {}): ApiRequest {
  const method = given.method ?? "GET";
  return { method, operation: `${method} ${target}`, target, headers: {}, ...given };
}

function contextFor(given: Partial<ApiCallContext> = {}): ApiCallContext {
  return { callId: "run-1/1", signal: new AbortController().signal, timeoutMs: 20_000, ...given };
}

function json(response: ServerResponse, status: number, value: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
}

function accountOf(id: string): RequestAccount {
  return {
    id,
    account: { name: "shop", isPrivate: true },
    credential: [{ in: "header", name: "Authorization", value: id }],
    title: `shop (${id})`,
    advice: "",
    renew: async () => undefined,
  };
}

const get = (client: ApiClient, target = "/", given: Partial<ApiCallContext> = {}): Promise<unknown> =>
  client.send(requestFor(target), contextFor(given), READ);

describe("a request", () => {
  test("goes to the server of the source, below its path, as it is written", async () => {
    const server = await startApiServer((_request, response) => json(response, 200, { ok: true }));
    const client = clientFor(
      { origin: `${server.origin}/v1/` },
      { headers: async () => ({ Authorization: "Bearer t" }) },
    );
    const headers = { "x-a": "b", authorization: "mine", host: "evil" };
    const body = Buffer.from("hi");
    const sent = requestFor("/a%2Fb/%2E?q=a%20b&q=%2B", { method: "POST", headers, body });
    expect(await client.send(sent, contextFor(), WRITE)).toEqual({ ok: true });
    expect(server.received).toMatchObject([{ method: "POST", url: "/v1/a%2Fb/%2E?q=a%20b&q=%2B", body: "hi" }]);
    expect(server.received[0]?.headers).toMatchObject({
      host: new URL(server.origin).host,
      authorization: "Bearer t",
      "x-a": "b",
      "content-length": "2",
      "user-agent": expect.stringMatching(/^skillgate\/\d/),
    });
  });

  test("has a length also without a body, if its method has one", async () => {
    const server = await startApiServer((_request, response) => json(response, 200, null));
    const client = clientFor(server);
    await client.send(requestFor("/", { method: "POST" }), contextFor(), WRITE);
    await get(client);
    expect(server.received.map(({ headers }) => headers["content-length"])).toEqual(["0", undefined]);
  });

  test("never reaches a private address that the owner has not allowed", async () => {
    const server = await startApiServer((_request, response) => json(response, 200, null));
    const { port } = new URL(server.origin);
    for (const host of ["127.0.0.1", "2130706433", "localhost", "[::1]", "[::ffff:127.0.0.1]"]) {
      const client = clientFor({ origin: `http://${host}:${port}` }, { allowsPrivate: false });
      await expect(get(client)).rejects.toThrow(
        "is an address of a private network; the owner allows it by private: true",
      );
    }
    const metadata = clientFor({ origin: "http://169.254.169.254" });
    await expect(get(metadata)).rejects.toThrow("is an address of a private network");
    expect(server.received).toEqual([]);
  });

  test.each(["ftp://x", "nonsense", "", "file:///etc/passwd"])("needs an HTTP server, not %j", (server) => {
    expect(() => createApiClient({ server })).toThrow("write an address such as https://api.example.com/v1");
  });
});

test("takes no password in the address of a server, and does not show it", () => {
  const create = (): ApiClient => createApiClient({ server: "https://ada:hunter2@api.example.com" });
  expect(create).toThrow("Cannot use this option: a server with a password; write it as a header (OPTION_INVALID)");
});

describe("a redirect", () => {
  test("is followed on the same server, with the headers", async () => {
    const server = await startApiServer(({ url }, response) => {
      if (url === "/end?a=b") json(response, 200, "there");
      else response.writeHead(302, { location: url === "/a" ? "../end?a=b" : "/a" }).end("moved");
    });
    const client = clientFor(server, { headers: async () => ({ "x-key": "k" }) });
    expect(await get(client, "/start")).toBe("there");
    expect(server.received.map(({ url, headers }) => [url, headers["x-key"]])).toEqual([
      ["/start", "k"],
      ["/a", "k"],
      ["/end?a=b", "k"],
    ]);
  });

  test("to another server is refused, and sends nothing there", async () => {
    const other = await startApiServer((_request, response) => json(response, 200, "stolen"));
    const server = await startApiServer(
      (_request, response) => void response.writeHead(302, { location: `${other.origin}/x` }).end(),
    );
    await expect(get(clientFor(server))).rejects.toThrow(
      `GET / answered 302 Found. It redirects to ${other.origin}/x, which is not followed; ask the owner to correct the address of this source (HTTP_302)`,
    );
    expect(other.received).toEqual([]);
  });

  test("of a write is not followed, and an endless one ends", async () => {
    const server = await startApiServer(
      (_request, response) => void response.writeHead(307, { location: "/again" }).end(),
    );
    const client = clientFor(server);
    const write = client.send(requestFor("/", { method: "POST", body: Buffer.from("x") }), contextFor(), WRITE);
    await expect(write).rejects.toThrow("(HTTP_307)");
    expect(server.received.length).toBe(1);
    await expect(get(client)).rejects.toThrow("(HTTP_307)");
    expect(server.received.length).toBe(7);
  });
});

describe("time", () => {
  test("ends a request without headers", async () => {
    const server = await startApiServer(() => {});
    const client = clientFor(server, { limits: { headersMs: 30 } });
    await expect(get(client)).rejects.toMatchObject({
      code: "CALL_TIMEOUT",
      message: expect.stringContaining("did not answer within 30 ms"),
    });
  });

  test("ends a body that stops", async () => {
    const server = await startApiServer(
      (_request, response) => void response.writeHead(200, { "content-type": "text/plain" }).write("a"),
    );
    const client = clientFor(server, { limits: { stallMs: 30 } });
    await expect(get(client)).rejects.toMatchObject({
      code: "CALL_TIMEOUT",
      message: expect.stringContaining("no part of it came for 30 ms"),
    });
  });

  test.each(["before the headers", "in the body"])("ends with the call %s", async (when) => {
    const end = new AbortController();
    let closed: Promise<unknown> | undefined;
    const server = await startApiServer((_request, response) => {
      closed = once(response, "close");
      if (when === "in the body") response.writeHead(200, { "content-type": "text/plain" }).write("a");
      setImmediate(() => end.abort(new Error("over")));
    });
    await expect(get(clientFor(server), "/", { signal: end.signal })).rejects.toThrow("over");
    await closed;
  });
});

test("has eight requests under way together, and the others wait in turn", async () => {
  const waiting: ServerResponse[] = [];
  const events = new EventEmitter();
  const isFull = once(events, "full");
  const server = await startApiServer(({ url }, response) => {
    if (waiting.length === 8) return json(response, 200, url);
    waiting.push(response);
    if (waiting.length === 8) events.emit("full");
  });
  const client = clientFor(server);
  const first = Array.from({ length: 8 }, (_, index) => get(client, `/${index}`));
  await isFull;
  const end = new AbortController();
  const cancelled = get(client, "/cancelled", { signal: end.signal });
  const later = get(client, "/later");
  end.abort(new Error("not any more"));
  await expect(cancelled).rejects.toThrow("not any more");
  for (const response of waiting) json(response, 200, "done");
  expect(await Promise.all([...first, later])).toEqual([...Array.from({ length: 8 }, () => "done"), "/later"]);
  expect(server.mostOpen()).toBe(8);
  expect(server.received.map(({ url }) => url)).not.toContain("/cancelled");
});

describe("a repeat", () => {
  test.each([429, 502, 503, 504])("of a read follows %i, once", async (status) => {
    const server = await startApiServer((_request, response) =>
      server.received.length === 1 ? json(response, status, {}) : json(response, 200, "second"),
    );
    expect(await get(clientFor(server))).toBe("second");
    const busy = await startApiServer((_request, response) => json(response, status, { message: "busy" }));
    await expect(get(clientFor(busy))).rejects.toMatchObject({
      facts: { attempts: 2, serverError: { code: `HTTP_${status}` } },
    });
    expect(busy.received.length).toBe(2);
  });

  test("of a read follows a connection that breaks off", async () => {
    const server = await startApiServer((_request, response) => {
      if (server.received.length === 2) return json(response, 200, "second");
      response.writeHead(200, { "content-length": "100", "content-type": "text/plain" }).write("a");
      return setImmediate(() => response.destroy());
    });
    expect(await get(clientFor(server))).toBe("second");
  });

  test("waits for Retry-After within the time of the call, and else says when to call", async () => {
    let seconds = "0.05";
    const server = await startApiServer((_request, response) =>
      server.received.length === 2
        ? json(response, 200, "second")
        : json(response, 503, {}, { "retry-after": seconds }),
    );
    const client = clientFor(server);
    const start = performance.now();
    expect(await get(client)).toBe("second");
    expect(performance.now() - start).toBeGreaterThan(45);
    seconds = "60";
    await expect(get(client)).rejects.toMatchObject({
      message: expect.stringMatching(
        /^GET \/ answered 503 Service Unavailable\. Call again after 60 s, at \S+Z \(HTTP_503\)$/,
      ),
      facts: { attempts: 1, serverError: { http: { status: 503, retryAfter: 60 } } },
    });
    await expect(get(client)).rejects.toThrow(
      /^GET \/ was not sent, because the API takes no more requests for now\. Call again after 60 s/,
    );
    expect(server.received.length).toBe(3);
  });

  test.each([500, 501, 400, 404, 409])("does not follow %i", async (status) => {
    const server = await startApiServer((_request, response) => json(response, status, {}));
    await expect(get(clientFor(server))).rejects.toThrow(`(HTTP_${status})`);
    expect(server.received.length).toBe(1);
  });

  test("of a write needs a key, which is the id of the call", async () => {
    const server = await startApiServer((_request, response) =>
      server.received.length % 2 === 1 ? json(response, 503, {}) : json(response, 201, "made"),
    );
    const write = requestFor("/", { method: "POST", body: Buffer.from("x") });
    const keyed = clientFor(server, { idempotencyHeader: "Idempotency-Key" });
    expect(await keyed.send(write, contextFor({ callId: "run-7/3" }), WRITE)).toBe("made");
    expect(server.received.map(({ headers }) => headers["idempotency-key"])).toEqual(["run-7/3", "run-7/3"]);
    await keyed.send({ ...write, headers: { "idempotency-key": "mine" } }, contextFor(), WRITE);
    expect(server.received[2]?.headers["idempotency-key"]).toBe("mine");
    await keyed.send({ ...write, headers: { "idempotency-key": " " } }, contextFor({ callId: "run-7/4" }), WRITE);
    expect(server.received[4]?.headers["idempotency-key"]).toBe("run-7/4");
    await expect(clientFor(server).send(write, contextFor(), WRITE)).rejects.toThrow("(HTTP_503)");
    expect(server.received.length).toBe(7);
  });

  test("that the server makes something else of ends, and gives its turn to the next one", async () => {
    const server = await startApiServer((request, response) =>
      request.url === "/up"
        ? response.socket?.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")
        : json(response, 200, "made"),
    );
    const client = clientFor(server, { limits: { requests: 1 } });
    await expect(get(client, "/up")).rejects.toThrow("closed the connection without an answer");
    expect(await get(client)).toBe("made");
  });

  test("can be turned off", async () => {
    const server = await startApiServer((_request, response) => json(response, 503, {}));
    await expect(get(clientFor(server, { repeats: false }))).rejects.toMatchObject({ facts: { attempts: 1 } });
    expect(server.received.length).toBe(1);
  });
});

describe("the rate limits of an API", () => {
  const later = (): string => String(Math.ceil(Date.now() / 1_000) + 60);

  test.each<[name: string, headers: () => Record<string, string>]>([
    ["X-RateLimit-Reset in seconds since 1970", () => ({ "x-ratelimit-remaining": "0", "x-ratelimit-reset": later() })],
    [
      "X-RateLimit-Reset in milliseconds since 1970",
      () => ({ "x-ratelimit-remaining": "0", "x-ratelimit-reset": `${later()}000` }),
    ],
    [
      "X-RateLimit-Reset as a date",
      () => ({ "x-ratelimit-remaining": "0", "x-ratelimit-reset": new Date(Number(later()) * 1_000).toUTCString() }),
    ],
    ["RateLimit-Reset in seconds from now", () => ({ "ratelimit-remaining": "0", "ratelimit-reset": "60" })],
    ["RateLimit", () => ({ ratelimit: '"burst";r=100;t=1, "day";r=0;t=60' })],
    ["RateLimit of an older draft", () => ({ ratelimit: "limit=10, remaining=0, reset=60" })],
  ])("are read from %s", async (_name, headers) => {
    const server = await startApiServer((_request, response) => json(response, 200, 1, headers()));
    const client = clientFor(server);
    await get(client);
    await expect(get(client)).rejects.toMatchObject({
      message: expect.stringMatching(/^GET \/ was not sent.* Call again after 6[01] s, at \S+Z \(HTTP_429\)$/),
      facts: { serverError: { code: "HTTP_429", http: { status: 429 } } },
    });
    expect(server.received.length).toBe(1);
  });

  test("make a request wait, if its call has the time", async () => {
    const times: number[] = [];
    const headers = { "ratelimit-remaining": "0", "ratelimit-reset": "0.05" };
    const server = await startApiServer((_request, response) => {
      times.push(performance.now());
      json(response, 200, 1, headers);
    });
    const client = clientFor(server);
    await get(client);
    await get(client);
    const [first = 0, second = 0] = times;
    expect(second - first).toBeGreaterThan(49);
  });

  test("count for the operations that share them", async () => {
    const server = await startApiServer(({ url }, response) =>
      json(response, 200, 1, {
        "x-ratelimit-resource": url === "/search" ? "search" : "core",
        "x-ratelimit-remaining": url === "/search" ? "0" : "100",
        "x-ratelimit-reset": "60",
      }),
    );
    const client = clientFor(server);
    await get(client, "/search");
    await get(client, "/repos");
    await get(client, "/repos");
    await expect(get(client, "/search")).rejects.toThrow("was not sent");
  });

  test("count for each connection of an account by itself", async () => {
    const limited = { "ratelimit-remaining": "0", "ratelimit-reset": "60" };
    const server = await startApiServer(({ headers, url }, response) => {
      if (headers.authorization !== "ada") json(response, 200, 1);
      else if (url === "/later") json(response, 429, {}, { "retry-after": "60" });
      else json(response, 200, 1, limited);
    });
    const client = clientFor(server);
    const getAs = (id: string, target: string): Promise<unknown> =>
      client.send(requestFor(target), contextFor(), { ...READ, account: accountOf(id) });
    await expect(getAs("ada", "/later")).rejects.toThrow("answered 429");
    await getAs("ada", "/");
    await expect(getAs("ada", "/")).rejects.toThrow("was not sent");
    for (const target of ["/", "/later"]) expect(await getAs("bob", target)).toBe(1);
  });

  test("that an API names for one operation hold no other one up, unless it says that its quota is used up", async () => {
    const quota = { "ratelimit-remaining": "0", "ratelimit-reset": "60" };
    const server = await startApiServer(({ url }, response) => {
      if (url === "/one") json(response, 429, {}, { "retry-after": "60" });
      else if (url === "/all") json(response, 429, {}, { "retry-after": "60", ...quota });
      else json(response, 200, 1);
    });
    const client = clientFor(server);
    await expect(get(client, "/one")).rejects.toThrow("answered 429");
    await expect(get(client, "/one")).rejects.toThrow("was not sent");
    expect(await get(client, "/other")).toBe(1);
    await expect(get(client, "/all")).rejects.toThrow("answered 429");
    await expect(get(client, "/other")).rejects.toThrow("was not sent");
  });

  test.each([
    { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "x" },
    { "x-ratelimit-remaining": "none", "x-ratelimit-reset": "60" },
    { ratelimit: ",".repeat(5_000) },
    { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "-5" },
  ])("are ignored if they say nothing: %j", async (headers) => {
    const server = await startApiServer((_request, response) => json(response, 200, 1, headers));
    const client = clientFor(server);
    await get(client);
    expect(await get(client)).toBe(1);
  });
});

test("keeps connections for reads, and gives a write without a key its own", async () => {
  const server = await startApiServer((_request, response) => json(response, 200, 1));
  const client = clientFor(server);
  for (let count = 0; count < 3; count++) await get(client);
  expect(server.countConnections()).toBe(1);
  await client.send(requestFor("/", { method: "POST" }), contextFor(), WRITE);
  expect(server.countConnections()).toBe(2);
});

test("reports a server that is away", async () => {
  const server = await startApiServer(() => {});
  const client = clientFor({ origin: "http://127.0.0.1:1" });
  await expect(get(client)).rejects.toMatchObject({
    code: "SERVER_GONE",
    message: expect.stringContaining("127.0.0.1:1 cannot be reached (ECONNREFUSED)"),
  });
  expect(server.received).toEqual([]);
});

describe("an answer", () => {
  type AnswerOf = (response: ServerResponse) => unknown;

  async function read(answer: AnswerOf, options: Options = {}, send: Partial<ApiSendOptions> = {}) {
    const server = await startApiServer((_request, response) => answer(response));
    const notes: string[] = [];
    const context = contextFor({ addNote: (text) => void notes.push(text) });
    const value = await clientFor(server, options).send(requestFor("/x"), context, { ...READ, ...send });
    return { value, notes };
  }

  const as =
    (type: string | undefined, body: string | Uint8Array, status = 200): AnswerOf =>
    (response) =>
      response.writeHead(status, type === undefined ? {} : { "content-type": type }).end(body);

  test.each<[type: string | undefined, body: string | Uint8Array, value: unknown]>([
    ["application/json", '{"a":[1,2.5]}', { a: [1, 2.5] }],
    ["application/vnd.api+json; charset=utf-8", "[]", []],
    ["application/json", "", null],
    ["application/json", " \n", null],
    ["application/json", "\uFEFF[1]", [1]],
    ["application/json; charset=iso-8859-1", Buffer.from('"é"'), "é"],
    ["application/json; charset=iso-8859-1", Buffer.from('"é"', "latin1"), "é"],
    ["application/json; charset=utf-16le", Buffer.from('"é"', "utf16le"), "é"],
    ["text/plain", "hé", "hé"],
    ["text/html; charset=iso-8859-1", Buffer.from("hé", "latin1"), "hé"],
    ["text/plain; charset=windows-1252", Buffer.from([0x80, 0x92]), "€’"],
    ["application/xml", "<a/>", "<a/>"],
    ["image/svg+xml", "<svg/>", "<svg/>"],
    ["image/png", Buffer.from([1, 255]), new Uint8Array([1, 255])],
    ["application/octet-stream", "hi", new Uint8Array([104, 105])],
    ["application/x-ndjson", '{"a":1}\n\n[2]\n', [{ a: 1 }, [2]]],
    ["application/json-seq", '\u001E{"a":1}\n\u001E2\n', [{ a: 1 }, 2]],
    [
      "text/event-stream",
      ': hi\nevent: x\nid: 1\ndata: {"a":\ndata: 1}\n\ndata: [DONE]\n\ndata:b\r\n\r\ndata: lost',
      [{ event: "x", id: "1", data: { a: 1 } }, { data: "[DONE]" }, { data: "b" }],
    ],
    ["text/event-stream", "", []],
  ])("of %s is read: %s", async (type, body, value) => {
    expect(await read(as(type, body))).toEqual({ value, notes: [] });
  });

  test("without a media type is text, or bytes", async () => {
    expect(await read(as(undefined, "hi"))).toEqual({
      value: "hi",
      notes: ["The result of GET /x has no media type, and is text"],
    });
    expect((await read(as(undefined, Buffer.from([255, 254])))).value).toEqual(new Uint8Array([255, 254]));
  });

  test.each([204, 205])("of status %i is null", async (status) => {
    expect((await read((response) => response.writeHead(status).end())).value).toBeNull();
  });

  test("keeps integers that a number cannot hold, as text with a note", async () => {
    const { value, notes } = await read(
      as("application/json", '{"id":9007199254740993,"error":{"code":12345678901234567890}}'),
    );
    expect(value).toEqual({ id: "9007199254740993", error: { code: "12345678901234567890" } });
    expect(notes).toEqual([
      "The result of GET /x has 9007199254740993 and 1 other integers as text, because numbers cannot hold them exactly",
    ]);
  });

  test("in lines has one note on all of them", async () => {
    const lines = as("application/x-ndjson", "9007199254740993\n".repeat(3));
    const { value, notes } = await read(lines);
    expect([value, notes.length]).toEqual([["9007199254740993", "9007199254740993", "9007199254740993"], 1]);
  });

  test("that is nested too deeply is an error of the call, also in an error", async () => {
    const deep = `${"[".repeat(7_000)}9007199254740993${"]".repeat(7_000)}`;
    await expect(read(as("application/json", deep))).rejects.toMatchObject({
      code: "NESTING_LIMIT",
      message: expect.stringContaining("the API returned more than 500 levels"),
    });
    await expect(read(as("application/json", deep, 400))).rejects.toMatchObject({
      facts: { serverError: { http: { body: deep } } },
    });
  });

  test("is unpacked", async () => {
    const gzip: AnswerOf = (response) =>
      response
        .writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" })
        .end(gzipSync('{"a":1}'));
    expect((await read(gzip)).value).toEqual({ a: 1 });
    const broken: AnswerOf = (response) =>
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end("not gzip");
    await expect(read(broken)).rejects.toThrow("failed (Z_DATA_ERROR)");
  });

  test.each(["gzip", "deflate", "br"])("of no bytes is null, also if it names the encoding %s", async (encoding) => {
    const empty: AnswerOf = (response) => response.writeHead(200, { "content-encoding": encoding }).end();
    expect((await read(empty)).value).toBeNull();
  });

  test("that ends within its packed bytes is an error", async () => {
    const packed = gzipSync('{"a":1}');
    const cut: AnswerOf = (response) =>
      response
        .writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" })
        .end(packed.subarray(0, -1));
    await expect(read(cut)).rejects.toThrow("failed (Z_BUF_ERROR)");
  });

  test("has a limit of its size, also unpacked", async () => {
    const limits = { maxBytes: 1_000 };
    await expect(read(as("text/plain", "x".repeat(1_001)), { limits })).rejects.toThrow(
      /more than 1000 bytes \(ANSWER_LIMIT\)/,
    );
    expect((await read(as("text/plain", "x".repeat(1_000)), { limits })).value).toHaveLength(1_000);
    const bomb: AnswerOf = (response) =>
      response
        .writeHead(200, { "content-type": "text/plain", "content-encoding": "gzip" })
        .end(gzipSync("x".repeat(1 << 20)));
    await expect(read(bomb, { limits })).rejects.toThrow("(ANSWER_LIMIT)");
  });

  test.each([
    [
      "application/json",
      "<html>",
      'the answer is not valid JSON, although its media type is application/json; it begins "<html>"',
    ],
    ["application/x-ndjson", '{"a":1}\n{"b"', "application/x-ndjson (line 2)"],
    [
      "application/json",
      `{${Array.from({ length: 10_001 }, (_, at) => `"k${at}":1`).join(",")}}`,
      "an object with more than 10000 names",
    ],
    ["application/json", "[".repeat(100_001), "more than 100000 levels"],
  ])("of %s that cannot be read is an error: %#", async (type, body, words) => {
    await expect(read(as(type, body))).rejects.toThrow(words);
  });

  test("with a charset that does not fit is read, with a note", async () => {
    expect(await read(as("text/plain; charset=klingon", "hi"))).toEqual({
      value: "hi",
      notes: ['The result of GET /x has the unknown charset "klingon", and was read as UTF-8'],
    });
    expect(await read(as("text/plain", Buffer.from([104, 255])))).toEqual({
      value: "h\uFFFD",
      notes: ["The result of GET /x has bytes that are not utf-8, which are written as \uFFFD"],
    });
  });

  test.each(["size", "time"])("that is an endless stream is cut by %s", async (limit) => {
    const stream: AnswerOf = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: 1\n\n");
      if (limit === "size") response.write(`data: ${"x".repeat(200)}\n\n`);
    };
    const limits = limit === "size" ? { eventsBytes: 100 } : { eventsMs: 300 };
    const { value, notes } = await read(stream, { limits });
    expect(value).toEqual([{ data: "1" }]);
    expect(notes).toEqual([
      expect.stringMatching(/^The result of GET \/x is the beginning of a stream, cut after \d+ bytes or \d+ ms$/),
    ]);
  });

  test("has its status and headers where they are wanted, but no cookies", async () => {
    const headers = {
      "content-type": "application/json",
      link: "</2>; rel=next",
      "set-cookie": "a=b",
      "x-ratelimit-limit": "5",
      "x-request-id": "r1",
      "x-internal": "no",
    };
    const answer: AnswerOf = (response) => response.writeHead(201, headers).end("[]");
    expect((await read(answer, {}, { includeResponse: true })).value).toEqual({
      status: 201,
      headers: {
        "content-type": "application/json",
        link: "</2>; rel=next",
        "x-ratelimit-limit": "5",
        "x-request-id": "r1",
      },
      body: [],
    });
  });
});

test("reads nothing of the answer to HEAD", async () => {
  const server = await startApiServer((_request, response) => json(response, 200, [1], { "content-encoding": "gzip" }));
  const send = clientFor(server).send(requestFor("/", { method: "HEAD" }), contextFor(), {
    isRead: true,
    includeResponse: true,
  });
  expect(await send).toMatchObject({ status: 200, body: null });
});

describe("an error of an API", () => {
  async function fail(status: number, body: string, headers: Record<string, string> = {}, target = "/a/b?token=t") {
    const server = await startApiServer((_request, response) =>
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(body),
    );
    const send = clientFor(server, { repeats: false }).send(requestFor(target), contextFor(), READ);
    return (await send.catch((thrown: unknown) => thrown)) as Error & { readonly facts: Record<string, unknown> };
  }

  test("has its status, method, path, body and request id", async () => {
    const error = await fail(404, '{"message":"Not Found","id":9007199254740993}', { "x-github-request-id": "ABC" });
    expect(error).toMatchObject({
      code: "CALL_FAILED",
      message:
        "GET /a/b answered 404 Not Found: Not Found. Check the arguments that name the resource; it may also be hidden from these credentials (HTTP_404)",
    });
    expect(error.facts["serverError"]).toEqual({
      code: "HTTP_404",
      http: {
        status: 404,
        httpMethod: "GET",
        path: "/a/b",
        body: { message: "Not Found", id: "9007199254740993" },
        requestId: "ABC",
      },
    });
  });

  test.each<[status: number, body: string, headers: Record<string, string>, message: string]>([
    [
      401,
      '{"error":"invalid_token","error_description":"The token is expired."}',
      {},
      "GET /a/b answered 401 Unauthorized: The token is expired. Ask the owner to configure credentials for this source (HTTP_401)",
    ],
    [
      403,
      "{}",
      {},
      "GET /a/b answered 403 Forbidden. Ask the owner for credentials that allow this, or continue without it (HTTP_403)",
    ],
    [
      422,
      '{"message":"Validation Failed","errors":[{"field":"title","code":"missing"}]}',
      {},
      'GET /a/b answered 422 Unprocessable Entity: Validation Failed [{"field":"title","code":"missing"}]. Correct the arguments as the answer says (HTTP_422)',
    ],
    [
      400,
      '{"errors":[{"detail":"page must be positive"}]}',
      {},
      "GET /a/b answered 400 Bad Request: page must be positive. Correct the arguments as the answer says (HTTP_400)",
    ],
    [
      402,
      '{"error":{"type":"card","message":"Your card was declined."}}',
      {},
      "GET /a/b answered 402 Payment Required: Your card was declined. Correct the arguments as the answer says (HTTP_402)",
    ],
    [
      500,
      "<html><head><title>Oops</title></head></html>",
      { "content-type": "text/html" },
      "GET /a/b answered 500 Internal Server Error: Oops. Try again later, or continue without it (HTTP_500)",
    ],
    [
      599,
      "a\nb\u001b[31m",
      { "content-type": "text/plain" },
      "GET /a/b answered 599: a b\\u001b[31m. Try again later, or continue without it (HTTP_599)",
    ],
    [304, "", {}, "GET /a/b answered 304 Not Modified. The resource has not changed (HTTP_304)"],
    [
      400,
      "{broken",
      {},
      "GET /a/b answered 400 Bad Request: {broken. Correct the arguments as the answer says (HTTP_400)",
    ],
  ])("of status %i says what to do: %s", async (status, body, headers, message) => {
    expect((await fail(status, body, headers)).message).toBe(message);
  });

  test("says when the API takes the call", async () => {
    const error = await fail(429, "{}", { "retry-after": "42" });
    expect(error.message).toMatch(
      /^GET \/a\/b answered 429 Too Many Requests\. Call again after 42 s, at \S+Z \(HTTP_429\)$/,
    );
    expect(error.facts["serverError"]).toMatchObject({ http: { retryAfter: 42 } });
  });

  test("has the beginning of a long body", async () => {
    const error = await fail(500, JSON.stringify({ message: "x".repeat(100_000) }));
    const { body } = (error.facts["serverError"] as { http: { body: string } }).http;
    expect(body).toHaveLength(16_000);
    expect(error.message.length).toBeLessThan(1_000);
  });

  test("comes also with a body that breaks off", async () => {
    const server = await startApiServer((_request, response) => {
      response.writeHead(500, { "content-length": "100", "content-type": "application/json" }).write("{");
      setImmediate(() => response.destroy());
    });
    await expect(get(clientFor(server))).rejects.toThrow("(HTTP_500)");
  });
});

test("survives answers that are no HTTP", async () => {
  const { createServer } = await import("node:net");
  const server = createServer((socket) => socket.on("error", () => {}).end("nonsense\r\n\r\n"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  await expect(get(clientFor({ origin: `http://127.0.0.1:${port}` }))).rejects.toThrow("failed (HPE_INVALID_CONSTANT)");
});
