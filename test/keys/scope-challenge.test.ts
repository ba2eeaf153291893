import { expect, test } from "vitest";

import { defineSkill } from "../../src/authoring/define-skill.ts";
import { createKeys } from "../../src/keys/index.ts";
import { parseServerSettings } from "../../src/surfaces/http/index.ts";
import { AUDIENCE, startIssuer, type TestIssuer } from "../support/issuer.ts";
import { folder, newClient, oldClient, post, serve } from "../surfaces/serving.ts";

const MailSkill = defineSkill({
  name: "MailSkill",
  description: "Sends mail",
  methods: {
    send: { description: "Send a mail", requiredScopes: ["mail:send"], run: () => "sent" },
    odd: { description: "Requires an odd scope", requiredScopes: ['a"b', "mail:odd"], run: () => "done" },
  },
});

const METADATA = 'resource_metadata="https://skillgate.example.com/.well-known/oauth-protected-resource/mcp"';

async function serveWith(issuer: TestIssuer, more: object = {}) {
  const { oauth } = parseServerSettings({ auth: { issuer: issuer.url, audience: AUDIENCE, ...more } });
  if (oauth === undefined) throw new TypeError("The settings have no issuer");
  const served = await serve({ oauth, expose: "both" }, { skills: [MailSkill], store: folder() }, () => false);
  return {
    ...served,
    headerOf: async (claims: object) => ({ authorization: `Bearer ${await issuer.sign({ ...claims })}` }),
  };
}

const RPC = { jsonrpc: "2.0", id: 7, method: "tools/call" };

const CALL_MAIL = { name: "call_method", arguments: { path: "MailSkill.send" } };

function callOf(name: string): object {
  return { ...RPC, params: { name, arguments: {} } };
}

test("challenges a call that lacks a scope of its method, over REST, JSON-RPC and both generations of MCP [P13, P3]", async () => {
  const { url, runtime, headerOf } = await serveWith(await startIssuer(), { requiredScopes: ["tools:call"] });
  const header = await headerOf({ scope: "tools:call profile" });
  const answers = await Promise.all([
    post(`${url}/tools/MailSkill.send`, {}, header),
    post(`${url}/rpc`, callOf("MailSkill.send"), header),
    post(`${url}/mcp`, callOf("MailSkill__send"), { ...header, "mcp-protocol-version": "2025-11-25" }),
    post(`${url}/mcp`, callOf("MailSkill__send"), header),
    post(`${url}/mcp?expose=calls`, { ...RPC, params: CALL_MAIL }, header),
  ]);
  for (const { status, json, headers } of answers) {
    expect([status, headers.get("www-authenticate")]).toEqual([
      403,
      `Bearer error="insufficient_scope", scope="tools:call mail:send", ${METADATA}`,
    ]);
    expect((json.fault ?? json.error).data).toMatchObject({
      error_type: "AuthorizationError",
      required_scopes: ["mail:send"],
      reason: expect.stringContaining("lacks the scope mail:send"),
    });
  }
  expect(answers.map(({ json }) => json.id)).toEqual([undefined, 7, 7, 7, 7]);
  // Each refusal is in the audit log.
  expect(runtime.audit().map(({ path, decision }) => [path, decision])).toEqual(
    answers.map(() => ["MailSkill.send", "refused"]),
  );
  for (const client of [await oldClient(url, header), await newClient(url, header)]) {
    const refused = client.callTool({ name: "MailSkill__send", arguments: {} });
    await expect(refused).rejects.toThrow(/scope/i);
  }
  const allowed = await headerOf({ scope: "tools:call mail:send" });
  expect((await post(`${url}/tools/MailSkill.send`, {}, allowed)).json.data).toBe("sent");
  const client = await newClient(url, allowed);
  expect((await client.callTool({ name: "MailSkill__send", arguments: {} })).content).toEqual([
    { type: "text", text: "sent" },
  ]);
});

test("names the scope of the issuer whose rights have the scope of the policy [P13]", async () => {
  const scopes = {
    "tools:call": { permissions: ["call:*"] },
    "tools:mail": { permissions: ["call:MailSkill.*"], scopes: ["mail:*"] },
  };
  const { url, headerOf } = await serveWith(await startIssuer(), { scopes });
  const { status, headers } = await post(`${url}/tools/MailSkill.send`, {}, await headerOf({ scope: "tools:call" }));
  expect([status, headers.get("www-authenticate")]).toEqual([
    403,
    `Bearer error="insufficient_scope", scope="tools:mail", ${METADATA}`,
  ]);
  const wider = await headerOf({ scope: "tools:call tools:mail" });
  expect((await post(`${url}/tools/MailSkill.send`, {}, wider)).status).toBe(200);
});

test("does not challenge a call of a method that the caller may not read or that scopes do not give [P13, P2]", async () => {
  const { url, runtime, headerOf } = await serveWith(await startIssuer(), {
    scopes: { none: {}, read: { permissions: ["see:*"] } },
  });
  const hidden = await headerOf({ scope: "none" });
  const reader = await headerOf({ scope: "read" });
  for (const [header, statuses] of [
    [hidden, [404, 200, 200]],
    [reader, [403, 200, 200]],
  ] as const) {
    const answers = await Promise.all([
      post(`${url}/tools/MailSkill.send`, {}, header),
      post(`${url}/rpc`, callOf("MailSkill.send"), header),
      post(`${url}/mcp`, callOf("MailSkill__send"), { ...header, "mcp-protocol-version": "2025-11-25" }),
    ]);
    expect(answers.map(({ headers }) => headers.get("www-authenticate"))).toEqual([null, null, null]);
    expect(answers.slice(0, 2).map(({ status }) => status)).toEqual(statuses.slice(0, 2));
    expect(JSON.stringify(answers.map(({ json }) => json))).not.toContain("mail:send");
  }
  expect(runtime.audit().filter(({ caller }) => caller === "oauth:ada")).toHaveLength(2);
});

test("leaves scopes out of the header that it cannot carry, and the metadata without an issuer [P3]", async () => {
  const { url, runtime } = await serve({}, { skills: [MailSkill], store: folder() }, () => false);
  const keys = createKeys(await runtime.database());
  const { text } = await keys.create({ name: "ada", permissions: ["call:*"] });
  const { status, headers } = await post(`${url}/tools/MailSkill.odd`, {}, { authorization: `Bearer ${text}` });
  expect([status, headers.get("www-authenticate")]).toEqual([
    403,
    'Bearer error="insufficient_scope", scope="mail:odd"',
  ]);
});
