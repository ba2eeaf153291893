import { expect, test } from "vitest";

import { newClient, oldClient, post, serve } from "./serving.ts";

const LONG = "x".repeat(257);
const SHORT = "x".repeat(256);

test("rejects tool names over 256 characters over HTTP [S13]", async () => {
  const { url } = await serve();
  const call = (name: string): object => ({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name } });
  const suggestions = ["tools/list and /openapi.json name every tool"];
  const tooLong = { error: { data: { reason: expect.stringContaining("at most 256 characters"), suggestions } } };
  expect((await post(`${url}/rpc`, call(LONG))).json).toMatchObject(tooLong);
  expect(JSON.stringify((await post(`${url}/rpc`, call(SHORT))).json)).not.toContain("256 characters");
  const direct = await post(`${url}/tools/${LONG}`, {});
  expect(direct).toMatchObject({ status: 404, json: { error: expect.stringContaining("at most 256 characters") } });
});

test.each([
  ["first", oldClient],
  ["second", newClient],
] as const)("rejects tool names over 256 characters for a client of the %s generation [S13]", async (_n, connect) => {
  const { url } = await serve({ expose: "both" });
  const client = await connect(url);
  const reason = "The name of a tool has at most 256 characters";
  await expect(client.callTool({ name: LONG, arguments: {} })).rejects.toMatchObject({ data: { reason } });
  await expect(client.callTool({ name: SHORT, arguments: {} })).rejects.not.toMatchObject({ data: { reason } });
});

test("rejects paths of calls over 512 characters [S13]", async () => {
  const { runtime } = await serve();
  await expect(runtime.call("x".repeat(513), {})).rejects.toMatchObject({
    code: "METHOD_UNKNOWN",
    message: expect.stringContaining("… is too long: a path has at most 512 characters"),
  });
});
