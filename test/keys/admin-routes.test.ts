import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";

import { defineSkill } from "../../src/index.ts";
import { createKeys } from "../../src/keys/index.ts";
import type { Runtime } from "../../src/runtime.ts";
import { createConsoleEndpoints } from "../../src/surfaces/console/api/index.ts";
import type { ConsoleServices } from "../../src/surfaces/console/services.ts";
import { followQuestions } from "../approvals/mail.ts";
import { serveConsole, TOKEN } from "../surfaces/console/browser.ts";

/** An argument of a method that the key may not see. */
const HIDDEN = "hidden-argument-4711";

interface Route {
  readonly method: string;
  readonly path: string;
}

interface Attacked {
  readonly url: string;
  readonly runtime: Runtime;
  readonly project: string;
  /** Runs and questions: those of the owner with the hidden method, and an own question of the key. */
  readonly ids: readonly string[];
  readonly ownQuestion: string;
  /** The texts with which methods were called. */
  readonly called: ReadonlySet<string>;
  readonly headers: Readonly<Record<string, string>>;
}

/** What a key achieved. */
interface Damage {
  /** The ways in which it read the hidden argument. */
  readonly hiddenReadBy: readonly string[];
  /** The ways in which it called the hidden method. */
  readonly hiddenCalledBy: readonly string[];
  readonly hasRunCommand: boolean;
  readonly hasApprovedForGood: boolean;
  readonly hasMadeKey: boolean;
}

async function serveAttacked(permissions: readonly string[]): Promise<Attacked> {
  const project = mkdtempSync(join(tmpdir(), "skillgate-admin-routes-"));
  onTestFinished(() => rmSync(project, { recursive: true, force: true }));
  mkdirSync(join(project, "policies"));
  writeFileSync(join(project, "policies", "tools.yaml"), "");
  writeFileSync(join(project, "settings.yaml"), "approvals: { wait: true }\nruns: { record: full }\n");
  const input = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;
  const called = new Set<string>();
  const run = ({ text }: { readonly text: string }): string => {
    called.add(text);
    return text;
  };
  const methods = { see: { description: "Sees", input, run } };
  const SecretSkill = defineSkill({ name: "SecretSkill", description: "Of others", methods });
  const ask = { description: "Asks", approval: "user" as const, input, run };
  const PublicSkill = defineSkill({ name: "PublicSkill", description: "For all", methods: { ask } });
  const { url, runtime } = await serveConsole({
    project,
    runtime: { skills: [SecretSkill, PublicSkill], trust: "given", approvals: { wait: true } },
    settings: { auth: true },
  });
  const keys = createKeys(await runtime.database());
  const { text, key } = await keys.create({ name: "attacker", permissions });
  const secret = await runtime.run(`return await device.SecretSkill.see({ text: "${HIDDEN}" })`);
  const next = followQuestions(runtime);
  const caller = (await keys.findCaller(key.id))?.caller;
  void runtime.run(`await device.PublicSkill.ask({ text: "own" })`, { ...(caller && { caller }) });
  const { id: ownQuestion } = await next();
  return {
    url,
    runtime,
    project,
    ids: [secret.runId, ownQuestion, "attacker", "new", "PublicSkill", "PublicSkill.ask", "1"],
    ownQuestion,
    called,
    headers: { authorization: `Bearer ${text}`, "content-type": "application/json", "x-skillgate-console": "1" },
  };
}

/** All routes of the OpenAPI document that the caller gets, and all routes of the console. */
async function listRoutes({ url, headers }: Attacked): Promise<readonly Route[]> {
  const document = (await (await fetch(`${url}/openapi.json`, { headers })).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  };
  const open = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  );
  const services = { runtime: {}, http: {}, sessions: {}, activity: {}, events: {} } as unknown as ConsoleServices;
  const pages = Object.keys(createConsoleEndpoints(services)).map((route) => {
    const [method = "", path = ""] = route.split(" ");
    return { method, path: `/console/api${path.replaceAll(/:\w+(?:\{.*\})?/g, "{id}")}` };
  });
  expect(open.map(({ path }) => path)).toContain("/approvals/{id}");
  expect(pages.length).toBeGreaterThan(30);
  return [...open, ...pages];
}

/** One body that fits every route: each reads the members that it knows. */
function createBody({ project }: Attacked): object {
  const code = `require("fs").writeFileSync(${JSON.stringify(join(project, "ran"))}, "")`;
  const entry = { command: process.execPath, args: ["-e", code] };
  const program = `return await device.SecretSkill.see({ text: "by a route" })`;
  return {
    answer: "approve",
    for: "always",
    enabled: true,
    acceptsChanges: true,
    name: "new",
    entry,
    scope: "project",
    permissions: ["call:*"],
    values: {},
    overlapMs: 0,
    code: program,
    source: program,
    text: "tests: []",
    query: "see",
    path: "SecretSkill.see",
  };
}

/** The parameters that routes read; each reads those that it knows. */
const QUERY = new URLSearchParams({ q: "see", path: "SecretSkill.see", caller: "owner", title: HIDDEN, after: "0" });

/** Tries every route with every id, and the body. Returns the answers. */
async function attackRoutes(attacked: Attacked): Promise<readonly string[]> {
  const { url, ids, headers } = attacked;
  const body = JSON.stringify(createBody(attacked));
  const answers: string[] = [];
  // The stream of events and messages have attacks of their own; the chat needs a model; a logout and a cancelled run come last.
  const routes = (await listRoutes(attacked)).filter(({ path }) => !/events|chat|\/mcp|\/rpc|POST.*session/.test(path));
  const isLast = ({ method, path }: Route): boolean => method === "DELETE" || path.endsWith("/cancel");
  for (const { method, path } of routes.toSorted((a, b) => Number(isLast(a)) - Number(isLast(b)))) {
    const first = /\{\w+\}/.test(path) ? ids : [""];
    for (const id of first)
      for (const other of /\{\w+\}.*\{\w+\}/.test(path) ? [ids[0] ?? ""] : [""]) {
        const address = path.replace(/\{\w+\}/, encodeURIComponent(id)).replace(/\{\w+\}/, encodeURIComponent(other));
        const init = { method, headers, ...(method !== "GET" && { body }), signal: AbortSignal.timeout(10_000) };
        answers.push(await fetch(`${url}${address}?${QUERY.toString()}`, init).then((response) => response.text()));
      }
  }
  return answers;
}

/** Messages of JSON-RPC and MCP that read something or call a tool; `uris` are the resources that the owner sees. */
function listMessages(attacked: Attacked, uris: readonly string[]): readonly object[] {
  const [run = ""] = attacked.ids;
  const { program, ...calls } = {
    program: 'return await device.SecretSkill.see({ text: "by a message" })',
    run_code: { code: 'const { value } = await device.result("r1"); return value' },
    resume_run: { run_id: run },
    search_skills: { query: "" },
    describe_function: { path: "SecretSkill.see" },
    SecretSkill__see: { text: "by a message" },
    "SecretSkill.see": { text: "by a message" },
  };
  const called = [
    ...Object.entries(calls),
    ["run_code", { code: program }],
    ["run_code", { code: "1", continue: run }],
  ];
  const read = [...uris, `run://${run}`, `run://${run}/record`, `runs://${run}`];
  return [
    ...["tools/list", "resources/list", "resources/templates/list", "prompts/list", "health", "tasks/list"].map(
      (method) => ({ method, params: {} }),
    ),
    ...called.map(([name, args]) => ({ method: "tools/call", params: { name, arguments: args } })),
    ...read.map((uri) => ({ method: "resources/read", params: { uri } })),
    ...["tools/schema", "tools/validate", "prompts/get"].map((method) => ({
      method,
      params: { name: "SecretSkill.see", arguments: {} },
    })),
    {
      method: "completion/complete",
      params: { ref: { type: "ref/resource", uri: "run://{id}" }, argument: { name: "id", value: "" } },
    },
  ].map((message, index) => ({ jsonrpc: "2.0", id: index + 1, ...message }));
}

/** Sends messages to the endpoints for messages: JSON-RPC, MCP with a session, and a WebSocket. Returns the answers. */
async function attackMessages(attacked: Attacked): Promise<readonly string[]> {
  const { url, headers } = attacked;
  const post = (path: string, message: object, more: Readonly<Record<string, string>> = headers): Promise<Response> => {
    const accept = "application/json, text/event-stream";
    return fetch(url + path, {
      method: "POST",
      headers: { ...headers, accept, ...more },
      body: JSON.stringify(message),
    });
  };
  const list = { jsonrpc: "2.0", id: 0, method: "resources/list", params: {} };
  const owned = await (await post("/rpc", list, { authorization: `Bearer ${TOKEN}` })).text();
  const uris = [...owned.matchAll(/"uri":"([^"]+)"/g)].map(([, uri = ""]) => uri);
  expect(uris.length).toBeGreaterThan(0);
  const messages = listMessages(attacked, uris);
  const clientInfo = { name: "attacker", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const opened = await post("/mcp", { ...list, method: "initialize", params });
  await opened.text();
  const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  const answers: string[] = [];
  for (const message of messages) {
    answers.push(await (await post("/rpc", message)).text());
    answers.push(await (await post("/mcp", message, session)).text());
  }
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, {
    headers: { authorization: headers["authorization"] },
  });
  await new Promise((resolve) => socket.once("open", resolve));
  const received = new Promise<void>((resolve) => {
    socket.on("message", (data: Buffer) => {
      answers.push(data.toString());
      if (data.toString().includes(`"id":${messages.length}`)) resolve();
    });
  });
  // The last message is answered after the others, which need no program.
  for (const message of messages) socket.send(JSON.stringify(message));
  await received;
  socket.close();
  return answers;
}

/** Follows the events of the console, while the owner calls the hidden method again. Returns what has arrived. */
async function attackEvents({ url, headers, runtime }: Attacked): Promise<string> {
  const stream = await fetch(`${url}/console/api/events?after=0`, { headers });
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  await runtime.run(`return await device.SecretSkill.see({ text: "${HIDDEN} again" })`);
  let text = "";
  const timer = setTimeout(() => void reader?.cancel(), 1_000);
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) text += part.value;
  clearTimeout(timer);
  return text;
}

/** Tries all ways in. */
async function attack(attacked: Attacked): Promise<Damage> {
  const { runtime, project, ownQuestion, called } = attacked;
  const answers = {
    events: await attackEvents(attacked),
    messages: (await attackMessages(attacked)).join("\n"),
    routes: (await attackRoutes(attacked)).join("\n"),
  };
  const hiddenReadBy = Object.entries(answers).flatMap(([way, text]) => (text.includes(HIDDEN) ? [way] : []));
  expect(await runtime.approvals.get(ownQuestion)).toMatchObject({ caller: expect.stringContaining("attacker") });
  const { scope } = (await runtime.approvals.get(ownQuestion)) ?? {};
  return {
    hiddenReadBy,
    hiddenCalledBy: [...called].filter((text) => text.startsWith("by a ")).toSorted(),
    hasRunCommand: existsSync(join(project, "ran")),
    hasApprovedForGood: scope === "always" || existsSync(join(project, "policies", "approved.yaml")),
    hasMadeKey: (await createKeys(await runtime.database()).list()).length > 1,
  };
}

test("no route lets an administrator's key read hidden arguments, run a command, make a key, or approve its own call for good [P2, P6, V4]", async () => {
  const attacked = await serveAttacked([
    "call:PublicSkill.*",
    "admin:Read",
    "admin:AnswerApprovals",
    "admin:ManageRuns",
  ]);
  expect(await attack(attacked)).toEqual({
    hiddenReadBy: [],
    hiddenCalledBy: [],
    hasRunCommand: false,
    hasApprovedForGood: false,
    hasMadeKey: false,
  });
  expect(await attacked.runtime.approvals.get(attacked.ownQuestion)).toMatchObject({
    state: "approved",
    scope: "once",
  });
});

test(
  "the same attack finds what a key may do that sees all methods and manages servers [P2, V4]",
  { tags: "rest" },
  async () => {
    const permissions = ["call:*", "admin:Read", "admin:AnswerApprovals", "admin:ManageServers"];
    expect(await attack(await serveAttacked(permissions))).toEqual({
      hiddenReadBy: ["routes"],
      hiddenCalledBy: ["by a message", "by a route"],
      hasRunCommand: true,
      hasApprovedForGood: false,
      hasMadeKey: false,
    });
  },
);
