import { expect, test } from "vitest";

import { newClient, post, serve } from "./serving.ts";

const SAYS = "Skill 'TestSkill' is disabled";

test("reports a disabled skill when a program calls, checks or describes its method [L7]", async () => {
  const { url, runtime } = await serve();
  runtime.disable("TestSkill");
  for (const name of ["TestSkill.add", "TestSkill__add", "add", "TestSkill.nothing"]) {
    expect(await post(`${url}/tools/${name}`, { a: 1, b: 2 })).toMatchObject({ status: 403, json: { error: SAYS } });
    for (const method of ["tools/call", "tools/validate", "tools/schema"]) {
      const params = { name, ...(method !== "tools/schema" && { arguments: { a: 1, b: 2 } }) };
      const { json } = await post(`${url}/rpc`, { jsonrpc: "2.0", id: 1, method, params });
      expect(json).toMatchObject({ error: { code: -32005, data: { reason: SAYS } } });
    }
  }
  expect((await post(`${url}/tools/OtherSkill.add`, {})).status).toBe(404);
  runtime.enable("TestSkill");
  expect((await post(`${url}/tools/TestSkill.add`, { a: 1, b: 2 })).json.data).toEqual({ sum: 3 });
});

test.each([
  ["qualified", "TestSkill__add"],
  ["raw", "add"],
] as const)("reports a disabled skill as an MCP tool with %s names [L7]", async (names, name) => {
  const { url, runtime } = await serve({ expose: "tools", names });
  const client = await newClient(url);
  runtime.disable("TestSkill");
  expect(await client.callTool({ name, arguments: { a: 1, b: 2 } })).toMatchObject({
    isError: true,
    content: [{ type: "text", text: expect.stringMatching(/^Skill 'TestSkill' is disabled$/m) }],
  });
  await expect(client.callTool({ name: "OtherSkill__add", arguments: {} })).rejects.toThrow("Unknown tool");
});
