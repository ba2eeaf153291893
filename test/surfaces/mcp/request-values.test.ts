import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, onTestFinished, test } from "vitest";

import { createRuntime, defineSkill, type ProvidedSkill } from "../../../src/index.ts";
import { OWNER } from "../../../src/model/caller.ts";
import { createRequestValues, createSessionValues } from "../../../src/model/requests/request-values.ts";
import { reflectingServer } from "../../support/mcp/http-servers.ts";
import { folder, post, serve } from "../serving.ts";
import { takeShare } from "../../support/repetitions.ts";
import { ERAS, openLegacy, type RawClient } from "./raw-client.ts";
import { BIN, environment, project } from "./stdio-server.ts";

const SECRET = "Bearer eA7-upstream-token";
const CODE = "(await device.CrmMCP.seen()).path";

/** Serves a server whose URL and headers depend on the request. */
async function serveCrm(more: Readonly<Record<string, unknown>> = {}) {
  const { url } = await reflectingServer();
  const crm = { url: `${url}of/\${session.project}/mcp`, passHeaders: ["x-tenant"], ...more };
  const served = await serve({ expose: "both" }, { skills: [], mcpServers: { crm } });
  await served.runtime.ready;
  return served;
}

const as = (project: string) => ({ "x-skillgate-session-project": project, "x-tenant": `tenant-${project}` });

const call = (client: RawClient, name: string, args = {}) => client.request("tools/call", { name, arguments: args });

describe.each(takeShare(2, ERAS))(
  "with the headers of its own requests, a client of %s",
  { tags: "repeated" },
  (_era, open) => {
    test("calls tools and programs, and reads resources, each with its own values [M1]", async () => {
      const { url } = await serveCrm();
      const clients = await Promise.all(["ada", "bob"].map((name) => open(`${url}/mcp`, {}, as(name))));
      const direct = await Promise.all(clients.map((client) => call(client, "CrmMCP__seen")));
      expect(direct.map(({ content }) => JSON.parse(content[0].text).path)).toEqual(["/of/ada/mcp", "/of/bob/mcp"]);
      const run = await Promise.all(clients.map((client) => call(client, "run_code", { code: CODE })));
      expect(run.map(({ structuredContent }) => structuredContent.value)).toEqual(["/of/ada/mcp", "/of/bob/mcp"]);
      for (const [at, client] of clients.entries()) {
        const { resources } = await client.request("resources/list");
        expect(resources).toEqual(expect.arrayContaining([expect.objectContaining({ uri: "seen://path" })]));
        const { contents } = await client.request("resources/read", { uri: "seen://path" });
        expect(contents[0].text).toBe(["/of/ada/mcp", "/of/bob/mcp"][at]);
      }
    });

    test("gets an error for a header that it does not send [M1]", async () => {
      const { url } = await serveCrm();
      const ada = await open(`${url}/mcp`, {}, as("ada"));
      await call(ada, "CrmMCP__seen");
      const own = await ada.request("resources/list");
      expect(own.resources.map(({ uri }: { uri: string }) => uri)).toContain("seen://path");
      const client = await open(`${url}/mcp`, {}, { "x-tenant": "eve" });
      expect(await call(client, "CrmMCP__seen")).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('"crm" needs the session value project') }],
      });
      const { resources } = await client.request("resources/list");
      expect(resources.filter(({ uri }: { uri: string }) => uri === "seen://path")).toEqual([]);
    });
  },
);

test("uses the headers of each request in a session, not those of the first one [M1]", async () => {
  const { url } = await serveCrm();
  const headers = as("ada");
  const client = await openLegacy(`${url}/mcp`, {}, headers);
  // The client sends this object with each request.
  const path = async () => JSON.parse((await call(client, "CrmMCP__seen")).content[0].text).path;
  expect(await path()).toBe("/of/ada/mcp");
  const opened = await post(
    `${url}/mcp`,
    {
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
    },
    as("ada"),
  );
  const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  const ask = (method: string, params: object, values: Readonly<Record<string, string>>) =>
    post(`${url}/mcp`, { jsonrpc: "2.0", id: 1, method, params }, { ...session, ...values });
  const seen = await ask("tools/call", { name: "CrmMCP__seen", arguments: {} }, as("bob"));
  expect(seen.json.result.content[0].text).toContain("/of/bob/mcp");
  const lacking = await ask("tools/call", { name: "CrmMCP__seen", arguments: {} }, {});
  expect(lacking.json.result).toMatchObject({ isError: true });
  const read = await ask("resources/read", { uri: "seen://path" }, as("bob"));
  expect(read.json.result.contents[0].text).toBe("/of/bob/mcp");
});

test("uses the headers at POST /tools and at /rpc [M1] [V4]", async () => {
  const { url } = await serveCrm();
  const tool = await post(`${url}/tools/CrmMCP.seen`, {}, as("ada"));
  expect(tool.json.data.path).toBe("/of/ada/mcp");
  const message = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "run_code", arguments: { code: CODE } },
  };
  expect((await post(`${url}/rpc`, message, as("bob"))).json.result.data.value).toBe("/of/bob/mcp");
  expect((await post(`${url}/tools/CrmMCP.seen`, {})).json.detail ?? "").toContain("needs the session value project");
});

test("takes the values of a client over stdio from --session [M1] [V1]", { tags: "rest" }, async () => {
  const { url } = await reflectingServer();
  const mcpServers = { crm: { url: `${url}of/\${session.project}/mcp` } };
  const cwd = project({ ".mcp.json": JSON.stringify({ mcpServers }) });
  const client = new Client({ name: "test", version: "1" });
  const args = [BIN, "serve", "--stdio", "--expose", "tools", "--session", "project=ada"];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd, env: environment(cwd) }));
  onTestFinished(() => client.close());
  const { content } = await client.callTool({ name: "CrmMCP__seen", arguments: {} });
  expect(JSON.stringify(content)).toContain("/of/ada/mcp");
});

test("caches results for the values of a request, and hands a yes for one to no other [M1] [P6]", async () => {
  const answers: string[] = [];
  const TenantSkill: ProvidedSkill = {
    ...defineSkill({
      name: "TenantSkill",
      description: "Differs by tenant",
      methods: {
        read: { description: "Read", cacheTtlSeconds: 60, readOnly: true, run: () => answers.push("read") },
        drop: { description: "Drop", approval: "user", run: () => answers.push("drop") },
      },
    }),
    getRequestKey: (values) => values?.getSessionValue("project"),
  };
  const runtime = await createRuntime({ skillsDir: false, skills: [TenantSkill], workers: 1 });
  onTestFinished(() => runtime.close());
  const by = (project: string) => ({ observer: { requestValues: createSessionValues({ project }) } });
  const read = (project: string) => runtime.call("TenantSkill.read", {}, by(project));
  expect([await read("ada"), await read("ada"), await read("bob")]).toEqual([1, 1, 2]);
  const drop = (project: string) => runtime.call("TenantSkill.drop", {}, by(project));
  await expect(drop("ada")).rejects.toMatchObject({ code: "APPROVAL_MISSING" });
  const [question] = await runtime.approvals.list("pending");
  await runtime.approvals.answer(question?.id ?? "", { approve: true });
  await expect(drop("bob")).rejects.toMatchObject({ code: "APPROVAL_MISSING" });
  expect(await drop("ada")).toBe(3);
});

test("keeps the values out of the store, the audit log, the events and the records [P9]", async () => {
  const { url } = await reflectingServer();
  const store = folder();
  const crm = { url: `${url}of/\${session.project}/mcp`, passHeaders: ["authorization"] };
  const runtime = await createRuntime({
    skillsDir: false,
    mcpServers: { crm },
    store,
    audit: "store",
    runs: { record: "full" },
    workers: 1,
  });
  const events: unknown[] = [];
  for (const name of ["call", "run", "log", "progress", "servers"] as const)
    runtime.on(name, (...words) => events.push([name, ...words]));
  const requestValues = createRequestValues(
    new Headers({ authorization: SECRET, "x-skillgate-session-project": "project-of-ada" }),
  );
  await runtime.ready;
  await runtime.listServersWith({ requestValues });
  const observer = { requestValues };
  const code = `try { await device.CrmMCP.leak() } catch (error) { console.log(error.message) }
    const { headers } = await device.CrmMCP.seen(); headers.authorization`;
  const outcome = await runtime.run(code, { caller: OWNER, observer });
  expect(outcome).toMatchObject({ kind: "completed", value: "[redacted]" });
  await runtime.call("CrmMCP.leak", {}, { observer }).catch(() => {});
  const audit = JSON.stringify(runtime.audit());
  await runtime.close();
  const shown = JSON.stringify([outcome.kind === "completed" && outcome.output, events]) + audit;
  const files = readdirSync(store, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  const stored = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1")).join("\n");
  expect(stored).toContain("CrmMCP.leak");
  expect(shown + stored).not.toContain("eA7-upstream");
  expect(shown).not.toContain("with project-of-ada");
});

test("says of a run that another process continues that it has no headers [R2] [M1]", { tags: "rest" }, async () => {
  const { url } = await reflectingServer();
  const store = folder();
  const PaySkill = defineSkill({
    name: "PaySkill",
    description: "Pays",
    methods: { pay: { description: "Pay", approval: "user", run: () => "paid" } },
  });
  const crm = { url, passHeaders: ["x-tenant"] };
  const open = async () => {
    const approvals = { wait: true, holdSeconds: 0.05 };
    const runtime = await createRuntime({
      skillsDir: false,
      skills: [PaySkill],
      mcpServers: { crm },
      store,
      approvals,
      workers: 1,
    });
    await runtime.ready;
    return runtime;
  };
  const requestValues = createRequestValues(new Headers({ "x-tenant": "acme" }));
  const first = await open();
  const code = `const { headers } = await device.CrmMCP.seen(); await device.PaySkill.pay();
    [headers["x-tenant"], await device.CrmMCP.seen()]`;
  const waiting = await first.run(code, { observer: { requestValues } });
  expect(waiting).toMatchObject({ kind: "waiting" });
  await first.close();
  const second = await open();
  onTestFinished(() => second.close());
  const [question] = await second.approvals.list("pending");
  await second.approvals.answer(question?.id ?? "", { approve: true });
  // Those of the request that continues it do not count: they may be of another session.
  const outcome = await second.runs.resume(waiting.runId, { observer: { requestValues } });
  expect(outcome).toMatchObject({
    kind: "failed",
    error: {
      code: "SESSION_VALUE_MISSING",
      message: expect.stringContaining('"crm" needs the header x-tenant, and this call belongs to no request'),
    },
  });
});

test("does not continue a run with other values than those of its calls [R2] [M1]", async () => {
  const NoteSkill: ProvidedSkill = {
    ...defineSkill({
      name: "NoteSkill",
      description: "Differs by project",
      methods: { add: { description: "Add", run: (_input, context) => context.caller.id } },
    }),
    getRequestKey: (values) => values?.getSessionValue("project"),
  };
  const PlainSkill = defineSkill({
    name: "PlainSkill",
    description: "Is the same for all",
    methods: { add: { description: "Add", run: () => "added" } },
  });
  const runtime = await createRuntime({
    skillsDir: false,
    skills: [NoteSkill, PlainSkill],
    store: folder(),
    workers: 1,
  });
  onTestFinished(() => runtime.close());
  const by = (project: string) => ({ observer: { requestValues: createSessionValues({ project }) } });
  const { runId: notes } = await runtime.run("await device.NoteSkill.add(); throw Error()", by("ada"));
  const correct = (project: string, run: string, skill: string) =>
    runtime.run(`await device.${skill}.add()`, { ...by(project), continue: run });
  await expect(correct("bob", notes, "NoteSkill")).rejects.toMatchObject({
    code: "CONTINUE_INVALID",
    message: expect.stringContaining(
      "NoteSkill takes other values from this request, or an earlier process has called it",
    ),
  });
  expect(await correct("ada", notes, "NoteSkill")).toMatchObject({ kind: "completed", value: "owner" });
  const { runId: plain } = await runtime.run("await device.PlainSkill.add(); throw Error()", by("ada"));
  expect(await correct("bob", plain, "PlainSkill")).toMatchObject({ kind: "completed", value: "added" });
});
