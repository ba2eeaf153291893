// @module-tag rest

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { defineSkill } from "../../../src/authoring/define-skill.ts";
import { createRuntime, type Runtime } from "../../../src/runtime.ts";
import { openDatabase } from "../../../src/store/index.ts";
import { createConsole } from "../../../src/surfaces/console/index.ts";
import { type HttpServer, SERVER_DEFAULTS, serveHttp } from "../../../src/surfaces/http/index.ts";
// @ts-expect-error a script that benchmarks use too, without declarations
import { fillStore } from "../../bench/console/fill-store.mjs";
import { canProbe, LoopProbe, requireShortTurns } from "../../support/loop-probe.ts";

const BYTES = 900_000;
const RUNS = 30_000;

/** The server takes addresses of about this length. */
const MAX_ADDRESS_UNITS = 15_000;

/** The body limit, and below the limits of texts that are read on the event loop. */
const SIZES = [BYTES, 250_000, 30_000];

const fill = (text: string, units = BYTES): string => text.repeat(Math.ceil(units / text.length)).slice(0, units);

/** Texts of what searches and patterns look for, and the beginnings of what masks look for. */
const TEXTS = ["a", "a*", "a*,", ".*", "Lerge0.*a*e*,", "%_", '"', "\n", '{"a":', "[", "sk-", "://a:", "-----BEGIN A"];

const WIDE = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`name${at}`, at]));
const WIDE_TEXTS = Object.fromEntries(Array.from({ length: 40_000 }, (_, at) => [`n${at}`, `sk-${at}`]));
const MANY = Array.from({ length: 60_000 }, (_, at) => `call:Skill${at}.*`);

let home: string;
let runtime: Runtime;
let server: HttpServer;
let probe: LoopProbe;

beforeAll(async () => {
  if (!canProbe) return;
  home = mkdtempSync(join(tmpdir(), "skillgate-console-loop-"));
  mkdirSync(join(home, "store"));
  await (await openDatabase({ folder: join(home, "store") })).close();
  fillStore(join(home, "store"), RUNS);
  writeFiles();
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    XDG_STATE_HOME: join(home, ".state"),
    SKILLGATE_TRUSTED_FOLDERS: home,
  };
  const methods = Object.fromEntries(
    Array.from({ length: 2_000 }, (_, at) => [`method${at}`, { description: `Method ${at}`, run: () => at }]),
  );
  const skills = [
    defineSkill({ name: "LargeSkill", description: "Has many methods", methods }),
    defineSkill({
      name: "SettingsSkill",
      description: "Has settings",
      settings: { type: "object", properties: { city: { type: "string" } } },
      methods: { get: { description: "Get", run: () => 1 } },
    }),
  ];
  runtime = await createRuntime({
    skillsDir: false,
    skills,
    cwd: home,
    env,
    discover: true,
    store: join(home, "store"),
    typecheck: false,
  });
  await runtime.ready;
  const config = {
    options: { cwd: home, env, home },
    settingsFile: join(home, "settings.yaml"),
    skillsFolder: join(home, "skills"),
  };
  const pages = createConsole(runtime, { config });
  server = await serveHttp(runtime, { ...SERVER_DEFAULTS, port: 0, auth: false, drainSeconds: 0 }, undefined, {
    pages,
  });
  probe = new LoopProbe();
  for (const path of ["/overview", "/methods", "/runs", "/audit", "/approvals", "/patterns?text=a", "/keys"])
    await get(path);
}, 120_000);

afterAll(async () => {
  if (!canProbe) return;
  probe.close();
  await server.close();
  await runtime.close();
  rmSync(home, { recursive: true });
});

/** Addresses with a text of the browser in them. */
const ADDRESSES: readonly string[] = [
  "/methods/",
  "/skills/",
  "/servers/",
  "/runs/",
  "/approvals/",
  "/keys/a/usage?",
  "/patterns?kind=permission&text=",
  "/patterns?kind=row&text=",
  "/search?q=",
  "/policy/explain?path=",
  "/policy/explain?path=LargeSkill.method1&scopes=",
  "/policy/explain?path=LargeSkill.method1&caller=",
  "/audit?method=",
  "/audit?caller=",
];

/** Filters of runs, whose texts have at most 200 characters. */
const RUN_FILTERS: readonly string[] = [
  ...["a", "%_", "\\", "*", "zz", "sk-"].map((text) => `text=${encodeURIComponent(fill(text, 200))}`),
  "text=article",
  "text=zz&sort=duration",
  "text=zz&sort=caller&order=up",
  "method=LogSkill",
  "method=LogSkill.write&sort=calls",
  "method=Nope&text=zz&sort=state",
  "state=failed,refused,cancelled&sort=duration",
  "min=899&text=limit&method=ShopSkill.method1",
  "caller=caller-1&text=zz",
  "caller=nobody&sort=duration",
  "program=nope&text=zz",
  "text=zz&offset=29000&limit=500",
  "limit=500&offset=29000&sort=state",
];

/** Bodies that a page sends; `text` stands for each hostile text. */
const BODIES: Readonly<Record<string, (text: unknown) => unknown>> = {
  "POST /session": (text) => ({ token: text }),
  "POST /pasted-servers": (text) => ({ text }),
  "POST /client-servers": (text) => ({ client: text, from: text, name: "a" }),
  "POST /servers": (text) => ({ name: "a", entry: { command: text }, scope: "project" }),
  "POST /servers#name": (text) => ({ name: text, entry: { command: "true" }, scope: "project" }),
  "PUT /servers/off": (text) => ({ entry: { command: "true", args: [text] } }),
  "PATCH /skills/SettingsSkill/settings": (text) => ({ values: { city: text } }),
  "POST /keys": (text) => ({ name: "a", permissions: [text] }),
  "POST /keys#name": (text) => ({ name: text, permissions: ["call:*"] }),
  "POST /policy/test": (text) => ({ text }),
  "POST /complete": (text) => ({ code: text }),
  "POST /check": (text) => ({ source: text }),
  "POST /run": (text) => ({ source: text }),
  "POST /chat": (text) => ({ text }),
  "POST /approvals/a": (text) => ({ answer: text }),
  "POST /runs/run-000001/skill": (text) => ({ name: text }),
};

/** Values of other shapes, and the texts that a page for servers reads. */
const OTHER_BODIES: readonly (readonly [name: string, route: string, body: unknown])[] = [
  ["many members", "POST /pasted-servers", { text: JSON.stringify({ mcpServers: mapValues(WIDE, 12_000, 1) }) }],
  [
    "many servers",
    "POST /pasted-servers",
    { text: JSON.stringify({ mcpServers: mapValues(WIDE, 6_500, { command: "true" }) }) },
  ],
  [
    "a server with many members",
    "POST /pasted-servers",
    { text: JSON.stringify({ a: { command: "true", env: mapValues(WIDE_TEXTS, 10_000, "sk-") } }) },
  ],
  [
    "a server with many arguments",
    "POST /pasted-servers",
    { text: JSON.stringify({ a: { command: "true", args: MANY.slice(0, 10_000) } }) },
  ],
  ["many lines", "POST /pasted-servers", { text: fill("[mcp_servers.a]\ncommand = 1\n", 250_000) }],
  ["many lines of text", "POST /pasted-servers", { text: fill("npx -y server\n", 250_000) }],
  ["a long command", "POST /pasted-servers", { text: `npx ${fill("-y 'a' ", 250_000)}` }],
  ["a long address", "POST /pasted-servers", { text: `https://example.com/${fill("a?b=c&", 250_000)}` }],
  ["comments", "POST /pasted-servers", { text: `{${fill("/* a */ // b\n", 250_000)}}` }],
  ["many members", "POST /servers", { name: "a", entry: { command: "true", env: WIDE_TEXTS }, scope: "project" }],
  ["many members", "PUT /servers/off", { entry: { command: "true", ...WIDE } }],
  ["many values", "PATCH /skills/SettingsSkill/settings", { values: WIDE }],
  ["many permissions", "POST /keys", { name: "a", permissions: MANY.slice(0, 40_000) }],
  ["many limits", "POST /keys", { name: "a", permissions: ["call:*"], limits: WIDE }],
  ["many numbers", "POST /run", { source: "1", again: Array.from({ length: 100_000 }, (_, at) => at) }],
  ["many members", "POST /run", { source: "1", ...WIDE }],
  ["many rows", "POST /policy/test", { text: fill("- { path: A.b, expect: allow }\n", 32_000) }],
  ["many parameters", "POST /runs/run-000001/skill", { name: "a", parameters: MANY.slice(0, 40_000) }],
];

describe.runIf(canProbe)("keeps the turns of the event loop short for a browser [P4, O2]", () => {
  test.each(ADDRESSES)("that asks for %s", async (path) => {
    for (const units of [800, 1_950, MAX_ADDRESS_UNITS])
      await requireShortTurns(probe, async () => {
        for (const text of TEXTS) await get(path + encodeURIComponent(fill(text, units)).slice(0, MAX_ADDRESS_UNITS));
      });
  });

  test.each(RUN_FILTERS)("that lists runs with %s", async (filter) => {
    await requireShortTurns(probe, () => get(`/runs?${filter}`));
    await requireShortTurns(probe, () => get(`/runs/run-015000/neighbours?${filter}`));
  });

  test.each(Object.entries(BODIES))("that sends %s", async (route, createBody) => {
    for (const size of SIZES)
      await requireShortTurns(probe, async () => {
        for (const text of TEXTS) await send(route, createBody(fill(text, size)));
      });
    await requireShortTurns(probe, () => send(route, createBody(WIDE)));
  });

  test.each(OTHER_BODIES)("that sends %s in %s", async (_name, route, body) => {
    await requireShortTurns(probe, () => send(route, body));
  });

  test("finds a request that takes long", async () => {
    const json = JSON.stringify(WIDE);
    const work = async (): Promise<void> => {
      await get("/session");
      for (let count = 0; count < 10; count++) JSON.parse(json);
    };
    await expect(requireShortTurns(probe, work)).rejects.toThrow("to be less than or equal to 50");
  });
});

function mapValues(members: object, count: number, value: unknown): object {
  return Object.fromEntries(
    Object.keys(members)
      .slice(0, count)
      .map((name) => [name, value]),
  );
}

async function get(path: string): Promise<void> {
  await (await fetch(`${server.url}/console/api${path}`)).arrayBuffer();
}

/** Writes the files that requests change. */
function writeFiles(): void {
  writeFileSync(join(home, "settings.yaml"), "limits:\n  calls: 1000\n");
  writeFileSync(join(home, ".mcp.json"), JSON.stringify({ mcpServers: { off: { command: "true", disabled: true } } }));
}

/** The text of the body is made before, so that it does not count. */
async function send(route: string, content: unknown): Promise<void> {
  const [method = "", path = ""] = route.split(/[ #]/);
  const body = JSON.stringify(content);
  writeFiles();
  await probe.takeLongest();
  const headers = { "content-type": "application/json", "x-skillgate-console": "1" };
  await (await fetch(`${server.url}/console/api${path}`, { method, headers, body })).arrayBuffer();
}
