import { PassThrough } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";

import { createRuntime, type Runtime } from "../../../src/index.ts";
import { OWNER } from "../../../src/model/caller.ts";
import { createMcpSurface } from "../../../src/surfaces/mcp/index.ts";
import { createJsonServer } from "../../support/mcp/json-server.ts";
import { serve } from "../serving.ts";
import { ERAS } from "./raw-client.ts";

const BIG = "12345678901234567890";
const RICH = { command: process.execPath, args: ["test/fixtures/mcp/rich-server.js"] };

/** Servers that answer over stdio, with one JSON text over HTTP, and with events. */
async function createServers(): Promise<Record<string, object>> {
  const answers = { tools: ["wire", "number", "echo"] };
  return {
    rich: RICH,
    json: { url: await createJsonServer({ ...answers, as: "json" }) },
    events: { url: await createJsonServer({ ...answers, as: "events" }) },
  };
}

async function startRuntime(): Promise<Runtime> {
  const runtime = await createRuntime({ skillsDir: false, mcpServers: (await createServers()) as never });
  onTestFinished(() => runtime.close());
  await runtime.ready;
  return runtime;
}

describe.each(ERAS)("a client of %s gets the digits that a server sent", (_era, open) => {
  test.each(["RichMCP", "JsonMCP", "EventsMCP"])("through a tool of %s [M5]", { tags: "rest" }, async (skill) => {
    const { url, runtime } = await serve({ expose: "tools" }, { mcpServers: (await createServers()) as never });
    await runtime.ready;
    const client = await open(`${url}/mcp`);
    const json = `{"content":[{"type":"text","text":"ok"}],"structuredContent":{"a":[${BIG},-9007199254740993],"b":"${BIG}","c":1.5,"d":10000000000000000000000}}`;
    const text = await client.requestText(
      "tools/call",
      JSON.stringify({ name: `${skill}__wire`, arguments: { json } }),
    );
    expect(text).toContain(
      `"structuredContent":{"a":[${BIG},-9007199254740993],"b":"${BIG}","c":1.5,"d":10000000000000000000000}`,
    );
  });

  test("a number beyond the range is an error, and the next call works [M5]", async () => {
    const { url, runtime } = await serve({ expose: "tools" }, { mcpServers: (await createServers()) as never });
    await runtime.ready;
    const client = await open(`${url}/mcp`);
    for (const skill of ["RichMCP", "JsonMCP", "EventsMCP"]) {
      const wire = (json: string) => client.request("tools/call", { name: `${skill}__wire`, arguments: { json } });
      const failed = await wire('{"content":[],"structuredContent":{"x":-1e400}}');
      expect(failed).toMatchObject({ isError: true });
      expect(failed.content[0].text).toContain(
        "the answer has the number -1e400, which is beyond the range of numbers",
      );
      expect(await wire('{"content":[{"type":"text","text":"1e400"}]}')).toMatchObject({
        content: [{ type: "text", text: "1e400" }],
      });
    }
  });
});

describe.each(ERAS)("a server gets the digits that a client of %s sent", (_era, open) => {
  const DIGITS = `{"id":-${BIG},"deep":[{"n":9007199254740993}],"small":7,"text":"${BIG}"}`;

  test("over stdio and over HTTP [M5]", async () => {
    const { url, runtime } = await serve({ expose: "tools" }, { mcpServers: (await createServers()) as never });
    await runtime.ready;
    const client = await open(`${url}/mcp`);
    for (const skill of ["RichMCP", "JsonMCP", "EventsMCP"]) {
      const args = skill === "RichMCP" ? `{"id":${BIG}}` : DIGITS;
      const text = await client.requestText("tools/call", `{"name":"${skill}__echo","arguments":${args}}`);
      const { result } = JSON.parse(text);
      expect(result.content[0].text).toContain(`"arguments":${args}`);
    }
    expect(runtime.audit().map(({ outcome }) => outcome)).toEqual(["ok", "ok", "ok"]);
  });

  test("by call_method, and with a member that only the SDK reads [M5]", { tags: "rest" }, async () => {
    const { url, runtime } = await serve({ expose: "calls" }, { mcpServers: (await createServers()) as never });
    await runtime.ready;
    const client = await open(`${url}/mcp`);
    const params = `{"name":"call_method","arguments":{"path":"JsonMCP.echo","arguments":${DIGITS}},"unknown":1}`;
    const { result } = JSON.parse(await client.requestText("tools/call", params));
    expect(result.content[0].text).toContain(`"arguments":${DIGITS}`);
  });

  test("and a skill gets the nearest number; a number beyond the range is an error [M5]", async () => {
    const { url } = await serve({ expose: "tools" });
    const client = await open(`${url}/mcp`);
    const add = (a: string) =>
      client.requestText("tools/call", `{"name":"TestSkill__add","arguments":{"a":${a},"b":0}}`);
    expect(JSON.parse(await add(BIG)).result.structuredContent).toEqual({ sum: Number(BIG) });
    expect(await add("1e400")).toContain("the number 1e400, which is beyond the range of numbers");
    expect(JSON.parse(await add("1")).result.structuredContent).toEqual({ sum: 1 });
  });
});

/** Makes calls as a client over stdio, and returns the lines that it receives. */
async function callOverStdio(calls: readonly string[]): Promise<readonly string[]> {
  const runtime = await startRuntime();
  const surface = createMcpSurface(runtime, { sessions: { most: 1, idleMs: 60_000 }, bodyBytes: 1 << 20 });
  onTestFinished(() => surface.close());
  const [input, output] = [new PassThrough(), new PassThrough()];
  const exposure = { expose: "tools", names: "qualified", budgetTokens: 1_000 } as const;
  const connection = surface.serveStreams(input, output, { caller: OWNER, exposure });
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
  input.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
  input.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  for (const [at, call] of calls.entries())
    input.write(`{"jsonrpc":"2.0","id":${at + 2},"method":"tools/call","params":${call}}\n`);
  input.end();
  await connection.closed;
  return String(output.read()).split("\n");
}

test("an integer in arguments is checked against the schema, and a client over stdio sends its digits [M5]", async () => {
  const lines = await callOverStdio([
    `{"name":"RichMCP__echo","arguments":{"id":${BIG}}}`,
    `{"name":"RichMCP__wire","arguments":{"json":${BIG}}}`,
  ]);
  const find = (id: number): string =>
    lines.find((line) => line.endsWith(`"id":${id}}`) || line.includes(`"id":${id},`)) ?? "";
  expect(find(2)).toContain(`{\\"id\\":${BIG}}`);
  expect(find(3)).toMatch(/"isError":true.*json/);
});

test("a client over stdio gets the digits that a server sent [M5]", { tags: "rest" }, async () => {
  const answers = await callOverStdio([
    '{"name":"RichMCP__number","arguments":{}}',
    // This call has a field that only the SDK reads.
    '{"name":"RichMCP__number","arguments":{},"unknown":1}',
  ]);
  const lines = answers.filter((line) => line.includes(BIG));
  expect(lines.map((line) => line.includes(`"structuredContent":{"id":${BIG}}`))).toEqual([true, true]);
});

test("a client over HTTP whose call the SDK answers gets the integer as text [M5]", async () => {
  const { url, runtime } = await serve({ expose: "tools" }, { mcpServers: { rich: RICH } });
  await runtime.ready;
  for (const [, open] of ERAS) {
    const client = await open(`${url}/mcp`);
    const result = await client.request("tools/call", { name: "RichMCP__number", arguments: {}, unknown: 1 });
    expect(result.structuredContent).toEqual({ id: BIG });
  }
});

test("a program gets the integer as text, with a note [M5]", { tags: "rest" }, async () => {
  const runtime = await startRuntime();
  expect(await runtime.run("(await device.RichMCP.number()).id")).toMatchObject({
    kind: "completed",
    value: BIG,
    notes: [
      `The result of RichMCP.number has the integer ${BIG} as text, because a number cannot hold it exactly`,
      expect.stringContaining("does not match its output schema") as string,
    ],
  });
  const json = `{"content":[],"structuredContent":{"ids":[${BIG},9007199254740993],"safe":9007199254740991}}`;
  expect(await runtime.run(`await device.JsonMCP.wire({ json: '${json}' })`)).toMatchObject({
    value: { ids: [BIG, "9007199254740993"], safe: Number.MAX_SAFE_INTEGER },
    notes: [
      `The result of JsonMCP.wire has ${BIG} and 1 other integers as text, because numbers cannot hold them exactly`,
    ],
  });
});

test("a text that looks like a mark stays a text [M5]", { tags: "rest" }, async () => {
  const runtime = await startRuntime();
  await runtime.run("await device.RichMCP.number()");
  const text = "exact-00000000-0000-4000-8000-000000000000:12";
  const json = JSON.stringify({ content: [], structuredContent: { text } });
  expect(await runtime.call("RichMCP.wire", { json })).toEqual({ text });
});

test("the limit of an answer counts bytes [S6]", { tags: "rest" }, async () => {
  const runtime = await startRuntime();
  const json = JSON.stringify({ content: [{ type: "text", text: "ä".repeat(60) }] });
  const limits = { answerBytes: 100 };
  expect(await runtime.run(`(await device.RichMCP.wire({ json: ${JSON.stringify(json)} })).length`)).toMatchObject({
    value: 60,
  });
  expect(await runtime.run(`await device.RichMCP.wire({ json: ${JSON.stringify(json)} })`, { limits })).toMatchObject({
    kind: "failed",
    error: { code: "ANSWER_LIMIT", message: expect.stringContaining("122 bytes, at most 100") as string },
  });
});
