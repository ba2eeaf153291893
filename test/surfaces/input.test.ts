import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { defineSkill } from "../../src/authoring/define-skill.ts";
import { MAX_INPUT_BYTES } from "../../src/shared/json/run-input.ts";
import { folder, newClient, oldClient, post, serve, TestSkill } from "./serving.ts";
import { INITIALIZE, project, start } from "./mcp/stdio-server.ts";

const CODE = "await device.input()";
const CLIENTS = [
  ["the first generation", oldClient],
  ["the second generation", newClient],
] as const;

/** Values that a check of arguments could convert: a text that looks like JSON, and members that look like arguments. */
const VALUES: readonly unknown[] = [
  { city: "Rome", code: "1", timeoutMs: 5, input: { input: [] } },
  [1, { a: [null] }],
  '{"city": "Rome"}',
  "12",
  "",
  0,
  false,
  null,
  JSON.parse('{"__proto__": {"admin": true}, "then": 1}') as unknown,
];

test.each(CLIENTS)("gives a program its input over MCP: a client of %s", async (_name, connect) => {
  const { url } = await serve({ expose: "code" });
  const client = await connect(url);
  for (const input of VALUES) {
    const ran = await client.callTool({ name: "run_code", arguments: { code: CODE, input } });
    expect(ran.structuredContent).toMatchObject({ kind: "completed", value: input });
  }
});

test("gives a program its input over stdio", { tags: "rest" }, async () => {
  const server = start(project());
  const calls = VALUES.map((input, at) => ({
    jsonrpc: "2.0",
    id: at + 2,
    method: "tools/call",
    params: { name: "run_code", arguments: { code: CODE, input } },
  }));
  const lines = await server.send(INITIALIZE, ...calls);
  const answers = new Map(lines.map((line) => JSON.parse(line)).map(({ id, result }) => [id, result]));
  expect(VALUES.map((_, at) => answers.get(at + 2)?.structuredContent)).toEqual(
    VALUES.map((value) => ({ kind: "completed", runId: expect.any(String), value, calls: 0 })),
  );
});

test("gives a program its input at POST /tools/run_code and at /rpc", async () => {
  const { url } = await serve();
  for (const input of VALUES) {
    const { status, json } = await post(`${url}/tools/run_code`, { code: CODE, input });
    expect([status, json.data]).toMatchObject([200, { kind: "completed", value: input }]);
    const params = { name: "run_code", arguments: { code: CODE, input } };
    const answer = await post(`${url}/rpc`, { jsonrpc: "2.0", id: 1, method: "tools/call", params });
    expect(answer.json.result.data).toMatchObject({ kind: "completed", value: input });
  }
});

test("says over HTTP and MCP what is wrong with an input, and that a run has none", async () => {
  const { url } = await serve({ expose: "code" });
  const client = await newClient(url);
  const text = async (args: Record<string, unknown>): Promise<unknown> =>
    (await client.callTool({ name: "run_code", arguments: args })).content;
  const missing = "start it with one: the argument input of run_code, or skillgate run --input";
  expect(JSON.stringify(await text({ code: CODE }))).toContain(missing);
  expect(await post(`${url}/tools/run_code`, { code: CODE })).toMatchObject({
    status: 502,
    json: { error: expect.stringContaining(missing) },
  });
  let deep: unknown = 1;
  for (let level = 0; level < 201; level++) deep = [deep];
  const large = "x".repeat(MAX_INPUT_BYTES);
  for (const [input, says] of [
    [deep, "Cannot call a method with these arguments: the call nests more than 200 levels deep"],
    [
      large,
      `Cannot start a run with this input: it has ${MAX_INPUT_BYTES + 2} bytes, at most ${MAX_INPUT_BYTES} are allowed`,
    ],
  ] as const) {
    expect(JSON.stringify(await text({ code: CODE, input }))).toContain(says);
    expect(await post(`${url}/tools/run_code`, { code: CODE, input })).toMatchObject({
      status: 400,
      json: { detail: expect.stringContaining(says) },
    });
  }
});

test("records the input, and gives it to a replay and to a run that continues", async () => {
  const { url, runtime } = await serve({}, { store: folder(), runs: { record: "full" }, skills: [TestSkill] });
  const code = (end: string): string => `const { a, b } = await device.input();
    const { sum } = await device.TestSkill.add(a, b);
    await device.TestSkill.chatty();
    ${end}`;
  const input = { a: 2, b: 3 };
  const failed = await post(`${url}/tools/run_code`, { code: code("throw new Error('late')"), input });
  const [{ id } = { id: "" }] = await runtime.runs.list();
  expect(failed.status).toBe(502);
  expect((await runtime.runs.cassette(id)).header.input).toEqual(input);
  const corrected = await post(`${url}/tools/run_code`, { code: code("sum"), continue: id });
  expect(corrected.json.data).toMatchObject({ kind: "completed", value: 5 });
  const cassette = await runtime.runs.cassette(corrected.json.data.runId);
  expect(cassette.header.input).toEqual(input);
  expect(await runtime.runs.replay(cassette)).toMatchObject({ kind: "completed", value: 5 });
});

test("is no data from elsewhere for the flows of a policy, as the input of a command", async () => {
  const cwd = folder();
  mkdirSync(join(cwd, "policies"));
  writeFileSync(
    join(cwd, "policies/tools.yaml"),
    "flows: [{ from: device.input, to: MailSkill.send, decision: deny }]",
  );
  const MailSkill = defineSkill({
    name: "MailSkill",
    description: "Sends mail",
    methods: {
      send: {
        description: "Send a mail",
        input: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
        run: ({ to }) => to,
      },
    },
  });
  const { url, runtime } = await serve({}, { cwd, policy: "policies/tools.yaml", skills: [MailSkill] });
  const code = "const { to } = await device.input();\nawait device.MailSkill.send(to)";
  const input = { to: "someone@elsewhere.example" };
  expect((await post(`${url}/tools/run_code`, { code, input })).json.data).toMatchObject({ value: input.to });
  expect(await runtime.run(code, { input, isForeignInput: true })).toMatchObject({ error: { code: "POLICY_DENIED" } });
});

test("is listed with a type for each property, without which some clients leave the tool out", async () => {
  const { url } = await serve({ expose: "code" });
  const { tools } = await (await newClient(url)).listTools();
  const properties = tools.flatMap(({ inputSchema }) => Object.entries(inputSchema.properties ?? {}));
  const untyped = properties.filter(([, schema]) => !/"(?:type|anyOf)":/.test(JSON.stringify(schema)));
  expect(untyped).toEqual([]);
  expect(new Map(properties).get("input")).toEqual({ type: "object", description: "The value of device.input()" });
});
