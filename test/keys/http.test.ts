import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";

import { defineSkill } from "../../src/authoring/define-skill.ts";
import { createKeys, type Keys, type WantedKey } from "../../src/keys/index.ts";
import type { Runtime } from "../../src/runtime.ts";
import { folder, newClient, oldClient, type Parsed, post, serve } from "../surfaces/serving.ts";

const TEXT = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;

const MailSkill = defineSkill({
  name: "MailSkill",
  description: "Sends and lists parcels of correspondence",
  guidance: "Zanzibar is its codename.",
  methods: {
    dispatch: { description: "Send correspondence", input: TEXT, run: ({ text }) => `sent ${String(text)}` },
    inbox: { description: "List correspondence", readOnly: true, run: () => ["one"] },
  },
});

const MathSkill = defineSkill({
  name: "MathSkill",
  description: "Adds numbers",
  methods: {
    add: {
      description: "Add two numbers",
      input: {
        type: "object",
        properties: { a: { type: "number" }, b: { type: "number" } },
        required: ["a", "b"],
      },
      readOnly: true,
      run: ({ a, b }) => Number(a) + Number(b),
    },
    halve: { description: "Halve a number", run: () => 1 },
  },
});

interface Served {
  readonly url: string;
  readonly runtime: Runtime;
  readonly keys: Keys;
  /** Creates a key and returns the header with it. */
  readonly headerOf: (wanted: Partial<WantedKey> & Pick<WantedKey, "permissions">) => Promise<Bearer>;
}

type Bearer = Readonly<{ authorization: string }>;

async function serveWithKeys(): Promise<Served> {
  const options = { skills: [MailSkill, MathSkill], store: folder() };
  const { url, runtime } = await serve({ expose: "both" }, options, (token) => token === "right");
  const keys = createKeys(await runtime.database());
  let count = 0;
  const headerOf: Served["headerOf"] = async (wanted) => {
    const { text } = await keys.create({ name: `key ${++count}`, ...wanted });
    return { authorization: `Bearer ${text}` };
  };
  return { url, runtime, keys, headerOf };
}

const OWNER = { authorization: "Bearer right" };

const ADD = { a: 1, b: 2 };

function rpc(method: string, params: object = {}, more: object = {}): object {
  return { jsonrpc: "2.0", id: 1, method, params, ...more };
}

/** The names, descriptions and codename of the skill that the second key may not see. */
const TRACE_OF_MAIL = /mailskill|dispatch|inbox|correspondence|zanzibar/i;

/** Asks every surface that answers with text, as one caller. */
async function walk(url: string, header: Bearer): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for (const path of ["/openapi.json", "/metrics", "/health"])
    found[path] = await (await fetch(`${url}${path}`, { headers: header })).text();
  const calls: Readonly<Record<string, object>> = {
    list: rpc("tools/list"),
    unknown: rpc("tools/call", { name: "MathSkill.ad", arguments: {} }),
    near: rpc("tools/schema", { name: "Skill.d" }),
    resources: rpc("resources/list"),
    declarations: rpc("resources/read", { uri: "skillgate://declarations" }),
    wrongResource: rpc("resources/read", { uri: "skillgate://declaration" }),
    health: rpc("health"),
  };
  for (const [name, body] of Object.entries(calls))
    found[name] = JSON.stringify((await post(`${url}/rpc`, body, header)).json);
  const programs = ["device.MathSkill.ad(1)", "search_skills('letters')", "Object.keys(device)", "device.Maths.x()"];
  for (const code of [...programs, "device.describe('MathSkill')", "nonsense"])
    found[code] = JSON.stringify((await post(`${url}/tools/run_code`, { code }, header)).json);
  for (const query of ["send letters", "everything", "add"])
    found[query] = JSON.stringify((await post(`${url}/tools/search_skills`, { query }, header)).json);
  for (const path of ["MathSkil", "Skill", "MathSkill"])
    found[path] = JSON.stringify((await post(`${url}/tools/describe_function`, { path }, header)).json);
  for (const [name, client] of [
    ["old", await oldClient(url, header)],
    ["new", await newClient(url, header)],
  ] as const) {
    found[`${name} instructions`] = client.getInstructions() ?? "";
    found[`${name} tools`] = JSON.stringify(await client.listTools());
    found[`${name} resources`] = JSON.stringify(await client.listResources());
    found[`${name} prompts`] = JSON.stringify(await client.listPrompts());
    found[`${name} unknown`] = JSON.stringify(
      await client.callTool({ name: "MathSkill__ad", arguments: {} }).catch((error: unknown) => String(error)),
    );
  }
  return found;
}

test("shows a key nothing of a skill that it may not read, on any surface [P2]", async () => {
  const { url, headerOf, runtime } = await serveWithKeys();
  const all = await headerOf({ permissions: ["call:*", "admin:Read"] });
  const some = await headerOf({ permissions: ["call:MathSkill.*", "admin:Read"] });
  await post(`${url}/tools/MailSkill.dispatch`, { text: "x" }, all);
  await post(`${url}/tools/run_code`, { code: "device.MailSkill.inbox()" }, all);
  await runtime.index();
  const [shown, hidden] = [await walk(url, all), await walk(url, some)];
  const surfaces = Object.entries(hidden).filter(([, text]) => TRACE_OF_MAIL.test(text));
  expect(surfaces).toEqual([]);
  const withMail = Object.entries(shown).filter(([, text]) => TRACE_OF_MAIL.test(text));
  expect(withMail.map(([name]) => name)).toEqual(
    expect.arrayContaining(["/openapi.json", "/metrics", "list", "declarations", "old instructions", "new tools"]),
  );
  const count = (text = ""): number => (JSON.parse(text) as { tools_count: number }).tools_count;
  expect([count(shown["/health"]), count(hidden["/health"])]).toEqual([7, 5]);
  expect((await (await fetch(`${url}/health`)).json()) as Parsed).toMatchObject({ tools_count: 3 });
}, 60_000);

test("answers a call of a method that does not exist and of one that is hidden alike [P2]", async () => {
  const { url, headerOf } = await serveWithKeys();
  const some = await headerOf({ permissions: ["call:MathSkill.*"] });
  const answers = ["MailSkill.dispatch", "FaxxSkill.transmit"].map(async (name) => {
    const { status, json } = await post(`${url}/tools/${name}`, {}, some);
    return [
      status,
      JSON.stringify(json)
        .replaceAll(name, "NAME")
        .replace(/"trace_id":"\w+"/, ""),
    ];
  });
  const [hidden, absent] = await Promise.all(answers);
  expect(hidden).toEqual(absent);
  expect(hidden?.[0]).toBe(404);
});

test("refuses with -32005 a call of a method that the key may read but not call [P2, V3]", async () => {
  const { url, headerOf } = await serveWithKeys();
  const reader = await headerOf({ permissions: ["see:MathSkill.add"] });
  const listed = await post(`${url}/rpc`, rpc("tools/list"), reader);
  const names = (listed.json.result.tools as readonly { name: string }[]).map(({ name }) => name);
  expect(names).toEqual(["search_skills", "describe_function", "run_code", "MathSkill.add"]);
  const call = await post(`${url}/rpc`, rpc("tools/call", { name: "MathSkill.add", arguments: ADD }), reader);
  expect(call.json.error).toMatchObject({ code: -32005, data: { error_type: "AuthorizationError" } });
  expect((await post(`${url}/tools/MathSkill.add`, ADD, reader)).status).toBe(403);
  const client = await newClient(url, reader);
  const answer = await client.callTool({ name: "MathSkill__add", arguments: ADD });
  expect(answer).toMatchObject({ isError: true, structuredContent: { error_type: "AuthorizationError" } });
});

test("answers unknown, expired and revoked keys alike, with 401 and -32004 [P1, V3]", async () => {
  const { url, runtime, keys, headerOf } = await serveWithKeys();
  const revoked = await headerOf({ name: "revoked", permissions: ["call:*"] });
  const expired = await headerOf({ name: "expired", permissions: ["call:*"], expires: Date.now() + 3_600_000 });
  for (const header of [revoked, expired])
    expect((await post(`${url}/tools/MathSkill.add`, ADD, header)).json.data).toBe(3);
  await keys.revoke("revoked");
  const { id } = await keys.get("expired");
  await (await runtime.database()).keys.update(id, { expires: Date.now() });
  const unknown = { authorization: `Bearer sg_000000000000_${"A".repeat(43)}` };
  const answers = [revoked, expired, unknown, { authorization: "Bearer other" }].map(async (header) =>
    ["/mcp", "/rpc", "/tools/MathSkill.add"].map(async (path) => {
      const { status, json, headers } = await post(`${url}${path}`, rpc("tools/list"), header);
      const { fault, error = fault } = json;
      expect([path, status, error.code]).toEqual([path, 401, -32004]);
      const { trace_id: _trace, ...data } = error.data;
      return { data, message: error.message, challenge: headers.get("www-authenticate") };
    }),
  );
  const each = await Promise.all((await Promise.all(answers)).flat());
  expect(new Set(each.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(each[0]?.challenge).toBe('Bearer error="invalid_token"');
  const missing = await post(`${url}/mcp`, rpc("tools/list"));
  expect([missing.status, missing.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
});

test("accepts a key beside the parameters of a JSON-RPC message [P1]", async () => {
  const { url, headerOf } = await serveWithKeys();
  const { authorization } = await headerOf({ permissions: ["call:MathSkill.*"] });
  const auth = { type: "bearer", token: authorization.slice("Bearer ".length) };
  const call = rpc("tools/call", { name: "MathSkill.add", arguments: ADD }, { auth });
  expect((await post(`${url}/rpc`, call)).json.result.data).toBe(3);
  const wrong = { ...auth, token: `${auth.token.slice(0, -1)}!` };
  expect((await post(`${url}/rpc`, { ...call, auth: wrong })).json.error.code).toBe(-32004);
});

test("ends an MCP session and a WebSocket at the next request after the key is revoked [P1]", async () => {
  const { url, keys, headerOf } = await serveWithKeys();
  const header = await headerOf({ name: "ada", permissions: ["call:MathSkill.*"] });
  const client = await oldClient(url, header);
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, { headers: header });
  onTestFinished(() => socket.terminate());
  await once(socket, "open");
  const ask = async (): Promise<Parsed> => {
    socket.send(JSON.stringify(rpc("tools/call", { name: "MathSkill.add", arguments: ADD })));
    const [data] = (await once(socket, "message")) as [Buffer];
    return JSON.parse(data.toString());
  };
  expect((await ask()).result.data).toBe(3);
  expect((await client.callTool({ name: "MathSkill__add", arguments: ADD })).isError).not.toBe(true);
  await keys.revoke("ada");
  await expect(client.callTool({ name: "MathSkill__add", arguments: ADD })).rejects.toThrow("-32004");
  const closed = once(socket, "close");
  expect((await ask()).error.code).toBe(-32004);
  expect((await closed)[0]).toBe(1008);
});

test("separates the sessions of two keys [P2]", async () => {
  const { url, headerOf } = await serveWithKeys();
  const [one, other] = [await headerOf({ permissions: ["call:*"] }), await headerOf({ permissions: ["admin:Read"] })];
  const initialize = rpc("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "raw", version: "1" },
  });
  const begun = await post(`${url}/mcp`, initialize, one);
  const session = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
  expect((await post(`${url}/mcp`, rpc("tools/list"), { ...one, ...session })).status).toBe(200);
  expect((await post(`${url}/mcp`, rpc("tools/list"), { ...other, ...session })).status).toBe(404);
});

test("requires admin:Read for the metrics [P2]", async () => {
  const { url, headerOf } = await serveWithKeys();
  const caller = await headerOf({ permissions: ["call:*"] });
  const refused = await fetch(`${url}/metrics`, { headers: caller });
  expect(refused.status).toBe(403);
  expect(((await refused.json()) as Parsed).fault).toMatchObject({
    code: -32005,
    data: { reason: expect.stringContaining("it requires admin:Read") },
  });
  for (const header of [
    OWNER,
    await headerOf({ permissions: ["admin:AnswerApprovals", "admin:ManageRuns", "admin:ManageServers"] }),
  ])
    expect((await fetch(`${url}/metrics`, { headers: header })).status).toBe(200);
});

test("answers 429 with Retry-After beyond the limit of a key, over all of its methods [P5]", async () => {
  const { url, headerOf } = await serveWithKeys();
  const limited = await headerOf({ permissions: ["call:*"], limits: { perHour: 3 } });
  const other = await headerOf({ permissions: ["call:*"], limits: { perHour: 3 } });
  const program = await post(
    `${url}/tools/run_code`,
    { code: "await device.MathSkill.add(1, 2); await device.MathSkill.halve()" },
    limited,
  );
  expect(program.json.success).toBe(true);
  // An invalid call does not count.
  expect((await post(`${url}/tools/MathSkill.add`, { a: "x" }, limited)).status).toBe(400);
  expect((await post(`${url}/tools/MathSkill.add`, ADD, limited)).status).toBe(200);
  const refused = await post(`${url}/tools/MathSkill.add`, ADD, limited);
  expect(refused.status).toBe(429);
  const { reason, retry_after } = refused.json.fault.data;
  expect(reason).toMatch(/^Rate limit exceeded: this caller may make 3 calls per hour; wait [\d.]+s \(RATE_LIMIT\)$/);
  expect(retry_after).toBeGreaterThan(3_000);
  expect(refused.headers.get("retry-after")).toBe(String(Math.ceil(retry_after)));
  const byRpc = await post(`${url}/rpc`, rpc("tools/call", { name: "MathSkill.add", arguments: ADD }), limited);
  expect(Number(byRpc.headers.get("retry-after"))).toBeGreaterThan(3_000);
  expect(byRpc.json.error.data.retry_after).toBeGreaterThan(3_000);
  expect((await post(`${url}/tools/MathSkill.add`, ADD, other)).status).toBe(200);
  expect((await post(`${url}/tools/MathSkill.add`, ADD, OWNER)).status).toBe(200);
});
