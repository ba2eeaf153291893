import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime } from "../../src/runtime.ts";
import { resolveMcpOptions } from "../../src/runtime/mcp-options.ts";
import { readOptions } from "../../src/runtime/settings/index.ts";
import { getUserStateDir } from "../../src/runtime/user-state-dir.ts";

const SCOPE = { section: undefined, cwd: "/work", env: { HOME: "/home/ada" }, discover: false, lazy: false };

test("starts servers at once, reports changes and stores nothing by default [M3]", () => {
  expect(resolveMcpOptions(undefined, SCOPE)).toEqual({ start: "at once", changes: "report" });
});

test("stores tool listings in the user's own folder for the command line, and starts servers on demand [M3]", () => {
  expect(resolveMcpOptions({}, { ...SCOPE, discover: true, lazy: true })).toEqual({
    start: "when needed",
    changes: "report",
    stateDir: "/home/ada/.local/state/skillgate",
  });
  expect(resolveMcpOptions({ stateDir: false }, { ...SCOPE, discover: true })).not.toHaveProperty("stateDir");
});

test("reads the settings under mcp, and prefers the options of the program [M3]", () => {
  const section = { start: "when needed", idle: 1.5, changes: "hold" };
  expect(resolveMcpOptions({}, { ...SCOPE, section })).toEqual({
    start: "when needed",
    idleMs: 1_500,
    changes: "hold",
  });
  const use = { start: "at once", idleMs: 7, changes: "report", stateDir: "state" } as const;
  expect(resolveMcpOptions(use, { ...SCOPE, section })).toEqual({ ...use, stateDir: "/work/state" });
});

test.each([
  [{ start: "never" }, 'mcp.start must be at once or when needed, not "never"'],
  [{ changes: true }, "mcp.changes must be report or hold, not true"],
  [{ idle: "soon" }, 'mcp.idle must be a number above 0, not "soon"'],
  [{ idle: 0 }, "mcp.idle must be a number above 0, not 0"],
])("refuses %j with the valid values [X8]", (section, words) => {
  expect(() => resolveMcpOptions({}, { ...SCOPE, section })).toThrow(
    `Cannot use this option: ${words} (OPTION_INVALID)`,
  );
});

test.each([
  [{ XDG_STATE_HOME: "/state", HOME: "/home/ada" }, "/state/skillgate"],
  [{ HOME: "/home/ada" }, "/home/ada/.local/state/skillgate"],
  [{}, undefined],
])("stores the state of servers with %j in %s [M3]", (env, folder) => {
  expect(getUserStateDir(env)).toBe(folder);
});

test.each([
  ["settings", { settings: "own.yaml" }, []],
  ["a file of servers", { mcpConfig: "own.json" }, ["own"]],
  ["settings and discovers the others", { settings: "own.yaml", discover: true }, ["project", "user"]],
  ["nothing and discovers them", { discover: true }, ["project", "settled", "user"]],
])("uses the servers of files that a program names, with %s [M3]", async (_title, options, names) => {
  const folder = await mkdtemp(join(tmpdir(), "skillgate-named-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const declare = (name: string): string => JSON.stringify({ mcpServers: { [name]: { command: "node" } } });
  await mkdir(join(folder, ".config", "mcp"), { recursive: true });
  await writeFile(join(folder, ".config", "mcp", "mcp.json"), declare("user"));
  await writeFile(join(folder, ".mcp.json"), declare("project"));
  await writeFile(join(folder, "settings.yaml"), "mcp: { servers: { settled: { command: node } } }\n");
  await writeFile(join(folder, "own.yaml"), "{}\n");
  await writeFile(join(folder, "own.json"), declare("own"));
  const { servers } = await readOptions({ cwd: folder, env: { HOME: folder }, ...options });
  expect((await servers()).map(({ name }) => name).toSorted()).toEqual(names);
});

test("finds the tools of servers that a lazy runtime has not started [M3]", { tags: "rest" }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "skillgate-use-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "mcp.json");
  const fixture = { command: process.execPath, args: [join(process.cwd(), "test/fixtures/mcp/server.js")] };
  await writeFile(file, JSON.stringify({ mcpServers: { fixture } }));
  const open = () =>
    createRuntime({ skillsDir: false, mcpConfig: file, cwd: folder, lazy: true, mcp: { stateDir: "state" } });
  const first = await open();
  await first.ready;
  await first.close();
  expect(await readdir(join(folder, "state"))).toEqual(["accepted", "servers"]);
  const runtime = await open();
  onTestFinished(() => runtime.close());
  await runtime.known;
  expect(runtime.search("echo").results[0]?.path).toBe("FixtureMCP.echo");
  expect(runtime.servers.map(({ status }) => status)).toEqual(["disconnected"]);
  expect(await runtime.run('await device.FixtureMCP.echo("hi")')).toMatchObject({ kind: "completed", value: "hi" });
  expect(runtime.servers.map(({ status }) => status)).toEqual(["connected"]);
});
