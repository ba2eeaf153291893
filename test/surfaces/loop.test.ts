// @module-tag rest

import { createServer, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { completeCode } from "../../src/registry/index.ts";
import type { Runtime } from "../../src/runtime.ts";
import type { SourceSettings } from "../../src/runtime/options.ts";
import { createRuntime } from "../../src/runtime.ts";
import { SERVER_DEFAULTS, serveHttp, type HttpServer } from "../../src/surfaces/http/index.ts";
import { canProbe, LoopProbe, requireShortTurns } from "../support/loop-probe.ts";

const BYTES = 1_000_000;
const MEMBERS = 60_000;

const SKILL = `
/** Gives what a hostile server gives. */
export class HostileSkill {
  /** Give an object with many members. @readonly */
  wide() { return Object.fromEntries(Array.from({ length: ${MEMBERS} }, (_, id) => ["name" + id, id])); }
  /** Give many rows. @readonly */
  rows() { return Array.from({ length: 10_000 }, (_, id) => ({ id, a: 1, b: "x", c: null, d: [] })); }
  /** Give bytes. @readonly */
  bytes() { return new Uint8Array(${BYTES}); }
  /** Repeat a text. @param {string} text @returns {string} @readonly */
  repeat(text) { return text.repeat(Math.ceil(${BYTES} / text.length)); }
  /** Change something, and repeat a text. @param {string} text @returns {string} */
  change(text) { return text.repeat(Math.ceil(${BYTES} / text.length)); }
  /** Fail with a long text. @param {string} text @returns {string} @readonly */
  fail(text) { throw new Error(text.repeat(Math.ceil(${BYTES} / text.length))); }
  /** Take a value. @param {{ value?: unknown }} input @returns {number} @readonly */
  take(input) { return 1; }
}`;

const WIDE = `Object.fromEntries(Array.from({ length: ${MEMBERS} }, (_, id) => ["name" + id, id]))`;
const LONG_NAMES = `Object.fromEntries(Array.from({ length: 30_000 }, (_, id) => ["a long name of a member, " + id, id]))`;
const DEEP = "(() => { let v = 1; for (let i = 0; i < 450; i++) v = i % 2 ? [v] : { v }; return v; })()";

/** The beginnings of what masks look for, escapes, and lists of bytes. */
const PREFIXES: readonly string[] = [
  ..."sk- eyJ ghp_ github_pat_ xoxb- AKIA AIza ya29. npm_ hf_ glpat- sg_ pk_live_ ://a: &# %4 1,2, aB3".split(" "),
  "-----BEGIN A",
  "\\u00",
  "\\",
  '"',
  "\n",
];

const repeat = (text: string): string => `${JSON.stringify(text)}.repeat(${Math.ceil(BYTES / text.length)})`;

const FROM_GUEST: Readonly<Record<string, string>> = {
  "many members": WIDE,
  "long names": LONG_NAMES,
  "deep values": DEEP,
  bytes: "new Uint8Array(3e6)",
  numbers: `Array.from({ length: 200_000 }, (_, id) => id)`,
  dates: `Array.from({ length: 30_000 }, (_, id) => new Date(id))`,
  "an error with many members": `throw Object.assign(new Error("x"), ${WIDE})`,
  "many prints": `for (let id = 0; id < ${MEMBERS}; id++) console.log(id)`,
  "an argument with many members": `await device.HostileSkill.take({ value: ${WIDE} })`,
  "an argument with many small objects": `await device.HostileSkill.take({ value: Array.from({ length: ${MEMBERS} }, (_, id) => ({ id })) })`,
  "an argument with as many names as an object may have, several times": `await device.HostileSkill.take({ value: Array.from({ length: 6 }, (_, at) => Object.fromEntries(Array.from({ length: 9_999 }, (_, id) => ["n" + at + id, id]))) })`,
  "dates as an argument": `await device.HostileSkill.take({ value: Array.from({ length: 30_000 }, (_, id) => new Date(id)) })`,
  "a deep argument": `await device.HostileSkill.take({ value: ${DEEP} })`,
  "unknown arguments": `await device.HostileSkill.take(${WIDE})`,
  "unknown arguments with long names": `await device.HostileSkill.take(${LONG_NAMES})`,
  "bytes as an argument": `await device.HostileSkill.take({ value: new Uint8Array(700_000) })`,
  "many small calls": `await Promise.all(Array.from({ length: 450 }, (_, id) => device.HostileSkill.take({ value: id })))`,
  "many calls that fail": `await Promise.allSettled(Array.from({ length: 450 }, (_, id) => device.HostileSkill.take({ valeu: id })))`,
  ...Object.fromEntries(
    PREFIXES.flatMap((prefix) => [
      [`a result of ${JSON.stringify(prefix)}`, repeat(prefix)],
      [`an error of ${JSON.stringify(prefix)}`, `throw new Error(${repeat(prefix)})`],
      [`a print of ${JSON.stringify(prefix)}`, `console.log(${repeat(prefix)})`],
      [
        `an argument of ${JSON.stringify(prefix)}`,
        `await device.HostileSkill.take({ value: ${repeat(prefix)}.slice(0, 900_000) })`,
      ],
    ]),
  ),
};

const FROM_SERVER: Readonly<Record<string, string>> = {
  "many members": "await device.HostileSkill.wide()",
  "many members, three times at once": "await Promise.all([1, 2, 3].map(() => device.HostileSkill.wide()))",
  "many rows": "await device.HostileSkill.rows()",
  "sixty long texts of effects at once":
    "await Promise.all(Array.from({ length: 60 }, () => device.HostileSkill.change('some text')))",
  bytes: "await device.HostileSkill.bytes()",
  ...Object.fromEntries(
    PREFIXES.flatMap((prefix) => [
      [`a text of ${JSON.stringify(prefix)}`, `await device.HostileSkill.repeat(${JSON.stringify(prefix)})`],
      [`an error of ${JSON.stringify(prefix)}`, `await device.HostileSkill.fail(${JSON.stringify(prefix)})`],
    ]),
  ),
};

/** Bodies that an API answers with, by their media types. */
const FROM_API: Readonly<Record<string, readonly [type: string, body: string]>> = {
  "many members": ["application/json", JSON.stringify(Object.fromEntries(numbers(MEMBERS, (id) => [`name${id}`, id])))],
  lists: ["application/json", `[${"[],".repeat(MEMBERS)}1]`],
  objects: ["application/json", JSON.stringify(numbers(MEMBERS / 2, (id) => ({ id })))],
  "large numbers": ["application/json", `[${"12345678901234567890,".repeat(BYTES / 21)}1]`],
  "a long text": ["application/json", JSON.stringify("sk-".repeat(BYTES / 3))],
  levels: ["application/json", "[".repeat(90_000) + "]".repeat(90_000)],
  lines: ["application/x-ndjson", '{"id":1}\n'.repeat(400_000)],
  events: ["text/event-stream", 'data: {"id":1}\n\n'.repeat(MEMBERS)],
  HTML: ["text/html", "<title".repeat(BYTES / 6)],
};

function numbers<Item>(length: number, make: (id: number) => Item): Item[] {
  return Array.from({ length }, (_, id) => make(id));
}

/** Texts that a caller sends as a program. They have at most as many bytes as are read. */
const SOURCES: Readonly<Record<string, string>> = {
  "unknown names": Array.from({ length: 10_000 }, (_, id) => `unknownName${id};`).join("\n"),
  "unknown methods": Array.from({ length: 5_000 }, (_, id) => `device.HostileSkill.takke({ value: ${id} });`).join(
    "\n",
  ),
  "unknown skills": Array.from({ length: 5_000 }, (_, id) => `device.HostleSkill${id}.take({});`).join("\n"),
  "invalid calls": Array.from({ length: 1_300 }, (_, id) => `device.HostileSkill.take({ valeu: ${id} });`).join("\n"),
  "wrong arguments": Array.from({ length: 1_300 }, (_, id) => `device.HostileSkill.repeat(${id});`).join("\n"),
  "forbidden calls": "process.exit(1);".repeat(2_500),
  "valid calls, of which the last is refused": `${"device.HostileSkill.take({});\n".repeat(1_400)}no;`,
  tokens: "a=a+1;".repeat(40_000),
  "as many tokens as are read": `let a=1;${"a=a+1;".repeat(2_600)}no;`,
  "types as many as are read": "f(1 as any as string);".repeat(1_700),
  "a list as long as is read": `no;[${"1,".repeat(7_900)}]`,
  templates: `\`${"${1}".repeat(60_000)}\``,
  "one long text": `"${"x".repeat(250_000)}"`,
  parentheses: "(".repeat(100_000),
  lines: "\n".repeat(250_000),
  prose: "Please do this. ".repeat(15_000),
  fences: "```js\n1\n```\n".repeat(15_000),
  imports: "import a from 'b';\n".repeat(12_000),
  "missing awaits": `async function f() {}\n${"f();".repeat(15_000)}`,
  members: `a${".b".repeat(100_000)}`,
  Python: "def f(x):\n  return x\n".repeat(10_000),
  ...Object.fromEntries(PREFIXES.map((prefix) => [JSON.stringify(prefix), prefix.repeat(250_000 / prefix.length)])),
};

let folder: string;
let api: Server;
let runtime: Runtime;
let server: HttpServer;
let probe: LoopProbe;

beforeAll(async () => {
  if (!canProbe) return;
  folder = mkdtempSync(join(tmpdir(), "skillgate-loop-"));
  writeFileSync(join(folder, "hostile.mjs"), SKILL);
  const bodies = new Map(
    Object.entries(FROM_API).map(([name, [type, body]]) => [name, { type, body: Buffer.from(body) }]),
  );
  api = createServer((request, response) => {
    const { type, body } = bodies.get(decodeURIComponent((request.url ?? "").slice(1))) ?? { type: "", body: "" };
    response.writeHead(200, { "content-type": type }).end(body);
  });
  await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
  const sources = { api: describeApi(api) };
  runtime = await createRuntime({ cwd: folder, skillsDir: folder, mcpServers: {}, sources, typecheck: true });
  await runtime.ready;
  server = await serveHttp(runtime, { ...SERVER_DEFAULTS, port: 0, auth: false });
  probe = new LoopProbe();
  // Everything is loaded, and compiled at least once.
  for (const code of ["await device.HostileSkill.wide()", WIDE, "no;", "await device.HostileSkill.take({ v: 1 })"])
    for (let count = 0; count < 3; count++) await runtime.run(code, { limits: LIMITS });
}, 60_000);

afterAll(async () => {
  if (!canProbe) return;
  probe.close();
  await server.close();
  await runtime.close();
  api.close();
  rmSync(folder, { recursive: true });
});

const LIMITS = { cpuMs: 30_000, wallMs: 60_000 };

describe.runIf(canProbe)("keeps the turns of the event loop short [P4]", () => {
  test.each(Object.entries(FROM_GUEST))("from a program: %s", async (_name, code) => {
    await requireShortTurns(probe, () => runtime.run(code, { limits: LIMITS }));
  });

  test.each(Object.entries(FROM_SERVER))("from a skill: %s", async (_name, code) => {
    await requireShortTurns(probe, () => runtime.run(code, { limits: LIMITS }));
  });

  test.each(Object.keys(FROM_API))("from an API: %s", async (name) => {
    const code = `const value = await device.HostileAPI.get({ name: ${JSON.stringify(name)} }); value.length`;
    await requireShortTurns(probe, () => runtime.run(code, { limits: LIMITS }));
  });

  test.each(Object.entries(SOURCES))("from a caller, a program of %s", async (_name, code) => {
    await requireShortTurns(probe, () => call("run_code", { code }));
  });

  test.each([
    ["unknown arguments", Object.fromEntries(Array.from({ length: MEMBERS }, (_, id) => [`name${id}`, id]))],
    ["a long text", { value: "sk-".repeat(BYTES / 3) }],
    ["numbers", { value: Array.from({ length: 150_000 }, (_, id) => id) }],
  ])("from a caller, arguments: %s", async (_name, input) => {
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "HostileSkill.take", arguments: input },
    });
    await requireShortTurns(probe, () => post(body));
  });

  test.each<readonly [string, unknown]>([
    ["many members", Object.fromEntries(numbers(MEMBERS, (id) => [`name${id}`, id]))],
    ["small objects", numbers(MEMBERS, (id) => ({ id }))],
    ["numbers", numbers(150_000, (id) => id)],
    ["as many digits as fit", numbers(500_000, () => 1)],
    ["as many lists as fit", numbers(350_000, () => [])],
    ["a long text", "sk-".repeat(BYTES / 3)],
    ["levels", JSON.parse("[".repeat(150) + "]".repeat(150))],
  ])("from a caller, an input of a program: %s", async (_name, input) => {
    const body = { name: "run_code", arguments: { code: "(await device.input()).length", input } };
    await requireShortTurns(probe, () =>
      post(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: body })),
    );
  });

  test.each(["/rpc", "/mcp", "/tools/run_code", "/nothing"])("from a caller, parts of one byte at %s", async (path) => {
    const parts = '1\r\n"\r\n'.repeat(BYTES);
    const head = `POST ${path} HTTP/1.1\r\nhost: ${new URL(server.url).host}\r\ncontent-type: application/json\r\n`;
    await requireShortTurns(probe, () => write(`${head}transfer-encoding: chunked\r\n\r\n${parts}0\r\n\r\n`));
  });

  test.each([
    ["messages", [1, 1, 0x31]],
    ["pings", [9, 1]],
    ["parts of a message", [0, 0, 0x31]],
  ])("from a caller, WebSocket frames with small %s", async (_name, [kind = 0, isLast = 0, ...content]) => {
    const toFrame = (code: number): number[] => [(isLast << 7) | code, 0x80 | content.length, 0, 0, 0, 0, ...content];
    const frames = Buffer.from([toFrame(kind || 1), ...numbers(20_000, () => toFrame(kind))].flat());
    const key = "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==";
    const head = `GET /ws HTTP/1.1\r\nhost: ${new URL(server.url).host}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n${key}\r\n\r\n`;
    const end = Buffer.from([0x88, 0x80, 0, 0, 0, 0]);
    await requireShortTurns(probe, () => write(head, Buffer.concat([frames, end])));
  });

  test.each(Object.entries(SOURCES))("from a browser, completions of %s", async (_name, code) => {
    const { catalog } = runtime;
    await requireShortTurns(probe, async () => completeCode(code, catalog));
  });

  test("finds a turn that takes long", async () => {
    const json = JSON.stringify(Object.fromEntries(numbers(MEMBERS, (id) => [`name${id}`, id])));
    const work = async (): Promise<void> => {
      for (let count = 0; count < 10; count++) JSON.parse(json);
    };
    await expect(requireShortTurns(probe, work)).rejects.toThrow("to be less than or equal to 50");
  });
});

/** Writes the document of an API. */
function describeApi(server: Server): SourceSettings {
  const parameters = [{ name: "name", in: "path", required: true, schema: { type: "string" } }];
  const paths = { "/{name}": { get: { operationId: "get", parameters, responses: {} } } };
  writeFileSync(join(folder, "api.json"), JSON.stringify({ openapi: "3.1.0", info: { title: "Hostile" }, paths }));
  const { port } = server.address() as AddressInfo;
  return { openapi: "./api.json", skill: "HostileAPI", server: `http://127.0.0.1:${port}`, private: true };
}

function call(name: string, args: object): Promise<void> {
  return post(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } }));
}

/** Writes to a connection, and more after its first answer, until the server has closed it. */
function write(text: string, more?: Buffer): Promise<void> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname).on("error", () => {});
    socket.once("data", () => (more === undefined ? socket.end() : socket.write(more)));
    socket.on("data", () => {}).on("close", () => resolve());
    socket.write(text);
  });
}

async function post(body: string): Promise<void> {
  const response = await fetch(`${server.url}/rpc`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  await response.arrayBuffer();
}
