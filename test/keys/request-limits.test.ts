import { expect, onTestFinished, test } from "vitest";

import type { Caller } from "../../src/model/caller.ts";
import { createRuntime } from "../../src/runtime.ts";
import { createKeys } from "../../src/keys/index.ts";
import { folder, newClient, oldClient, post, serve, TestSkill } from "../surfaces/serving.ts";

async function serveLimited(perHour: number) {
  const { url, runtime } = await serve({ expose: "both" }, { store: folder() }, () => false);
  const keys = createKeys(await runtime.database());
  const { text } = await keys.create({ name: "ada", permissions: ["call:*"], limits: { perHour } });
  return { url, runtime, header: { authorization: `Bearer ${text}` } };
}

const REASON = /^Rate limit exceeded: this caller may make 3 calls per hour; wait [\d.]+s \(RATE_LIMIT\)$/;

test.each([
  ["searches", "search_skills", { query: "add" }],
  ["descriptions", "describe_function", { path: "TestSkill.add" }],
  ["programs without calls", "run_code", { code: "1 + 1" }],
  ["programs that are refused", "run_code", { code: "device.TestSkill.ad(1)" }],
])(
  "counts %s in the limits of a key, over REST, JSON-RPC and MCP [P5]",
  { tags: "rest" },
  async (_what, tool, args) => {
    const { url, header } = await serveLimited(3);
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: args } };
    const clients = [await oldClient(url, header), await newClient(url, header)];
    for (const endpoint of [`${url}/tools/${tool}`, `${url}/rpc`])
      expect((await post(endpoint, endpoint.endsWith("rpc") ? call : args, header)).status).not.toBe(429);
    await clients[0]?.callTool({ name: tool, arguments: args });
    const rest = await post(`${url}/tools/${tool}`, args, header);
    expect([rest.status, rest.json.fault.data.reason]).toEqual([429, expect.stringMatching(REASON)]);
    expect(Number(rest.headers.get("retry-after"))).toBeGreaterThan(3_000);
    const rpc = await post(`${url}/rpc`, call, header);
    expect(rpc.json.error.data.retry_after).toBeGreaterThan(3_000);
    for (const client of clients) {
      const refused = await client.callTool({ name: tool, arguments: args });
      expect(refused).toMatchObject({
        isError: true,
        structuredContent: { reason: expect.stringMatching(REASON), retry_after: expect.any(Number) },
      });
    }
  },
);

test("counts a program with calls as its calls, and gives the unit back that no call has used [P5]", async () => {
  const { url, header } = await serveLimited(4);
  const run = (code: string) => post(`${url}/tools/run_code`, { code }, header);
  expect((await run("await device.TestSkill.add(1, 2); await device.TestSkill.add(1, 3)")).status).toBe(200);
  // A refused call of a method does not use the unit of its program; the next call does.
  const cooled =
    "await device.TestSkill.rare(); let e = ''; try { await device.TestSkill.rare() } catch (x) { e = x.code } e";
  expect((await run(cooled)).json.data.value).toBe("COOLDOWN");
  expect(
    (await run("try { await device.TestSkill.rare() } catch (x) {} (await device.TestSkill.add(1, 2)).sum")).json.data
      .value,
  ).toBe(3);
  expect((await run("1")).status).toBe(429);
});

test("does not count requests with invalid arguments, and of callers without limits [P5]", async () => {
  const { url, header } = await serveLimited(1);
  expect((await post(`${url}/tools/search_skills`, { query: 1 }, header)).status).toBe(400);
  expect((await post(`${url}/tools/run_code`, {}, header)).status).toBe(400);
  expect((await post(`${url}/tools/search_skills`, { query: "add" }, header)).status).toBe(200);
  await using runtime = await createRuntime({ skillsDir: false, skills: [TestSkill], store: folder() });
  await runtime.countRequest({ id: "bob", permissions: ["call:*"] });
  const limited: Caller = { id: "ada", permissions: ["call:*"], limits: { perMinute: 1 } };
  onTestFinished(() => runtime.close());
  await runtime.countRequest(limited);
  await expect(runtime.run("1", { caller: limited })).rejects.toMatchObject({
    code: "RATE_LIMIT",
    facts: { retryAfterSeconds: expect.any(Number) },
  });
});
