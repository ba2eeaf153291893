import { expect, test } from "vitest";

import { exactFetch } from "../../../../src/providers/mcp/http/exact-fetch.ts";

const MAX_BYTES = 1_000_000;

/** Reads an answer with a body of a type, to a request with the id 7. */
async function read(type: string, body: string): Promise<string> {
  const fetch = exactFetch(() => Promise.resolve(new Response(body, { headers: { "content-type": type } })), MAX_BYTES);
  const request = { method: "POST", body: JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call" }) };
  return (await fetch("http://127.0.0.1/mcp", request)).text();
}

const readEvents = (...lines: readonly string[]): Promise<string> => read("text/event-stream", `${lines.join("\n")}\n`);
const members = (count: number): string[] => Array.from({ length: count }, (_, id) => `"name${id}":${id},`);

test("passes the lines of an event on as one, which its reader makes of them [M3]", async () => {
  const text = await readEvents(
    ": comment",
    "event: message",
    'data: {"a":',
    "data: [1,",
    "data: 2]}",
    "id: 5",
    "",
    "data: x",
    "",
  );
  expect(text).toBe(': comment\nevent: message\nid: 5\ndata: {"a":  [1,  2]}\n\ndata: x\n\n');
});

test("counts the names of an event, not those of each of its lines [P4]", async () => {
  const lines = ["{", ...members(20_000), '"last":1}'].map((line) => `data: ${line}`);
  const text = await readEvents(...lines, "", "data: {}", "");
  const error =
    '{"jsonrpc":"2.0","id":7,"error":{"code":-32098,"message":"the answer has an object with more than 10000 names"}}';
  expect(text.replace(/"code":-?\d+/, '"code":-32098')).toBe(`data:${error}\n\ndata: {}\n\n`);
});

test("limits the bytes of an event, not only those of each of its lines [M3]", async () => {
  const line = `data: ${"x".repeat(999)}`;
  const text = await readEvents('data: {"id":3,', ...Array.from({ length: 1_100 }, () => line), "", "data: {}", "");
  expect(text.length).toBeLessThan(500);
  expect(text).toContain('"id":3,"error"');
  expect(text).toContain(`the answer has more than ${MAX_BYTES} bytes`);
  expect(text.endsWith("\n\ndata: {}\n\n")).toBe(true);
});

test("answers the request if a batch has more messages than are read [P4]", async () => {
  const batch = (count: number): string =>
    JSON.stringify(Array.from({ length: count }, (_, id) => ({ jsonrpc: "2.0", id, result: {} })));
  expect(await read("application/json", batch(1_000))).toBe(batch(1_000));
  const text = await read("application/json", batch(1_001));
  expect(text).toContain('"id":7,"error"');
  expect(text).toContain("the answer has more than 1000 messages");
});

test(
  "reads a line of data after marks of byte order, and one without a value, as its reader does [M3]",
  { tags: "rest" },
  async () => {
    const wide = `{${members(20_000).join("")}"last":1}`;
    for (const marks of ["\uFEFF", "\uFEFF\uFEFF"])
      expect(await readEvents(`${marks}data: ${wide}`, "", "")).toContain(
        "the answer has an object with more than 10000 names",
      );
    const text = await readEvents("data\n".repeat(MAX_BYTES), "");
    expect(text.length).toBeLessThan(200);
    expect(text).toContain(`the answer has more than ${MAX_BYTES} bytes`);
  },
);

test("keeps the answer of an event whose one line is too long, by the id at either end [M3]", async () => {
  const long = "x".repeat(MAX_BYTES);
  for (const line of [`{"id":3,"result":"${long}"}`, `{"result":"${long}","id":3}`]) {
    const text = await readEvents(`data: ${line}`, "", ": comment", "data: {}", "", "");
    expect(text).toContain('"id":3,"error"');
    expect(text.endsWith("\n\n: comment\ndata: {}\n\n\n")).toBe(true);
  }
});

test("reads lines that end with a return, in any part, as its reader does [M3]", async () => {
  for (const end of ["\r", "\r\n"])
    for (let length = 4_080; length < 4_100; length++) {
      const long = "x".repeat(length);
      const text = await read(
        "text/event-stream",
        ["event: a", `data: "${long}`, 'data: b"', "", "data: 2", "", ""].join(end),
      );
      expect(text.replace(long, "long")).toBe('event: a\ndata: "long  b"\n\ndata: 2\n\n');
    }
});
