import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { build } from "esbuild";
import { generate, HttpClient } from "openapi-typescript-codegen";
import { expect, test } from "vitest";

import { parseServerSettings, SERVER_DEFAULTS } from "../../../src/surfaces/http/index.ts";
import { defineSkill } from "../../../src/authoring/define-skill.ts";
import { VERSION } from "../../../src/shared/version.ts";
import { folder, type Parsed, post, serve, TestSkill } from "../serving.ts";

test("calls a tool at POST /tools/{name} with the body as its arguments [V4]", async () => {
  const { url } = await serve();
  expect(await post(`${url}/tools/TestSkill.add`, { a: 1, b: 2 })).toMatchObject({
    status: 200,
    json: { success: true, data: { sum: 3 }, execution_time: expect.any(Number), tool_name: "TestSkill.add" },
  });
  const invalid = await post(`${url}/tools/TestSkill.add`, { a: 1, bb: 2 });
  expect([invalid.status, invalid.json.errors]).toEqual([
    400,
    [
      { field: "b", type: "field_missing", reason: "is required", suggestions: [] },
      { field: "bb", type: "unknown_field", reason: "is not an argument, valid are a, b", suggestions: [] },
    ],
  ]);
  const unknown = await post(`${url}/tools/TestSkill.ad`, {});
  expect(unknown).toMatchObject({
    status: 404,
    json: { error: expect.stringContaining("did you mean TestSkill.add?"), suggestions: ["TestSkill.add"] },
  });
  expect(await post(`${url}/tools/TestSkill.fail`, {})).toMatchObject({
    status: 502,
    json: { success: false, data: null, error: "no luck today", fault: { code: -32003 } },
  });
  expect((await post(`${url}/tools/TestSkill.late`, {})).status).toBe(504);
  expect((await post(`${url}/tools/TestSkill.pay`, {})).status).toBe(403);
});

test.each([
  ["a sender without a token", "POST", "/mcp", 401],
  ["a sender without a token", "POST", "/tools/TestSkill.add", 401],
  ["an unknown profile", "POST", "/mcp/none", 404],
  ["an unknown exposure", "POST", "/mcp?expose=none", 400],
  ["an unknown path", "GET", "/none", 404],
  ["a wrong method", "DELETE", "/openapi.json", 405],
  ["a request that is no upgrade", "GET", "/ws", 426],
  ["an unknown approval", "GET", "/approvals/none", 404],
  ["an unknown webhook", "POST", "/hooks/none", 401],
  ["another host", "GET", "/health", 403],
])("names the trace of the request in the refusal of %s, %s %s [V3]", async (what, method, path, status) => {
  const token = "a-token-of-16-characters";
  const { url } = await serve({}, {}, (text) => text === token);
  const trace = "0af7651916cd43dd8448eb211c80319c";
  const headers = {
    "content-type": "application/json",
    traceparent: `00-${trace}-b7ad6b7169203331-01`,
    ...(status !== 401 && { authorization: `Bearer ${token}` }),
    ...(what === "another host" && { origin: "https://other.example" }),
  };
  const answer = await fetch(url + path, { method, headers, ...(method === "POST" && { body: "{}" }) });
  const { error, fault = error } = (await answer.json()) as Parsed;
  expect([answer.status, fault.data.trace_id]).toEqual([status, trace]);
});

test("answers a call over the rate limit with Retry-After [X4]", async () => {
  const { url } = await serve();
  expect((await post(`${url}/tools/TestSkill.rare`, {})).status).toBe(200);
  const early = await post(`${url}/tools/TestSkill.rare`, {});
  expect([early.status, early.headers.get("retry-after")]).toEqual([429, "60"]);
  expect(early.json.error).toMatch(/^Tool on cooldown\. Wait (?:60\.0|[1-5]\d\.\d)s$/);
});

test("describes the endpoints in /openapi.json [V4]", async () => {
  const { url } = await serve({}, {}, (token) => token === "right");
  const response = await fetch(`${url}/openapi.json`, { headers: { authorization: "Bearer right" } });
  const document: Parsed = await response.json();
  expect(document).toMatchObject({
    openapi: "3.1.0",
    info: { title: "Skillgate", version: VERSION },
    servers: [{ url }],
    security: [{ bearer: [] }],
    components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
  });
  const paths = Object.keys(document.paths);
  expect(paths).toEqual(expect.arrayContaining(["/tools/TestSkill.add", "/tools/TestSkill.rare"]));
  expect(paths.filter((path) => !path.startsWith("/tools/TestSkill."))).toEqual([
    "/tools/{tool_name}",
    "/health",
    "/rpc",
    "/approvals",
    "/approvals/{id}",
    "/hooks/{id}",
    "/metrics",
  ]);
  expect(Object.keys(document.paths["/tools/{tool_name}"].post.responses)).toEqual([
    "200",
    "400",
    "401",
    "403",
    "404",
    "429",
    "500",
    "502",
    "504",
  ]);
});

const NESTED = defineSkill({
  name: "NestedSkill",
  description: "Has schemas with references",
  methods: {
    walk: {
      description: "Walks through a tree",
      input: {
        type: "object",
        properties: { tree: { $ref: "#/$defs/node" }, kind: { type: "string", enum: ["#/$defs/node"] } },
        required: ["tree"],
        $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
      },
      run: () => "done",
    },
  },
});

test("serves an OpenAPI 3.1 document that passes a public validator, with references that lead to schemas [T8]", async () => {
  const { url } = await serve({}, { skills: [TestSkill, NESTED] });
  const document: Parsed = await (await fetch(`${url}/openapi.json`)).json();
  const validator = new Validator();
  expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
  expect(validator.version).toBe("3.1");
  expect(document.components.schemas["NestedSkill__walk.input"].properties).toEqual({
    tree: { $ref: "#/components/schemas/NestedSkill__walk.input/$defs/node" },
    kind: { type: "string", enum: ["#/$defs/node"] },
  });
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = ""]) => path);
  expect(references.length).toBeGreaterThan(20);
  for (const path of references)
    expect(path.split("/").reduce((value: Parsed, key) => value?.[key], document)).toBeTypeOf("object");
  document.paths["/rpc"].post.responses = 1;
  expect(await new Validator().validate(document)).toMatchObject({ valid: false });
});

test("supports a client generated from /openapi.json [T8]", { tags: "rest" }, async () => {
  const { url } = await serve({}, {}, (token) => token === "right");
  const headers = { authorization: "Bearer right" };
  const { api, types } = await generatedClient(await (await fetch(`${url}/openapi.json`, { headers })).json());
  expect(types).toContain("'run_code' | 'TestSkill.add'");
  api.OpenAPI.TOKEN = "right";
  const { callTool, health, rpc } = api.DefaultService;
  expect(await api.TestSkillService.testSkillAdd({ a: 1, b: 2 })).toMatchObject({ success: true, data: { sum: 3 } });
  expect(await callTool("TestSkill.add", { a: 1, b: 2 })).toMatchObject({ success: true, data: { sum: 3 } });
  expect(await callTool("run_code", { code: "6 * 7" })).toMatchObject({ success: true, data: { value: 42 } });
  expect(await health()).toMatchObject({ status: "healthy" });
  expect(await rpc({ jsonrpc: "2.0", id: 1, method: "health" })).toMatchObject({
    id: 1,
    result: { status: "healthy" },
  });
  const failed = (status: number, body: object) => expect.objectContaining({ name: "ApiError", status, body });
  await expect(callTool("TestSkill.fail", {})).rejects.toEqual(
    failed(502, expect.objectContaining({ success: false, data: null, error: "no luck today" })),
  );
  await expect(callTool("TestSkill.add", { a: -1, b: 2 })).rejects.toEqual(
    failed(400, expect.objectContaining({ errors: [expect.objectContaining({ field: "a", type: "below_minimum" })] })),
  );
  await expect(callTool("TestSkill.ad", {})).rejects.toEqual(
    failed(404, expect.objectContaining({ suggestions: ["TestSkill.add"] })),
  );
  api.OpenAPI.TOKEN = "wrong";
  await expect(callTool("TestSkill.add", { a: 1, b: 2 })).rejects.toMatchObject({ status: 401 });
});

/** Generates a client from a document; returns its module and the text of its types. */
async function generatedClient(input: Parsed): Promise<{ readonly api: Parsed; readonly types: string }> {
  const output = folder();
  await generate({ input, output, httpClient: HttpClient.FETCH });
  const outfile = join(output, "client.mjs");
  await build({ entryPoints: [join(output, "index.ts")], bundle: true, format: "esm", platform: "node", outfile });
  const types = readFileSync(join(output, "services/DefaultService.ts"), "utf8");
  return { api: await import(outfile), types };
}

test("serves counters in the Prometheus format at /metrics [V4]", async () => {
  const { url } = await serve();
  await post(`${url}/tools/TestSkill.add`, { a: 1, b: 2 });
  await post(`${url}/tools/TestSkill.fail`, {});
  const response = await fetch(`${url}/metrics`);
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const lines = (await response.text()).trimEnd().split("\n");
  expect(lines).toContain('skillgate_http_requests_total{endpoint="/tools/{name}",status="200"} 1');
  expect(lines).toContain('skillgate_calls_total{method="TestSkill.add",outcome="ok"} 1');
  expect(lines).toContain('skillgate_calls_total{method="TestSkill.fail",outcome="error"} 1');
  expect(
    lines.filter((line) => !/^(?:# (?:HELP|TYPE) \w+ .+|\w+(?:\{[^}]*\}?[^ ]*\})? [\d.e+-]+)$/.test(line)),
  ).toEqual([]);
});

test("parses the server settings, and rejects invalid ones [V6]", () => {
  expect(parseServerSettings(undefined)).toBe(SERVER_DEFAULTS);
  expect(parseServerSettings({ port: 0, expose: "tools" })).toEqual({ ...SERVER_DEFAULTS, port: 0, expose: "tools" });
  expect(() => parseServerSettings({ prot: 1 })).toThrow("server has the unknown setting prot; did you mean port?");
  expect(() => parseServerSettings({ expose: "all" })).toThrow(
    'server.expose must be code, calls, tools, both or auto, not "all"',
  );
  expect(() => parseServerSettings({ port: 70_000 })).toThrow("server.port must be a whole number from 0 to 65535");
  expect(() => parseServerSettings([])).toThrow("server must be a section");
});

test("rejects a body that is not an object at its root, whatever the method accepts [T6]", async () => {
  const { url } = await serve();
  for (const [body, type, reason] of [
    ["null", "null_value", "must be an object, not null"],
    ['"x"', "type_mismatch", 'must be an object, not "x"'],
    ["[1, 2]", "type_mismatch", "must be an object, not an array"],
  ]) {
    const { status, json } = await post(`${url}/tools/TestSkill.add`, body);
    expect([status, json.errors]).toEqual([400, [{ field: "_root", type, reason, suggestions: [] }]]);
    expect(json.fault.data).toMatchObject({ error_type: "ValidationError", field: "_root" });
    expect(json.fault.data.reason).toBe(
      `Cannot call a method with these arguments: the input of TestSkill.add ${reason} (ARGUMENTS_INVALID)`,
    );
  }
});

test("suggests the list of all tools for a name without similar ones [V3]", async () => {
  const { url } = await serve();
  const { status, json } = await post(`${url}/tools/ZebraSkill.quux`, {});
  expect([status, json.suggestions]).toEqual([404, ["tools/list and /openapi.json name every tool"]]);
  expect((await post(`${url}/tools/Test.chat`, {})).json.suggestions).toEqual(["TestSkill.chatty"]);
});

test("describes every error outside of JSON-RPC as RFC 9457 defines it [V4]", async () => {
  const { url } = await serve({}, {}, (token) => token === "right");
  const headers = { authorization: "Bearer right" };
  const answers = [
    [401, await fetch(`${url}/metrics`)],
    [401, await fetch(`${url}/tools/TestSkill.add`, { method: "POST" })],
    [404, await fetch(`${url}/nothing`, { headers })],
    [405, await fetch(`${url}/health`, { method: "DELETE", headers })],
    [404, await fetch(`${url}/approvals/none`, { headers })],
    [403, await fetch(`${url}/health`, { headers: { origin: "https://example.com" } })],
    [404, await fetch(`${url}/tools/TestSkill.ad`, { method: "POST", headers })],
    [400, await fetch(`${url}/tools/TestSkill.add`, { method: "POST", headers })],
    [502, await fetch(`${url}/tools/TestSkill.fail`, { method: "POST", headers })],
  ] as const;
  for (const [status, response] of answers) {
    expect([response.url, response.status]).toEqual([response.url, status]);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    const problem: Parsed = await response.json();
    expect(problem).toMatchObject({
      type: `urn:skillgate:error:${problem.fault.data.error_type}`,
      title: problem.fault.message,
      status,
      detail: problem.fault.data.reason,
    });
  }
  const batch = JSON.stringify([{ jsonrpc: "2.0", id: 1, method: "tools/list" }]);
  expect((await post(`${url}/rpc`, batch)).status).toBe(401);
});

test("has a page at / without the console [V4]", async () => {
  const { url } = await serve({}, {}, () => false);
  const response = await fetch(url);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(await response.text()).toContain("<h1>Skillgate</h1>");
});

test("answers 404 below /.well-known to clients without a token [V4]", async () => {
  const { url } = await serve({}, {}, (token) => token === "right");
  const response = await fetch(`${url}/.well-known/openid-configuration`);
  expect([response.status, (await fetch(`${url}/openapi.json`)).status]).toEqual([404, 401]);
});
