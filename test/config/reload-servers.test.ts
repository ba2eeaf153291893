import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

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

/** Prints the states of servers, the skills of servers and APIs, and the APIs, after two changes at once and after the next one. */
const TWO_CHANGES = `
  import { writeFile } from "node:fs/promises";
  import { createRuntime } from ${JSON.stringify(resolve(ROOT, "dist/src/index.js"))};
  const [cwd, fixture] = process.argv.slice(1);
  const env = { PATH: process.env.PATH, HOME: cwd, XDG_STATE_HOME: cwd + "/.state" };
  const runtime = await createRuntime({ cwd, env, discover: true, workers: 1 });
  const entry = { command: process.execPath, args: [fixture] };
  const write = (one) => writeFile(cwd + "/.mcp.json", JSON.stringify({ mcpServers: { one } }));
  const show = () => console.log(JSON.stringify([
    runtime.servers.map(({ status }) => status),
    runtime.catalog.skills.map(({ name }) => name).filter((name) => /MCP|API/.test(name)).sort(),
    runtime.listApis().map(({ name }) => name),
  ]));
  await write(entry);
  await writeFile(cwd + "/settings.yaml", "sources:\\n  shop: { openapi: ./api.json }\\n");
  await Promise.all([runtime.reloadServers(), runtime.reloadSettings(), runtime.reloadServers()]);
  await runtime.ready;
  show();
  await write({ ...entry, disabled: true });
  await runtime.reloadServers();
  show();
  await runtime.close();
`;

test(
  "reloads at once create the first server and the first API once, and none outlives its entry [M10]",
  { tags: "rest" },
  async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, "api.json"), JSON.stringify(API));
    // In a process of its own: there, the code for servers is not loaded yet.
    const args = ["--input-type=module", "-e", TWO_CHANGES, cwd, FIXTURE];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(
      stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      [["connected"], ["OneMCP", "ShopAPI"], ["shop"]],
      [["disabled"], ["ShopAPI"], ["shop"]],
    ]);
  },
);

const API = {
  openapi: "3.1.0",
  info: { title: "Shop", version: "1" },
  servers: [{ url: "https://shop.example" }],
  paths: { "/orders": { get: { operationId: "listOrders", responses: { 200: { description: "Orders" } } } } },
};

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
