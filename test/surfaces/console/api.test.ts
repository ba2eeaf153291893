import { describe, expect, test } from "vitest";

import { createError } from "../../../src/errors.ts";
import { createKeys } from "../../../src/keys/index.ts";
import type { MethodSummary, Overview } from "../../../src/surfaces/console/messages.ts";
import type { RecordedRunDetail } from "../../../src/surfaces/console/program-messages.ts";
import { toProblem } from "../../../src/surfaces/console/problem.ts";
import { takeShare } from "../../support/repetitions.ts";
import { serveBank } from "./bank.ts";
import { type ConsoleServer, serveConsole, TOKEN } from "./browser.ts";

const HEADERS = { "x-skillgate-console": "1", "content-type": "application/json" };

/** Logs in with a token, and returns the cookie as a browser sends it. */
async function logIn(server: ConsoleServer, token = TOKEN): Promise<string> {
  const response = await post(server, "/session", { token });
  expect(response.status).toBe(204);
  return response.headers.get("set-cookie")?.split(";")[0] ?? "";
}

function post(server: ConsoleServer, path: string, body: unknown, headers: Record<string, string> = {}) {
  return fetch(`${server.url}/console/api${path}`, {
    method: "POST",
    headers: { ...HEADERS, ...headers },
    body: JSON.stringify(body),
  });
}

function get(server: ConsoleServer, path: string, headers: Record<string, string> = {}) {
  return fetch(`${server.url}/console/api${path}`, { headers });
}

async function createKey(server: ConsoleServer, name: string, permissions: readonly string[]): Promise<string> {
  const { text } = await createKeys(await server.runtime.database()).create({ name, permissions });
  return text;
}

describe("the login of the console", () => {
  test("answers requests without a session with a problem [O2]", async () => {
    const server = await serveConsole();
    const response = await get(server, "/overview");
    expect(response.status).toBe(401);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await response.json()).toMatchObject({ status: 401, code: "LOGIN_MISSING", type: /LOGIN_MISSING/ });
  });

  test("sets a cookie that scripts and other sites cannot use [O2]", async () => {
    const server = await serveConsole();
    const response = await post(server, "/session", { token: TOKEN });
    expect(response.headers.get("set-cookie")).toMatch(
      /^skillgate_\d+=[\w-]{43}; Path=\/console; HttpOnly; SameSite=Strict$/,
    );
    expect(await (await post(server, "/session", { token: "wrong" })).json()).toMatchObject({ code: "LOGIN_INVALID" });
  });

  test("accepts the code of a link once [O2]", async () => {
    const server = await serveConsole();
    const code = new URL(server.createLoginLink()).hash.slice(1);
    expect((await post(server, "/session", { code })).status).toBe(204);
    expect((await post(server, "/session", { code })).status).toBe(401);
  });

  test("ends with the logout, and with the key [O2, P2]", async () => {
    const server = await serveConsole();
    const cookie = await logIn(server);
    expect((await get(server, "/session", { cookie })).status).toBe(200);
    await fetch(`${server.url}/console/api/session`, { method: "DELETE", headers: { ...HEADERS, cookie } });
    expect((await get(server, "/session", { cookie })).status).toBe(401);

    const ofKey = await logIn(server, await createKey(server, "ada", ["call:TestSkill.*"]));
    const stream = await get(server, "/events", { cookie: ofKey });
    await createKeys(await server.runtime.database()).revoke("ada");
    expect(await stream.text()).toContain("the key was revoked");
    expect((await get(server, "/session", { cookie: ofKey })).status).toBe(401);
  });
});

const LENGTHS = [
  ["/policy/test", "text", 32 << 10],
  ["/complete", "code", 256 << 10],
] as const;
const TITLE = "refuses a text at %s that takes long to analyse [O2]";
test.each(takeShare(LENGTHS.length, LENGTHS))(TITLE, { tags: "repeated" }, async (path, name, bytes) => {
  const server = await serveConsole();
  const cookie = await logIn(server);
  const answer = await post(server, path, { [name]: "[".repeat(bytes + 1) }, { cookie });
  expect(answer.status).toBe(400);
  const detail = `Cannot use the request: ${name} must have at most ${bytes} bytes (REQUEST_INVALID)`;
  expect(await answer.json()).toMatchObject({ code: "REQUEST_INVALID", detail });
  const longest = await post(server, path, { [name]: "[".repeat(bytes) }, { cookie });
  expect(await longest.text()).not.toContain("must have at most");
});

test("cuts the arguments and answers of a run, and more of those after the first 512 Ki characters [O2]", async () => {
  const server = await serveBank();
  const call = 'await device.BankSkill.log({ line: "x".repeat(30_000) });';
  const { runId } = await server.runtime.run(call.repeat(16));
  const answer = await get(server, `/runs/${runId}`, { cookie: await logIn(server) });
  const { timeline } = (await answer.json()) as RecordedRunDetail;
  const lengths = timeline.map((row) => [row.arguments.length, row.answer?.length]);
  expect(lengths).toEqual([
    ...Array.from({ length: 13 }, () => [20_001, 20_001]),
    [20_001, 201],
    ...Array.from({ length: 2 }, () => [201, 201]),
  ]);
});

describe("requests of other pages", () => {
  test.each([
    ["without the header of the console", { "x-skillgate-console": "" }, false],
    ["of another origin", { origin: "http://127.0.0.1:1" }, true],
    ["of a frame or a form of another site", { "sec-fetch-site": "same-site" }, true],
    ["of an opaque origin", { origin: "null" }, true],
  ])("are refused %s [O2, V6]", async (_title, headers, hasHeader) => {
    const server = await serveConsole();
    const cookie = await logIn(server);
    const { "x-skillgate-console": own, ...others } = HEADERS;
    const response = await fetch(`${server.url}/console/api/servers`, {
      method: "POST",
      headers: { ...others, cookie, ...(hasHeader && { "x-skillgate-console": own, ...(headers as object) }) },
      body: "{}",
    });
    expect(response.status).toBe(403);
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("get no CORS headers, also from an allowed origin [O2]", async () => {
    const server = await serveConsole({ settings: { allowedOrigins: ["https://app.example"] } });
    const preflight = await fetch(`${server.url}/console/api/servers`, {
      method: "OPTIONS",
      headers: { origin: "https://app.example", "access-control-request-method": "POST" },
    });
    expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("cannot frame the page or load anything into it [O2]", async () => {
    const server = await serveConsole();
    const response = await fetch(server.url, { headers: { accept: "text/html" } });
    const policy = response.headers.get("content-security-policy") ?? "";
    for (const part of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"])
      expect(policy).toContain(part);
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(await response.text()).not.toMatch(
      /<script(?! type="module" src="\/console\/assets\/app\.js\?v=)|<style| on\w+=/,
    );
  });
});

test("answers the page only to clients that ask for HTML [O2]", async () => {
  const server = await serveConsole();
  expect((await fetch(server.url, { headers: { accept: "text/html" } })).status).toBe(200);
  const problem = await fetch(server.url, { headers: { accept: "application/json" } });
  expect([problem.status, problem.headers.get("content-type")]).toEqual([401, "application/problem+json"]);
});

test("a key sees only what it may, and changes nothing [O2, P1]", async () => {
  const server = await serveConsole();
  const cookie = await logIn(server, await createKey(server, "bob", ["call:TestSkill.add"]));
  await server.runtime.run("return await device.TestSkill.add({ a: 1, b: 2 })");
  const overview = (await (await get(server, "/overview", { cookie })).json()) as Overview;
  expect(overview).toMatchObject({ methods: 1, waitingApprovals: null, recentRuns: [], problems: [] });
  expect(Math.max(...overview.minutes.calls)).toBe(0);
  const list = (await (await get(server, "/methods", { cookie })).json()) as { methods: readonly MethodSummary[] };
  expect(list.methods.map(({ path }) => path)).toEqual(["TestSkill.add"]);
  expect(await (await get(server, "/skills/TestSkill", { cookie })).json()).toMatchObject({ settings: [] });
  const refusal = await post(server, "/skills/TestSkill/enabled", { enabled: false }, { cookie });
  expect(await refusal.json()).toMatchObject({ status: 403, code: "ADMIN_MISSING" });
});

test("a stream continues behind the last event, without a loss or a copy [O2]", async () => {
  const server = await serveConsole();
  const cookie = await logIn(server);
  const run = (): Promise<unknown> => server.runtime.run("return await device.TestSkill.add({ a: 1, b: 2 })");
  const first = await readEvents(server, cookie, "", { until: "hello" });
  await run();
  await run();
  const second = await readEvents(server, cookie, first.at(-1)?.id ?? "", { until: "run", count: 2 });
  expect(second.filter(({ name }) => name === "run")).toHaveLength(2);
  const firstRun = second.find(({ name }) => name === "run");
  const third = await readEvents(server, cookie, firstRun?.id ?? "", { until: "run", count: 1 });
  expect(third.filter(({ name }) => name === "run").map(({ id }) => id)).toEqual([second.at(-1)?.id]);
  const [hello] = await readEvents(server, cookie, "another-process:5", { until: "hello" });
  expect(hello?.data).toContain('"isComplete":false');
});

interface ReadEvent {
  readonly name: string;
  readonly id: string;
  readonly data: string;
}

/** Reads events until there are `count` of a name, and disconnects. */
async function readEvents(
  server: ConsoleServer,
  cookie: string,
  lastId: string,
  { until, count = 1 }: { readonly until: string; readonly count?: number },
): Promise<readonly ReadEvent[]> {
  const controller = new AbortController();
  const response = await fetch(`${server.url}/console/api/events`, {
    headers: { cookie, ...(lastId !== "" && { "last-event-id": lastId }) },
    signal: controller.signal,
  });
  const events: ReadEvent[] = [];
  let text = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    const parts = text.split("\n\n");
    text = parts.pop() ?? "";
    for (const part of parts) {
      const [, name = "", id = "", data = ""] = /^event: (.*)\nid: (.*)\ndata: (.*)$/.exec(part) ?? [];
      if (name !== "") events.push({ name, id, data });
    }
    if (events.filter((event) => event.name === until).length >= count) break;
  }
  controller.abort();
  return events;
}

test("describes a store that fails without its place: a key of few rights reads the answer, too", () => {
  const failure = createError("STORE_UNAVAILABLE", "/srv/state/skillgate.db: no such file", { place: "/srv/state" });
  expect(toProblem(failure)).toMatchObject({ status: 502, detail: "Cannot use the store (STORE_UNAVAILABLE)" });
});
