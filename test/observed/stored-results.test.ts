import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { createRuntime, defineSkill, type Runtime, type RuntimeOptions } from "../../src/index.ts";
import { toSchema } from "../../src/observed/shape-schema.ts";
import { createShape, observe } from "../../src/observed/infer-schema.ts";
import { parseMethods, serializeMethods } from "../../src/observed/stored-shapes.ts";
import { OWNER } from "../../src/model/caller.ts";
import { createJsonServer } from "../support/mcp/json-server.ts";

const input = { type: "object", properties: { value: {} }, required: ["value"] } as const;

/** Gives back what it got, under several names. */
function echoSkill(parameter = "value", names: readonly string[] = ["get_one", "list_all"]) {
  const properties = { value: {}, ...(parameter !== "value" && { [parameter]: { type: "string" } }) };
  return defineSkill({
    name: "EchoSkill",
    description: "Echoes",
    methods: Object.fromEntries(
      names.map((name) => [
        name,
        { description: "Echoes", input: { ...input, properties }, readOnly: true, run: (input) => input["value"] },
      ]),
    ),
  });
}

async function open(options: RuntimeOptions = {}): Promise<Runtime> {
  const runtime = await createRuntime({ skillsDir: false, skills: [echoSkill()], workers: 1, ...options });
  onTestFinished(() => runtime.close());
  return runtime;
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

function resultOf(runtime: Runtime, path: string): string {
  return /Promise<.*>/.exec(runtime.describe(path).declaration)?.[0] ?? "";
}

test("a member that is null in one method and a number in another one is both in each [D3]", async () => {
  const runtime = await open();
  const order = { id: 1, customer: "x", next: null };
  await runtime.call("EchoSkill.get_one", { value: order });
  expect(resultOf(runtime, "EchoSkill.get_one")).toBe("Promise<{ id: number; customer: string; next: any }>");
  await runtime.call("EchoSkill.list_all", { value: [{ ...order, next: 7 }] });
  const both = "{ id: number; customer: string; next: number | null }";
  expect(resultOf(runtime, "EchoSkill.get_one")).toBe(`Promise<${both}>`);
  expect(resultOf(runtime, "EchoSkill.list_all")).toBe(`Promise<${both}[]>`);
});

test("objects of another structure under the same names are not merged [D3]", async () => {
  const runtime = await open();
  await runtime.call("EchoSkill.get_one", { value: { id: 1, customer: { name: "x" }, next: null } });
  await runtime.call("EchoSkill.list_all", { value: [{ id: 1, customer: "x", next: 7 }] });
  expect(resultOf(runtime, "EchoSkill.get_one")).toBe("Promise<{ id: number; customer: { name: string }; next: any }>");
});

test("member names that the arguments hold, or that differ from call to call, are data [D3]", async () => {
  const runtime = await open({ skills: [echoSkill("symbols")] });
  await runtime.call("EchoSkill.get_one", { value: { BTC: 1, ETH: 2 }, symbols: "BTC,ETH" });
  expect(resultOf(runtime, "EchoSkill.get_one")).toBe("Promise<Record<string, number>>");
  await runtime.call("EchoSkill.list_all", { value: { people: { ada: 1 } } });
  await runtime.call("EchoSkill.list_all", { value: { people: { bob: 2 } } });
  expect(resultOf(runtime, "EchoSkill.list_all")).toBe("Promise<{ people: Record<string, number> }>");
  const shape = createShape();
  for (const value of [{ error: "x" }, { items: [] }]) observe(value, shape, { caller: OWNER, compares: false });
  expect(toSchema(shape, OWNER)).toMatchObject({ properties: { error: {}, items: {} } });
});

test.each([
  ["sql", "anything"],
  ["query", "SELECT a, b FROM t"],
  ["query", "{ users { id } }"],
])("observes no rows of a method with the parameter %s and the text %j [D3]", async (parameter, text) => {
  const runtime = await open({ skills: [echoSkill(parameter)] });
  await runtime.call("EchoSkill.get_one", { value: [{ a: 1 }], [parameter]: text });
  expect(resultOf(runtime, "EchoSkill.get_one")).toBe("Promise<any>");
});

test("observes the results of a search by words [D3]", async () => {
  const runtime = await open({ skills: [echoSkill("query")] });
  await runtime.call("EchoSkill.get_one", { value: [{ title: "x" }], query: "show me the orders" });
  expect(resultOf(runtime, "EchoSkill.get_one")).toBe("Promise<{ title: string }[]>");
});

test("reports a changed result only to a program that reads what has changed [D3]", async () => {
  const runtime = await open();
  const row = { id: 1, low: 3 };
  for (let times = 0; times < 6; times++) await runtime.call("EchoSkill.get_one", { value: row });
  const notes = async (source: string) => {
    const outcome = await runtime.run(source);
    return outcome.kind === "completed" ? outcome.notes : [outcome.text];
  };
  const call = (member: string) =>
    `(await device.EchoSkill.get_one({ value: JSON.parse('{"id":1,"l' + 'ow":${member}}') }))`;
  expect(await notes(`${call('"cold"')}.id`)).toEqual([]);
  expect(await notes(`${call("[]")}.low`)).toEqual([
    "The result of EchoSkill.get_one differs from the 7 before it at low: it is an array, previously a number or a string",
  ]);
  expect(await notes(`${call("{}")}.low`)).toEqual([]);
});

test("search shows what was observed, and marks a single observation [D2]", async () => {
  const runtime = await open();
  await runtime.call("EchoSkill.get_one", { value: [{ id: 1, tags: ["x"] }] });
  const line = "EchoSkill.get_one(value: unknown): Promise<{ id: number; tags: string[] }[]>";
  expect(runtime.search("get one").text).toContain(`- ${line} (observed once) — Echoes`);
  expect(runtime.describe("EchoSkill.get_one").text).toContain("observed once, so it is a guess");
  await runtime.call("EchoSkill.get_one", { value: [] });
  expect(runtime.search("get one").text).toContain(`- ${line} — Echoes`);
});

test("one observation refuses no program, whatever it reads [D3]", async () => {
  const runtime = await open({ typecheck: true });
  await runtime.call("EchoSkill.get_one", { value: { id: 1, next: 2 } });
  for (let times = 0; times < 3; times++) {
    const source =
      'const r = await device.EchoSkill.get_one({ value: { id: "a", other: "b" } }); r.other.length + r.id.length';
    expect(await runtime.run(source)).toMatchObject({ kind: "completed", value: 2 });
  }
});

test(
  "what was observed of an MCP server is there for the next runtime, without values [D3]",
  { tags: "rest" },
  async () => {
    const stateDir = temporaryFolder();
    const mcpServers = { fixture: { command: process.execPath, args: ["test/fixtures/mcp/server.js"] } };
    const start = async (): Promise<Runtime> => {
      const runtime = await open({ skills: [], mcpServers, mcp: { stateDir } });
      await runtime.ready;
      return runtime;
    };
    const first = await start();
    await first.call("FixtureMCP.echo", { message: '{"secret_value":"hunter2","list":[1]}' });
    const observed = resultOf(first, "FixtureMCP.echo");
    expect(observed).not.toBe("Promise<any>");
    await first.close();
    const folder = join(stateDir, "results");
    const [file = ""] = readdirSync(folder);
    expect(readFileSync(join(folder, file), "utf8")).not.toContain("hunter2");

    const second = await start();
    expect(resultOf(second, "FixtureMCP.echo")).toBe(observed);
    expect(second.observed().results.map(({ path }) => path)).toEqual(["FixtureMCP.echo"]);
    expect(second.briefCatalog()[0]).toContain("(observed once)");
    second.forget();
    expect(resultOf(second, "FixtureMCP.echo")).toBe("Promise<any>");
    await second.close();
    expect((await start()).observed().results).toEqual([]);

    writeFileSync(join(folder, file), "{ not json");
    const said: string[] = [];
    const third = await open({ skills: [], mcpServers, mcp: { stateDir }, log: (_level, text) => said.push(text) });
    await third.ready;
    expect(resultOf(third, "FixtureMCP.echo")).toBe("Promise<any>");
    expect(said.join()).toContain("Cannot read the stored types of results");
  },
);

test(
  "another project with the same version of an MCP server has none of its types [D3]",
  { tags: "rest" },
  async () => {
    const stateDir = temporaryFolder();
    async function start(name: string): Promise<Runtime> {
      const entry = { command: process.execPath, args: ["test/fixtures/mcp/server.js"], env: { PROJECT: name } };
      const runtime = await open({ skills: [], mcpServers: { fixture: entry }, mcp: { stateDir } });
      await runtime.ready;
      return runtime;
    }
    const first = await start("first");
    await first.call("FixtureMCP.echo", { message: '{"rows":[{"id":1}]}' });
    await first.close();
    expect(resultOf(await start("second"), "FixtureMCP.echo")).toBe("Promise<any>");
    expect(resultOf(await start("first"), "FixtureMCP.echo")).toBe("Promise<{ rows: { id: number }[] }>");
  },
);

test("another project with the same URL of an MCP server has none of its types [D3]", async () => {
  const stateDir = temporaryFolder();
  const mcpServers = { web: { url: await createJsonServer({ tools: ["wire"], as: "json" }) } };
  async function start(cwd: string): Promise<Runtime> {
    const runtime = await open({ cwd, skills: [], mcpServers, mcp: { stateDir } });
    await runtime.ready;
    return runtime;
  }
  const [one, other] = [temporaryFolder(), temporaryFolder()];
  const first = await start(one);
  await first.call("WebMCP.wire", { json: '{"content":[],"structuredContent":{"secret_project":1}}' });
  await first.close();
  expect(resultOf(await start(other), "WebMCP.wire")).toBe("Promise<any>");
  expect(resultOf(await start(one), "WebMCP.wire")).toBe("Promise<{ secret_project: number }>");
});

test("nothing is stored with observations.results: false [D3]", async () => {
  const stateDir = temporaryFolder();
  const mcpServers = { fixture: { command: process.execPath, args: ["test/fixtures/mcp/server.js"] } };
  const runtime = await open({ skills: [], mcpServers, mcp: { stateDir }, observe: { results: false } });
  await runtime.ready;
  await runtime.call("FixtureMCP.echo", { message: '{"a":1}' });
  await runtime.close();
  expect(readdirSync(stateDir)).not.toContain("results");
});

test("stored shapes come back as they were; anything else is refused [D3]", () => {
  const shape = createShape();
  const values = [
    { a: [1, null], b: { "x y": true }, c: "[1]" },
    { a: [], b: {} },
  ];
  for (const value of values) observe(value, shape, { caller: { id: "ada", permissions: [] }, compares: false });
  observe(values[0], shape, { caller: { id: "bob", permissions: [] }, compares: false });
  const stored: unknown = JSON.parse(JSON.stringify(serializeMethods(new Map([["m", { digest: "d", shape }]]))));
  expect(parseMethods(stored)?.get("m")).toEqual({ digest: "d", shape });
  const broken = (change: (text: string) => string): unknown => JSON.parse(change(JSON.stringify(stored)));
  for (const value of [
    null,
    [],
    { format: 2, methods: [] },
    broken((text) => text.replace('"times":3', '"times":-1')),
    broken((text) => text.replace('"number"', '"evil"')),
    broken((text) => text.replace('"name":"a"', '"name":"an address@example.com"')),
    broken((text) => text.replace('"caller":true', '"caller":7')),
  ])
    expect(parseMethods(value)).toBeUndefined();
});
