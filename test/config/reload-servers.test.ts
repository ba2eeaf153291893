import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime, type Runtime } from "../../src/runtime.ts";
import { ROOT, temporaryFolder } from "../support/mcp/servers.ts";

const FIXTURE = resolve(ROOT, "test/fixtures/mcp/server.js");

type Entries = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

function fixtureEntry(more: Readonly<Record<string, unknown>> = {}): Entries[string] {
  return { command: process.execPath, args: [FIXTURE], ...more };
}

/** A runtime of a project whose servers can be written anew. */
async function openProject(
  entries: Entries,
): Promise<{ runtime: Runtime; reload: (entries: Entries | string) => Promise<void> }> {
  const cwd = await temporaryFolder();
  const write = (content: Entries | string): Promise<void> =>
    writeFile(join(cwd, ".mcp.json"), typeof content === "string" ? content : JSON.stringify({ mcpServers: content }));
  await write(entries);
  const env = { PATH: process.env["PATH"], HOME: cwd, XDG_STATE_HOME: join(cwd, ".state") };
  const runtime = await createRuntime({ cwd, env, discover: true, workers: 1 });
  onTestFinished(() => runtime.close());
  await runtime.ready;
  const reload = async (content: Entries | string): Promise<void> => {
    await write(content);
    await runtime.reloadServers();
    await runtime.ready;
  };
  return { runtime, reload };
}

function getStates(runtime: Runtime): readonly string[] {
  return runtime.servers.map(({ name, status }) => `${name} ${status}`).toSorted();
}

test("starts the servers that were added, and stops those that are gone or disabled [M10]", async () => {
  const { runtime, reload } = await openProject({ one: fixtureEntry(), two: fixtureEntry() });
  expect(getStates(runtime)).toEqual(["one connected", "two connected"]);
  await reload({ two: fixtureEntry({ disabled: true }), three: fixtureEntry() });
  expect(getStates(runtime)).toEqual(["three connected", "two disabled"]);
  const names = runtime.catalog.skills.map(({ name }) => name);
  expect(names.filter((name) => name.endsWith("MCP"))).toEqual(["ThreeMCP"]);
  await expect(runtime.call("OneMCP.pid", {})).rejects.toMatchObject({ code: "METHOD_UNKNOWN" });
});

test("keeps the process and the calls of a server whose entry stays, and restarts a changed one [M10]", async () => {
  const { runtime, reload } = await openProject({ same: fixtureEntry(), other: fixtureEntry() });
  const readPids = () => Promise.all([runtime.call("SameMCP.pid", {}), runtime.call("OtherMCP.pid", {})]);
  const [same, other] = await readPids();
  const controller = new AbortController();
  const call = runtime.call("SameMCP.never", {}, { signal: controller.signal });
  const ended = call.then(
    () => "answered",
    ({ code }: { code: string }) => code,
  );
  await reload({ same: fixtureEntry(), other: fixtureEntry({ env: { LEVEL: "debug" } }) });
  const [sameNow, otherNow] = await readPids();
  expect([sameNow === same, otherNow === other]).toEqual([true, false]);
  controller.abort();
  expect(await ended).not.toBe("SERVER_GONE");
});

test("masks the secrets of servers that were added [M10, V4]", async () => {
  const { runtime, reload } = await openProject({});
  const text = "the key is sk-9f8e7d6c5b4a3210";
  await reload({ one: fixtureEntry({ env: { API_TOKEN: "sk-9f8e7d6c5b4a3210" } }) });
  expect(runtime.secrets.maskText(text)).not.toContain("9f8e7d6c5b4a3210");
});

test("reports a broken file, and takes its servers up again once it is repaired [M10]", async () => {
  const { runtime, reload } = await openProject({ one: fixtureEntry() });
  await reload("{");
  expect(runtime.problems.map(({ source }) => source)).toEqual([".mcp.json"]);
  await reload({ one: fixtureEntry() });
  expect([getStates(runtime), runtime.problems]).toEqual([["one connected"], []]);
});
