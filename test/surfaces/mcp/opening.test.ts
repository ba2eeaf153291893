import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { PassThrough } from "node:stream";
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import { expect, onTestFinished, test } from "vitest";

import { OWNER } from "../../../src/model/caller.ts";
import { createRuntime } from "../../../src/runtime.ts";
import { createMcpSurface } from "../../../src/surfaces/mcp/index.ts";
import { getFirstTexts, OpeningStream } from "../../../src/surfaces/mcp/opening/index.ts";
import { folder } from "../serving.ts";
import { INITIALIZE, project, start } from "./stdio-server.ts";

const FIXTURE = resolve("test/fixtures/mcp/server.js");
const LIST = { jsonrpc: "2.0", id: 2, method: "tools/list" };
const CALL = {
  jsonrpc: "2.0",
  id: 3,
  method: "tools/call",
  params: { name: "run_code", arguments: { code: "await device.LateSkill.ask()" } },
};
const INITIALIZED = { jsonrpc: "2.0", method: "notifications/initialized" };
const BUILTIN = ["search_skills", "describe_function", "run_code"];

/** A project with a skill that is not loaded before the file `go` is there. */
function lateProject(files: Readonly<Record<string, string>> = {}): string {
  const cwd = project(files);
  const skill = `
import { existsSync } from "node:fs";
while (!existsSync(${JSON.stringify(join(cwd, "go"))})) await new Promise((resolve) => setTimeout(resolve, 20));
/** Is loaded late. */
export class LateSkill {
  /** Answers. */
  ask(): string { return "late"; }
}
`;
  writeFileSync(join(cwd, "skills/late.ts"), skill);
  return cwd;
}

const go = (cwd: string): void => writeFileSync(join(cwd, "go"), "");

function toolNames(line: string): readonly string[] {
  const { result } = JSON.parse(line) as { readonly result: { readonly tools: readonly { readonly name: string }[] } };
  return result.tools.map(({ name }) => name);
}

test("answers the first requests before a skill is loaded, and calls when it is [V1]", { tags: "rest" }, async () => {
  const cwd = lateProject();
  const server = start(cwd);
  server.write(INITIALIZE, INITIALIZED, LIST, CALL);
  expect(JSON.parse(await server.line('"id":1'))).toMatchObject({ result: { serverInfo: { name: "skillgate" } } });
  expect(toolNames(await server.line('"id":2'))).toEqual(BUILTIN);
  expect(server.lines).toHaveLength(2);
  go(cwd);
  await server.line("notifications/tools/list_changed");
  expect(JSON.parse(await server.line('"id":3'))).toMatchObject({ result: { content: [{ text: "late" }] } });
  server.write({ ...LIST, id: 4 });
  expect(toolNames(await server.line('"id":4'))).toContain("LateSkill__ask");
  expect(server.lines.filter((line) => line.includes('"id":1'))).toHaveLength(1);
});

test("answers the first requests with the texts of the last start [V1]", { tags: "rest" }, async () => {
  const cwd = lateProject();
  const first = start(cwd);
  go(cwd);
  first.write(INITIALIZE, INITIALIZED, LIST);
  await first.line("notifications/tools/list_changed");
  first.child.stdin.end();
  await first.exit;
  rmSync(join(cwd, "go"));
  const second = start(cwd);
  second.write(INITIALIZE, INITIALIZED, LIST);
  expect(await second.line('"id":1')).toContain("LateSkill");
  expect(toolNames(await second.line('"id":2'))).toContain("LateSkill__ask");
  go(cwd);
  second.write({ ...LIST, id: 4 });
  await second.line('"id":4');
  expect(second.lines).toHaveLength(3);
});

test.each([["both"], ["tools"]])(
  "waits for the methods where the list has to show them (%s) [V1]",
  { tags: "rest" },
  async (expose) => {
    const cwd = lateProject();
    const server = start(cwd, "--expose", expose);
    server.write(INITIALIZE, LIST);
    await server.line('"id":1');
    expect(server.lines).toHaveLength(1);
    go(cwd);
    expect(toolNames(await server.line('"id":2'))).toContain("LateSkill__ask");
  },
);

/** The settings of two servers, of which one never answers. */
const SERVERS = JSON.stringify({
  mcpServers: {
    mail: { command: process.execPath, args: [FIXTURE, "hang"], description: "Letters of the team" },
    "time-sheet": { command: process.execPath, args: [FIXTURE] },
    old: { command: process.execPath, args: [FIXTURE], disabled: true },
  },
});

function readInstructions(line: string): string {
  return (JSON.parse(line) as { readonly result: { readonly instructions: string } }).result.instructions;
}

test(
  "names the servers of the settings at the first start, and methods that were listed before [V1]",
  { tags: "rest" },
  async () => {
    const cwd = project({ "mcp.json": SERVERS });
    const first = start(cwd);
    first.write(INITIALIZE);
    const instructions = readInstructions(await first.line('"id":1'));
    expect(instructions).toContain("\n\n## Servers\n");
    expect(instructions).toMatch(/\nMailMCP \(Letters of the team\)\nTimeSheetMCP$/);
    const describe = { name: "describe_function", arguments: { path: "TimeSheetMCP.echo" } };
    first.write(INITIALIZED, { ...CALL, params: describe });
    expect(await first.line('"id":3')).toContain("message");
    first.child.kill("SIGTERM");
    await first.exit;
    const others = start(cwd, "--expose", "calls");
    others.write(INITIALIZE);
    expect(readInstructions(await others.line('"id":1'))).toMatch(
      /\nMailMCP \(Letters of the team\)\nTimeSheetMCP \(Fixture\): .*\becho\b.*$/,
    );
  },
);

test("names no servers of a project that is not trusted [V1] [P12]", async () => {
  const cwd = project({ "mcp.json": SERVERS });
  const server = start(folder(), "--folder", cwd);
  server.write(INITIALIZE);
  expect(readInstructions(await server.line('"id":1'))).not.toContain("Mail");
});

test("starts no known server that is started when needed [V1] [M3]", { tags: "rest" }, async () => {
  const mark = (cwd: string): string => join(cwd, "mark");
  const files = { "settings.yaml": 'mcp:\n  start: "when needed"\n' };
  const cwd = project(files);
  const script = `require("node:fs").writeFileSync(${JSON.stringify(mark(cwd))}, ""); import(${JSON.stringify(resolve("test/fixtures/mcp/server.js"))});`;
  const entry = { command: process.execPath, args: ["-e", script] };
  writeFileSync(join(cwd, "servers.json"), JSON.stringify({ mcpServers: { marked: entry } }));
  const search = {
    ...CALL,
    params: { name: "describe_function", arguments: { path: "MarkedMCP.echo" } },
  };
  for (const isStarted of [true, false]) {
    const server = start(cwd, "--mcp-config", "servers.json");
    server.write(INITIALIZE, LIST, search);
    expect(await server.line('"id":3')).toContain("message");
    server.child.stdin.end();
    await server.exit;
    expect(existsSync(mark(cwd))).toBe(isStarted);
    rmSync(mark(cwd), { force: true });
  }
});

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

const legacyRequests = (protocolVersion: string): readonly object[] => [
  { ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion } },
  LIST,
];

const MODERN_REQUESTS: readonly object[] = [
  { jsonrpc: "2.0", id: 1, method: "server/discover", params: { _meta: META } },
  { ...LIST, params: { _meta: META } },
];

test.each<readonly [string, readonly object[]]>([
  ...[...SUPPORTED_PROTOCOL_VERSIONS, "1999-01-01"].map((version) => [version, legacyRequests(version)] as const),
  ["2026-07-28", MODERN_REQUESTS],
])("answers the first requests as the loaded server does (%s) [V1]", async (_version, requests) => {
  const lines = requests.map((request) => `${JSON.stringify(request)}\n`);
  const early: string[] = [];
  const input = new PassThrough();
  const stream = new OpeningStream(
    input,
    (text) => early.push(text),
    () => getFirstTexts("auto"),
  );
  input.write(lines.join(""));
  await stream.quiet;

  const runtime = await createRuntime({ skillsDir: false });
  const surface = createMcpSurface(runtime, { bodyBytes: 1 << 20, sessions: { most: 1, idleMs: 60_000 } });
  onTestFinished(async () => {
    await surface.close();
    await runtime.close();
  });
  const [served, output] = [new PassThrough(), new PassThrough()];
  const exposure = { expose: "auto", names: "qualified", budgetTokens: 3_000 } as const;
  const connection = surface.serveStreams(served, output, { caller: OWNER, exposure });
  const answers: string[] = [];
  output.setEncoding("utf8").on("data", (text: string) => answers.push(text));
  served.end(lines.join(""));
  await connection.closed;
  expect(early.map((text) => JSON.parse(text) as unknown)).toEqual(answers.map((text) => JSON.parse(text) as unknown));
});
