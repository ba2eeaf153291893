import { ChildProcess } from "node:child_process";
import { cp, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, onTestFinished, test } from "vitest";

import type { MethodDefinition } from "../../../src/model/skill.ts";
import { connectServers, type McpProvider } from "../../../src/providers/mcp/index.ts";

import { call, connected, ended, fixture, openLogins, temporaryFolder, until } from "../../support/mcp/servers.ts";

/** Restarts as usual, only sooner. */
const SOON = { firstDelayMs: 10, longestDelayMs: 40 };

let restarting: McpProvider | undefined;
afterAll(endRestarting);

/** Returns the server of the tests that end its process, which is there again. */
async function connectRestarting(): Promise<McpProvider> {
  const provider = (restarting ??= connectServers([fixture()], { env: process.env, restart: SOON }));
  await until(provider, () => provider.servers[0]?.status === "connected");
  return provider;
}

async function endRestarting(): Promise<void> {
  await restarting?.close();
  restarting = undefined;
}

/** What an earlier run has stored of the server, in a folder that tests copy before they connect. */
interface EarlierRun {
  readonly folder: string;
  readonly methods: readonly MethodDefinition[] | undefined;
}

let earlier: Promise<EarlierRun> | undefined;
afterAll(async () => {
  if (earlier !== undefined) await rm((await earlier).folder, { recursive: true });
});

function getEarlierRun(): Promise<EarlierRun> {
  return (earlier ??= runEarlier());
}

async function runEarlier(): Promise<EarlierRun> {
  const folder = await mkdtemp(join(tmpdir(), "skillgate-mcp-"));
  const { tokens } = openLogins(folder);
  const provider = connectServers([fixture()], { env: process.env, tokens, stateDir: folder });
  await provider.ready;
  const methods = provider.skills[0]?.methods;
  await provider.close();
  return { folder, methods };
}

async function copyEarlierFolder(): Promise<string> {
  const folder = await temporaryFolder();
  await cp((await getEarlierRun()).folder, folder, { recursive: true });
  return folder;
}

test("fails the calls of a server that exits during a call, and restarts it [M4]", async () => {
  const provider = await connectRestarting();
  const first = await call(provider, "pid");
  const bystander = call(provider, "never");
  const facts = { server: "fixture", tool: "die", skill: "FixtureMCP", method: "die", error: "exited with code 3" };
  const message = 'Cannot reach the server of this skill: "fixture" exited with code 3 (SERVER_GONE)';
  await expect(call(provider, "die")).rejects.toMatchObject({ code: "SERVER_GONE", message, facts });
  await expect(bystander).rejects.toMatchObject({
    code: "SERVER_GONE",
    facts: { tool: "never", error: "exited with code 3" },
  });
  expect(provider.servers[0]).toMatchObject({ status: "disconnected", error: "exited with code 3" });
  expect(provider.problems).toEqual([{ source: "fixture", error: "exited with code 3" }]);
  await until(provider, () => provider.servers[0]?.status === "connected");
  expect(await call(provider, "pid")).not.toBe(first);
  expect(provider.problems).toEqual([]);
});

/** Restarts only for a call. */
const NEVER = { firstDelayMs: 3_600_000, longestDelayMs: 3_600_000 };

test("restarts a server that has crashed for its next call, without waiting for the delay [M4]", async () => {
  const provider = await connected([fixture()], { restart: NEVER });
  const [skill] = provider.skills;
  await call(provider, "die").catch(() => {});
  expect(provider.skills).toEqual([skill]);
  const calls = ["a", "b"].map((message) => call(provider, "echo", { message }));
  expect(await Promise.all(calls)).toEqual(["a", "b"]);
});

test("fails the calls of a server at once that has crashed too often, and keeps its skill [M4]", async () => {
  const provider = await connected([fixture()], { restart: { ...NEVER, times: 2 } });
  const [skill] = provider.skills;
  for (const _crash of [1, 2]) await call(provider, "die").catch(() => {});
  expect(provider.skills).toEqual([skill]);
  await expect(call(provider, "echo", { message: "hi" })).rejects.toMatchObject({
    code: "SERVER_GONE",
    facts: { server: "fixture", tool: "echo", error: "is disconnected" },
  });
});

test("keeps the skill of a restarted server with the same tools [M4]", async () => {
  const provider = await connectRestarting();
  const [skill] = provider.skills;
  await call(provider, "die").catch(() => {});
  await until(provider, () => provider.servers[0]?.status === "connected");
  expect(provider.skills[0]).toBe(skill);
});

test("restarts a server that exits repeatedly without end [M4]", { tags: "rest" }, async () => {
  const provider = await connected([fixture()], { restart: { ...SOON, times: 2 } });
  for (const _crash of [1, 2, 3, 4]) {
    await call(provider, "die").catch(() => {});
    await until(provider, () => provider.servers[0]?.status === "connected");
  }
  expect(await call(provider, "echo", { message: "back" })).toBe("back");
});

test(
  "starts a process when another has failed, if they must not start together, with the whole time limit [M4]",
  { tags: "rest" },
  async () => {
    const servers = [{ ...fixture(["hang"]), name: "slow" }, fixture()];
    const provider = await connected(servers, { startsTogether: 1, connectTimeoutMs: 2_000 });
    expect(provider.servers.map(({ name, status }) => [name, status])).toEqual([
      ["slow", "error"],
      ["fixture", "connected"],
    ]);
  },
);

test("starts a process at once for a call, also while others start [M4]", async () => {
  const servers = [{ ...fixture(["hang"]), name: "slow" }, fixture()];
  const provider = connectServers(servers, { env: process.env, startsTogether: 1 });
  onTestFinished(() => provider.close());
  expect(await call(provider, "echo", { message: "hi" })).toBe("hi");
  expect(provider.servers[0]).toMatchObject({ status: "connecting" });
});

test("tries a server again that did not answer in time at its first start [M4]", { tags: "rest" }, async () => {
  const file = join(await temporaryFolder(), "ready");
  const options = { restart: { firstDelayMs: 200 }, connectTimeoutMs: 2_000 };
  const provider = await connected([fixture([`hang-without=${file}`])], options);
  expect(provider.servers[0]).toMatchObject({
    status: "error",
    error: 'Cannot start the MCP server: "fixture" did not answer within 2 s (SERVER_FAILED)',
  });
  await writeFile(file, "");
  await until(provider, () => provider.servers[0]?.status === "connected");
  expect(await call(provider, "echo", { message: "late" })).toBe("late");
});

test.each([
  ["whose command does not exist", { command: "/no/such/command" }],
  ["that exits at its first start", { command: process.execPath, args: ["-e", "process.exit(1)"] }],
])("does not try a server again %s [M4]", async (_what, entry) => {
  const changes: string[] = [];
  const provider = connectServers([{ ...fixture(), ...entry }], { env: process.env, restart: SOON });
  onTestFinished(() => provider.close());
  provider.onChange(() => changes.push(provider.servers[0]?.status ?? ""));
  await provider.ready;
  await (await connected([fixture()])).close();
  expect(changes).toEqual(["error"]);
});

test("reads the last answer of a server that exits [M4]", async () => {
  const provider = await connectRestarting();
  expect(await call(provider, "die_after_answer")).toBe("last words");
});

test("restarts a server that closes its output [M4]", async () => {
  const provider = await connectRestarting();
  await expect(call(provider, "close_stdout")).rejects.toMatchObject({ code: "SERVER_GONE" });
  await until(provider, () => provider.servers[0]?.status === "connected");
  expect(await call(provider, "echo", { message: "back" })).toBe("back");
});

test("adds new tools of a running server after list_changed [M3]", { tags: "rest" }, async () => {
  for (const ways of [[], ["modern"]]) {
    const provider = await connected([fixture(ways)]);
    const before = provider.skills[0];
    await call(provider, "add_tool");
    await until(provider, () => provider.skills[0] !== before);
    expect(provider.skills[0]?.methods.at(-1)?.name).toBe("added");
    expect(await call(provider, "added")).toBe("called added");
  }
});

test("does not list tools forever for a server that announces a change at each request [M3]", async () => {
  const provider = await connected([fixture(["change-on-list"])]);
  expect(await call(provider, "echo", { message: "hi" })).toBe("hi");
});

test("lists tools again at the next call after the list has expired [M3]", async () => {
  const provider = await connected([fixture(["modern", "short-lived"])]);
  const before = provider.skills[0];
  while (provider.skills[0] === before) await call(provider, "echo", { message: "hi" });
  // The first list takes six requests: this server adds a tool at each, so those for capable clients are searched, too.
  expect(provider.skills[0]?.methods.at(-1)?.name).toBe("list_7");
});

test("stops a server on close by ending its input [M9]", async () => {
  const provider = await connected([fixture()]);
  const pid = Number(await call(provider, "pid"));
  await provider.close();
  await ended(pid);
  await expect(call(provider, "echo")).rejects.toMatchObject({ code: "SERVER_GONE" });
});

test(
  "stops an unresponsive server and its children on close, after the grace period [M9]",
  { tags: "rest" },
  async () => {
    const provider = await connected([fixture(["stubborn"])]);
    const pids = [Number(await call(provider, "pid")), Number(await call(provider, "grandchild"))];
    await provider.close();
    await Promise.all(pids.map(ended));
  },
);

test.skipIf(process.platform !== "linux")(
  "ends children of a server in sessions of their own, also without its environment [M9]",
  { tags: "rest" },
  async () => {
    const provider = await connected([fixture()]);
    const grandchild = async (input: object): Promise<number> =>
      Number(await call(provider, "grandchild", { isDetached: true, ...input }));
    const pids = [await grandchild({}), await grandchild({ hasNoEnvironment: true })];
    await provider.close();
    await Promise.all(pids.map(ended));
  },
);

test.skipIf(process.platform !== "linux")(
  "ends children in sessions of their own that a server has left behind [M9]",
  { tags: "rest" },
  async () => {
    const provider = await connected([fixture()], { restart: SOON });
    const grandchild = Number(await call(provider, "grandchild", { isDetached: true }));
    await call(provider, "die").catch(() => {});
    await provider.close();
    await ended(grandchild);
  },
);

test("leaves no process behind when a server exits [M9]", { tags: "rest" }, async () => {
  const provider = await connected([fixture()], { restart: SOON });
  const grandchild = Number(await call(provider, "grandchild"));
  await call(provider, "die").catch(() => {});
  await provider.close();
  await ended(grandchild);
});

test("ends all servers on close while they start [M9]", async () => {
  const earlier = listChildren();
  const provider = connectServers([fixture(), fixture(["hang"])], { env: process.env });
  await provider.close();
  await expect.poll(() => listChildren().filter((child) => !earlier.includes(child)), { timeout: 3_000 }).toEqual([]);
});

test("closes at the signal of the caller as well [M9]", async () => {
  const closing = new AbortController();
  const provider = await connected([fixture()], { signal: closing.signal });
  const pid = Number(await call(provider, "pid"));
  closing.abort();
  await ended(pid);
});

test("starts a server that is known from an earlier run at its first call [M3]", async () => {
  const { methods } = await getEarlierRun();
  const stateDir = await copyEarlierFolder();
  const earlier = listChildren();
  const provider = connectServers([fixture()], { env: process.env, stateDir, start: "when needed" });
  onTestFinished(() => provider.close());
  await provider.known;
  expect(provider.servers[0]).toMatchObject({ status: "disconnected", protocolVersion: "2025-11-25" });
  expect(provider.problems).toEqual([]);
  const [skill] = provider.skills;
  expect(skill?.methods).toEqual(methods);
  expect(listChildren().filter((child) => !earlier.includes(child))).toEqual([]);
  expect(await call(provider, "echo", { message: "awake" })).toBe("awake");
  expect(listChildren().filter((child) => !earlier.includes(child))).toHaveLength(1);
  expect(provider.servers[0]).toMatchObject({ status: "connected" });
  expect(provider.skills[0]).toBe(skill);
});

test("stores what it knows of servers in files that only their owner can read [M3]", async () => {
  const files = await readdir((await getEarlierRun()).folder, { recursive: true, withFileTypes: true });
  const modes = await Promise.all(
    files.map(async (file) => ((await stat(join(file.parentPath, file.name))).mode & 0o777).toString(8)),
  );
  expect(modes.toSorted()).toEqual(["600", "600", "700", "700"]);
});

test("ignores stored data of a server with another configuration, and foreign files [M3]", async () => {
  const stateDir = await temporaryFolder();
  const first = await connected([fixture(["no-tools"])], { stateDir });
  await first.close();
  for (const file of await readdir(join(stateDir, "servers"))) {
    await writeFile(join(stateDir, "servers", file), '{ "tools": [] }');
  }
  const provider = await connected([fixture(), { ...fixture(["no-tools"]), name: "other" }], { stateDir });
  expect(provider.servers.map(({ status }) => status)).toEqual(["connected", "connected"]);
});

test("retries a server that worked earlier and does not start now [M4]", async () => {
  const stateDir = await temporaryFolder();
  const file = join(stateDir, "tools.json");
  await writeFile(file, '[{ "name": "read" }]');
  await (await connected([fixture([`tools=${file}`])], { stateDir })).close();
  await rm(file);
  const provider = await connected([fixture([`tools=${file}`])], { stateDir, restart: SOON });
  expect(provider.servers[0]).toMatchObject({
    status: "disconnected",
    error: expect.stringContaining("ENOENT") as string,
  });
  expect(provider.skills[0]?.methods.map(({ name }) => name)).toEqual(["read"]);
  await expect(call(provider, "read")).rejects.toMatchObject({ code: "SERVER_GONE" });
  await writeFile(file, '[{ "name": "read" }]');
  await until(provider, () => provider.servers[0]?.status === "connected");
  expect(await call(provider, "read")).toBe("called read");
});

test("starts known servers on request, and offers their tools in the meantime [M3]", async () => {
  const stateDir = await copyEarlierFolder();
  const provider = connectServers([fixture()], { env: process.env, stateDir });
  onTestFinished(() => provider.close());
  expect(provider.skills[0]?.name).toBe("FixtureMCP");
  expect(provider.servers[0]).toMatchObject({ status: "connecting" });
  await provider.ready;
  expect(provider.servers[0]).toMatchObject({ status: "connected" });
});

test("stops an idle server, and starts it again at its next call [M3]", async () => {
  const provider = await connected([fixture()], { idleMs: 20 });
  const [skill] = provider.skills;
  const pid = Number(await call(provider, "pid"));
  await until(provider, () => provider.servers[0]?.status === "disconnected");
  await ended(pid);
  expect(provider.skills).toEqual([skill]);
  expect(await call(provider, "pid")).not.toBe(pid);
});

test("does not stop a server during a call of any length [M3]", async () => {
  const provider = await connected([fixture()], { idleMs: 1 });
  const slow = call(provider, "progress_after", { ms: 100 });
  await call(provider, "echo", { message: "quick" });
  expect(await slow).toBe("done");
});

test(
  "servers start in parallel, and one that fails or is disabled does not delay the others [M3]",
  { tags: "rest" },
  async () => {
    const servers = [
      { ...fixture(["hang"]), name: "slow" },
      fixture(),
      { ...fixture(["exit-at-start"]), name: "broken" },
      { ...fixture(), name: "off", enabled: false },
      { ...fixture(), name: "poor", obstacle: "missing environment variable API_KEY" },
    ];
    const provider = await connected(servers, { connectTimeoutMs: 2_000 });
    expect(provider.servers.map(({ name, skill, status }) => [name, skill, status])).toEqual([
      ["slow", "SlowMCP", "error"],
      ["fixture", "FixtureMCP", "connected"],
      ["broken", "BrokenMCP", "error"],
      ["off", "OffMCP", "disabled"],
      ["poor", "PoorMCP", "error"],
    ]);
    expect(provider.problems.at(-1)).toEqual({ source: "poor", error: "missing environment variable API_KEY" });
    await provider.close();
  },
);

/** Lists the children of this process. Those of earlier tests may be among them. */
function listChildren(): readonly unknown[] {
  const own = process as unknown as { _getActiveHandles(): readonly unknown[] };
  return own._getActiveHandles().filter((handle) => handle instanceof ChildProcess);
}
