import { expect, onTestFinished, test, vi } from "vitest";

import type { Client } from "../../../src/model/client-requests.ts";
import type { CallContext } from "../../../src/model/skill.ts";
import { createRuntime } from "../../../src/runtime.ts";
import { call, connected, ended, fixture, ROOT, shareConnected } from "../../support/mcp/servers.ts";

const ANSWERS: Readonly<Record<string, unknown>> = {
  "elicitation/create": { action: "accept", content: { name: "Ada" } },
  "sampling/createMessage": { role: "assistant", model: "m", content: { type: "text", text: "4" } },
  "roots/list": { roots: [{ uri: "file:///home/ada" }] },
};

/** A client that answers every request, or only the named ones. */
function person(answers: Readonly<Record<string, unknown>> = ANSWERS) {
  const ask = vi.fn<Client["ask"]>(async (request) => answers[request]);
  return { can: (request: string) => Object.hasOwn(answers, request), ask } satisfies Client;
}

const by = (id: string, client: Client = person()): Partial<CallContext> => ({
  caller: { id, permissions: ["call:*"] },
  client,
});

/** The servers of both generations. A caller whose client answers requests has a process of its own of the older one. */
const SHARED = {
  "2025-11-25": shareConnected(fixture()),
  modern: shareConnected(fixture(["modern"])),
};

const FORM = {
  message: "[fixture asks] your name?",
  requestedSchema: { type: "object", properties: { name: { type: "string" }, age: { type: "integer", default: 7 } } },
};

test.each([
  ["form", "elicitation/create", FORM, { action: "accept", content: { name: "Ada", age: 7 } }],
  [
    "url",
    "elicitation/create",
    { mode: "url", message: "[fixture asks] please pay (opens pay.example)", url: "https://pay.example/" },
    { action: "accept" },
  ],
  [
    "sampling",
    "sampling/createMessage",
    { messages: [{ role: "user", content: { type: "text", text: "2+2?" } }], maxTokens: 5 },
    ANSWERS["sampling/createMessage"],
  ],
  ["roots", "roots/list", {}, ANSWERS["roots/list"]],
])(
  "sends a request (%s) of servers of both generations to the caller [M7]",
  { tags: "rest" },
  async (question, request, params, answer) => {
    for (const ways of [[], ["modern"]]) {
      const provider = await connected([fixture(ways)]);
      const client = person({ ...ANSWERS, ...(question === "url" && { "elicitation/create": { action: "accept" } }) });
      expect(await call(provider, "ask", { question }, by("ada", client))).toMatchObject(answer as object);
      const [asked] = client.ask.mock.calls;
      expect(asked?.slice(0, 2)).toMatchObject([request, params]);
    }
  },
);

/** Is announced with every request since 2026-07-28: a call can wait for a task. */
const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } };

test("announces to a server exactly the requests that its caller can answer [M7]", async () => {
  const abilities = { elicitation: { form: { applyDefaults: true }, url: {} } };
  const some = person({ "elicitation/create": {} });
  for (const [way, all] of [
    ["2025-11-25", {}],
    ["modern", TASKS],
  ] as const) {
    const provider = await SHARED[way]();
    expect(await call(provider, "capabilities")).toEqual(all);
    expect(await call(provider, "capabilities", {}, by("some", some))).toEqual({ ...abilities, ...all });
    expect(await call(provider, "capabilities", {}, by("none", person({})))).toEqual(all);
  }
});

test("uses one connection for each caller that answers requests, and asks each its own [M7]", async () => {
  const provider = await connected([fixture()]);
  const [ada, bob] = [person(), person()];
  const pids = [
    await call(provider, "pid"),
    await call(provider, "pid", {}, by("ada", ada)),
    await call(provider, "pid", {}, by("bob", bob)),
  ];
  expect(new Set(pids).size).toBe(3);
  expect(await call(provider, "pid", {}, by("ada", ada))).toBe(pids[1]);
  await Promise.all([
    call(provider, "ask", {}, by("ada", ada)),
    call(provider, "ask", { question: "roots" }, by("bob", bob)),
  ]);
  expect(ada.ask.mock.calls.map(([request]) => request)).toEqual(["elicitation/create"]);
  expect(bob.ask.mock.calls.map(([request]) => request)).toEqual(["roots/list"]);
  await provider.close();
  await Promise.all(pids.map((pid) => ended(Number(pid))));
  // A call that waited for a person may come now.
  const late = call(provider, "pid", {}, by("eve"));
  await expect(late).rejects.toMatchObject({ code: "SERVER_GONE", message: expect.stringContaining("is closed") });
});

test("shares one process of a modern server, and asks exactly the client of each call [M7]", async () => {
  const provider = await SHARED.modern();
  const [ada, bob] = [person(), person({ "roots/list": ANSWERS["roots/list"] })];
  const pid = await call(provider, "pid");
  expect(await call(provider, "pid", {}, by("ada", ada))).toBe(pid);
  expect(await call(provider, "pid", {}, by("bob", bob))).toBe(pid);
  const capabilities = [by("ada", ada), {}, by("bob", bob)].map((context) =>
    call(provider, "capabilities", {}, context),
  );
  const elicitation = { form: { applyDefaults: true }, url: {} };
  expect(await Promise.all(capabilities)).toEqual([
    { elicitation, sampling: {}, roots: {}, ...TASKS },
    TASKS,
    { roots: {}, ...TASKS },
  ]);
  const answers = await Promise.allSettled([
    call(provider, "ask", {}, by("ada", ada)),
    call(provider, "ask", { question: "roots" }, by("bob", bob)),
    call(provider, "ask", {}, by("bob", bob)),
    call(provider, "ask"),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "rejected"]);
  expect(ada.ask.mock.calls.map(([request]) => request)).toEqual(["elicitation/create"]);
  expect(bob.ask.mock.calls.map(([request]) => request)).toEqual(["roots/list"]);
});

test("asks the client of a call even if a server forges the key of another call [M7]", async () => {
  const provider = await connected([fixture(["modern", "forged-keys"])]);
  const [ada, bob] = [person(), person()];
  const waiting = call(provider, "progress_after", { ms: 300 }, by("ada", ada));
  await call(provider, "ask", { question: "roots" }, by("bob", bob));
  await waiting;
  expect(ada.ask).not.toHaveBeenCalled();
  expect(bob.ask).toHaveBeenCalledTimes(1);
});

test("uses one connection for all calls of a program with a single user [M7]", async () => {
  const client = person();
  const provider = await connected([fixture()], { client });
  const pid = await call(provider, "pid");
  expect(await call(provider, "pid", {}, by("ada", client))).toBe(pid);
  expect(await call(provider, "ask")).toEqual({ action: "accept", content: { name: "Ada", age: 7 } });
});

test.each([
  [{ action: "maybe" }, /^Invalid elicitation result: /],
  [undefined, /^Invalid elicitation result: /],
])("returns a malformed answer (%j) to the server as an error [M7]", async (answer, words) => {
  const provider = await SHARED["2025-11-25"]();
  const client = person({ "elicitation/create": answer });
  expect(await call(provider, "ask", {}, by(`malformed ${typeof answer}`, client))).toMatchObject({
    code: -32602,
    message: expect.stringMatching(words) as string,
  });
});

test("fails the request, not the server, if a caller does not answer [M7]", async () => {
  const provider = await SHARED["2025-11-25"]();
  const client = { can: () => true, ask: () => Promise.reject(new Error("the window was closed")) };
  expect(await call(provider, "ask", {}, by("closed", client))).toMatchObject({ message: "the window was closed" });
  expect(await call(provider, "echo", { message: "well" }, by("closed", client))).toBe("well");
});

test("sends the user to a page that a server requires, and repeats the call [M7]", async () => {
  const url = "https://pay.example/";
  for (const ways of [[], ["modern"]]) {
    const provider = await connected([fixture(ways)]);
    const client = person({ "elicitation/create": { action: "accept" } });
    expect(await call(provider, "pay_first", { url }, by("ada", client))).toBe("paid and done");
    const message = "[fixture asks] please pay (opens pay.example)";
    const page = { mode: "url", message, url, elicitationId: "e1" };
    expect(client.ask.mock.calls).toEqual([["elicitation/create", page, url]]);
    const refusal = { code: "CALL_FAILED", message: `payment is required; first visit ${url}` };
    const unpaid = await connected([fixture(ways)]);
    await expect(call(unpaid, "pay_first", { url })).rejects.toMatchObject(refusal);
  }
});

test.each([
  ["https://pay.example/", { action: "decline" }, "payment is required; first visit https://pay.example/"],
  ["javascript:alert(1)", { action: "accept" }, "payment is required"],
])("fails the call if the user does not visit the page (%s, %j) [M7]", async (url, answer, message) => {
  const provider = await SHARED["2025-11-25"]();
  const client = person({ "elicitation/create": answer });
  await expect(call(provider, "pay_first", { url }, by(`unpaid ${url}`, client))).rejects.toMatchObject({ message });
});

test("passes a log message of a server to its caller, if it has only one [M7]", async () => {
  for (const way of ["2025-11-25", "modern"] as const) {
    const provider = await SHARED[way]();
    const log = vi.fn<CallContext["log"]>();
    await call(provider, "log", {}, { log });
    const sent = { level: "warning", data: "disk is almost full" };
    expect(log.mock.calls).toEqual([["warn", "disk is almost full", sent]]);
    const other = vi.fn<CallContext["log"]>();
    const slow = call(provider, "progress_after", { ms: 200 }, { ...by("other", person({})), log: other });
    await call(provider, "log", {}, { log });
    await slow;
    expect(log.mock.calls).toHaveLength(1);
    expect(other.mock.calls).toEqual([]);
  }
});

test(
  "extends the timeout of a call that reports progress, up to the end of its run [X2]",
  { tags: "rest" },
  async () => {
    const fixture = { command: process.execPath, args: ["test/fixtures/mcp/server.js"], timeout: 1 };
    const runtime = await createRuntime({ skillsDir: false, mcpServers: { fixture }, cwd: ROOT });
    onTestFinished(() => runtime.close());
    await runtime.ready;
    const slowly = (steps: number): string => `await device.FixtureMCP.progress_slowly({ steps: ${steps}, ms: 400 })`;
    expect(await runtime.run(slowly(4))).toMatchObject({ kind: "completed", value: "done" });
    expect(await runtime.run(slowly(99), { limits: { wallMs: 2_000 } })).toMatchObject({
      kind: "failed",
      error: { code: "WALL_LIMIT" },
    });
    expect(await runtime.run("await device.FixtureMCP.never()")).toMatchObject({
      error: { code: "CALL_TIMEOUT", message: "Tool 'FixtureMCP.never' timed out after 1s" },
    });
  },
);

test("does not count the time in which a user answers a request [X2]", { tags: "rest" }, async () => {
  const fixture = { command: process.execPath, args: ["test/fixtures/mcp/server.js"], timeout: 0.5 };
  let think: () => void = () => {};
  const thought = new Promise<void>((resolve) => (think = resolve));
  const ask = async (): Promise<unknown> => {
    await thought;
    return { action: "decline" };
  };
  const mcp = { client: { can: () => true, ask } };
  const runtime = await createRuntime({ skillsDir: false, mcpServers: { fixture, clock: fixture }, cwd: ROOT, mcp });
  onTestFinished(() => runtime.close());
  await runtime.ready;
  const run = runtime.run("await device.FixtureMCP.ask()");
  // Calls of another server take all of such a time meanwhile, twice.
  expect(await runtime.run("await device.ClockMCP.never()")).toMatchObject({ error: { code: "CALL_TIMEOUT" } });
  expect(await runtime.run("await device.ClockMCP.never()")).toMatchObject({ error: { code: "CALL_TIMEOUT" } });
  think();
  expect(await run).toMatchObject({ kind: "completed", value: { action: "decline" } });
});

test("sends the id of a call as its idempotency key [R3]", async () => {
  const provider = await SHARED["2025-11-25"]();
  const results: unknown[] = [];
  await call(provider, "capabilities", {}, { callId: "run-1/2", wire: (result) => results.push(result) });
  expect(results).toMatchObject([{ _meta: { key: "run-1/2" } }]);
});
