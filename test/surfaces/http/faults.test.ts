import { once } from "node:events";
import { connect } from "node:net";

import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";

import { serve } from "../serving.ts";

const SECRET = `ghp_${"a1B2".repeat(9)}`;

/** Serves with a check of tokens that fails with an error that no caller can correct. */
async function serveBroken(): Promise<{ readonly url: string; readonly logged: string[] }> {
  const { url, runtime } = await serve({}, {}, () => {
    throw new TypeError(`no table of tokens at ${SECRET}`);
  });
  const logged: string[] = [];
  onTestFinished(runtime.on("log", ({ level, text }) => logged.push(`${level}: ${text}`)));
  return { url, logged };
}

test("answers an internal error without details, and logs its cause under the id of the answer", async () => {
  const { url, logged } = await serveBroken();
  const response = await fetch(`${url}/openapi.json`, { headers: { authorization: "Bearer any" } });
  const text = await response.text();
  expect([response.status, text]).toEqual([500, expect.not.stringContaining("no table")]);
  const [, traceId = "none"] = /"trace_id": ?"(\w{32})"/.exec(text) ?? [];
  expect(logged).toHaveLength(1);
  expect(logged[0]).toMatch(`error: Internal error of Skillgate (trace ${traceId}): TypeError: no table of tokens at `);
  expect(logged[0]).toContain("faults.test.ts");
  expect(logged[0]).not.toContain(SECRET);
});

test("logs an internal error while a WebSocket is opened", async () => {
  const { url, logged } = await serveBroken();
  const client = new WebSocket(`${url.replace("http", "ws")}/ws`, { headers: { authorization: "Bearer any" } });
  const status = await new Promise((resolve) =>
    client.on("unexpected-response", (_, { statusCode }) => resolve(statusCode)),
  );
  expect([status, logged]).toEqual([
    500,
    [expect.stringContaining("Internal error of Skillgate: TypeError: no table")],
  ]);
});

test("logs nothing for a client that ends its connection within a body", async () => {
  const { url, runtime, close } = await serve();
  const logged: string[] = [];
  runtime.on("log", ({ text }) => logged.push(text));
  for (const path of ["/tools/TestSkill.add", "/mcp", "/rpc"]) {
    const client = connect(Number(new URL(url).port), "127.0.0.1");
    const head = ["content-type: application/json", "content-length: 100", "expect: 100-continue"].join("\r\n");
    client.write(`POST ${path} HTTP/1.1\r\nhost: ${new URL(url).host}\r\n${head}\r\n\r\n`);
    await once(client, "data"); // the server reads the body
    client.write("{");
    client.destroy();
  }
  await close();
  expect(logged).toEqual([]);
});
