import { getEventListeners, once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";

import { sizeLimitedFetch } from "../../../../src/providers/mcp/http/size-limited-fetch.ts";

const fetch = sizeLimitedFetch(1_000);

/** A server of this machine for as long as the test lasts. */
async function listening(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const post = (body: object, more: RequestInit = {}): RequestInit => ({
  method: "POST",
  headers: new Headers({ "content-type": "application/json" }),
  body: JSON.stringify(body),
  ...more,
});

test("sends a request and returns its answer unchanged [M3]", async () => {
  const url = await listening((request, response) => {
    let text = "";
    request.on("data", (chunk) => (text += String(chunk)));
    request.on("end", () => {
      response.writeHead(201, "Well", { "content-type": "application/json", "set-cookie": ["a=1", "b=2"] });
      response.end(JSON.stringify([request.method, request.url, request.headers["content-type"], text]));
    });
  });
  const response = await fetch(`${url}/mcp?x=1`, post({ ä: 1 }));
  expect([response.status, response.statusText, response.ok]).toEqual([201, "Well", true]);
  expect([response.url, response.redirected]).toEqual([`${url}/mcp?x=1`, false]);
  expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  expect(await response.json()).toEqual(["POST", "/mcp?x=1", "application/json", '{"ä":1}']);
});

test("a redirect is followed, or returned with `manual` [M3]", async () => {
  const url = await listening((request, response) => {
    if (request.url === "/old") response.writeHead(307, { location: "/new" }).end();
    else response.end(`${request.method} ${request.url}`);
  });
  const followed = await fetch(`${url}/old`, post({}));
  expect([await followed.text(), followed.url, followed.redirected]).toEqual(["POST /new", `${url}/new`, true]);
  const given = await fetch(`${url}/old`, post({}, { redirect: "manual" }));
  expect([given.status, given.headers.get("location")]).toEqual([307, "/new"]);
});

test("never sends the content of a request to another server [M7]", async () => {
  const heard: unknown[] = [];
  const other = await listening((request, response) => {
    heard.push(request.headers);
    response.end();
  });
  for (const status of [301, 302, 307, 308]) {
    const url = await listening((_request, response) => response.writeHead(status, { location: `${other}/mcp` }).end());
    const asked = fetch(url, post({}, { headers: { authorization: "Bearer s3cret", "x-api-key": "s3cret" } }));
    const cause = {
      message: `the server redirects to ${other}; if that is intended, configure this address as its url`,
    };
    await expect(asked).rejects.toMatchObject({ message: "fetch failed", cause });
  }
  expect(heard).toEqual([]);
});

test.each([
  ["/again", "the server redirects more than 5 times"],
  ["http://[", "the server redirects without a valid Location header"],
])("does not follow a redirect to %s [M3]", async (location, message) => {
  const url = await listening((_request, response) => response.writeHead(308, { location }).end("moved"));
  await expect(fetch(url, post({}))).rejects.toMatchObject({ message: "fetch failed", cause: { message } });
});

test("accepts an answer without a body [M3]", async () => {
  const url = await listening((_request, response) => response.writeHead(204).end());
  const response = await fetch(url, { method: "DELETE" });
  expect([response.status, response.body, await response.text()]).toEqual([204, null, ""]);
});

test("fails like fetch if a server is missing or disconnects [M4]", async () => {
  const gone = await listening((_request, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
    response.write('{"jsonrpc"', () => response.destroy());
  });
  const cause = { code: "UND_ERR_SOCKET" };
  await expect(fetch(gone, post({}))).rejects.toMatchObject({ message: "terminated", cause });
  const refused = await listening(() => {});
  const port = Number(new URL(refused).port);
  await expect(fetch(`http://127.0.0.2:${port}`, post({}))).rejects.toMatchObject({
    message: "fetch failed",
    cause: { code: "ECONNREFUSED" },
  });
});

test("closes the connection of a cancelled request, with the reason [M7]", async () => {
  let seen = (): void => {};
  let ended = (): void => {};
  const url = await listening((_request, response) => {
    response.once("close", () => ended());
    seen();
  });
  const [arrived, closed] = [
    new Promise<void>((resolve) => (seen = resolve)),
    new Promise<void>((resolve) => (ended = resolve)),
  ];
  const controller = new AbortController();
  const request = fetch(url, post({}, { signal: controller.signal }));
  await arrived;
  controller.abort(new Error("no more"));
  await expect(request).rejects.toThrow("no more");
  await closed;
  await expect(fetch(url, post({}, { signal: controller.signal }))).rejects.toThrow("no more");
});

test("passes a stream on as it arrives, and ends it when its reader cancels [M7]", async () => {
  let more = (): void => {};
  let end = (): void => {};
  const closed = new Promise<void>((resolve) => (end = resolve));
  const url = await listening((_request, response) => {
    response.once("close", end);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: 1\n");
    more = () => void response.write("data: 2\n");
  });
  const response = await fetch(url, post({}));
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect(await reader?.read()).toEqual({ done: false, value: "data: 1\n" });
  more();
  expect(await reader?.read()).toEqual({ done: false, value: "data: 2\n" });
  await reader?.cancel();
  await closed;
});

test("an invalid response fails the request [M4]", async () => {
  const url = await listening((request, response) => {
    if (request.url === "/700") response.writeHead(700).end("{}");
    else request.socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n");
  });
  for (const [path, message] of [
    ["/700", "the server answered with an invalid status: 700"],
    ["/101", "bad upgrade"],
  ])
    await expect(fetch(`${url}${path}`, post({}))).rejects.toMatchObject({ name: "TypeError", cause: { message } });
});

test("limits a compressed answer by its size after decompression [M4]", async () => {
  const url = await listening((request, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
    response.end(gzipSync(JSON.stringify(request.url === "/long" ? "x".repeat(1_000_000) : "short")));
  });
  expect(await (await fetch(url, post({ id: 7 }))).json()).toBe("short");
  const long = await fetch(`${url}/long`, post({ id: 7 }));
  expect(await long.json()).toMatchObject({ id: 7, error: { message: "the answer has more than 1000 bytes" } });
});

test("recognizes an event stream by its type in any case, and limits the answer of a redirect [M3]", async () => {
  const url = await listening((request, response) => {
    if (request.url === "/old") response.writeHead(307, { location: "/long" }).end();
    else if (request.url === "/long") response.end("x".repeat(2_000));
    else response.writeHead(200, { "content-type": "Text/Event-Stream" }).write("data: 1\n");
  });
  const reader = (await fetch(url, post({}))).body?.pipeThrough(new TextDecoderStream()).getReader();
  expect(await reader?.read()).toEqual({ done: false, value: "data: 1\n" });
  await reader?.cancel();
  const long = await fetch(`${url}/old`, post({ id: 7 }));
  expect(await long.json()).toMatchObject({ id: 7, error: { message: "the answer has more than 1000 bytes" } });
});

test("removes its listeners from a signal that many requests share [M7]", async () => {
  const warned: unknown[] = [];
  const note = (warning: unknown): void => void warned.push(warning);
  process.on("warning", note);
  onTestFinished(() => void process.off("warning", note));
  const url = await listening((_request, response) => void setTimeout(() => response.end("{}"), 50));
  const { signal } = new AbortController();
  await Promise.all(Array.from({ length: 12 }, async () => (await fetch(url, post({}, { signal }))).text()));
  expect([warned, getEventListeners(signal, "abort")]).toEqual([[], []]);
});
