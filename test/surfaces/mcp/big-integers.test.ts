import { PassThrough } from "node:stream";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";

import { createRuntime, type Runtime } from "../../../src/index.ts";
import { OWNER } from "../../../src/model/caller.ts";
import { markNumbers, parseExactly } from "../../../src/shared/json/exact-json.ts";
import { createMcpSurface } from "../../../src/surfaces/mcp/index.ts";
import { createJsonServer } from "../../support/mcp/json-server.ts";
import { serve, shareRuntime } from "../serving.ts";
import { takeEvery, takeShare } from "../../support/repetitions.ts";
import { ERAS, type RawClient } from "./raw-client.ts";

const BIG = "12345678901234567890";
const NUMBERS = { command: process.execPath, args: ["test/fixtures/mcp/numbers.js"] };
const RICH = { command: process.execPath, args: ["test/fixtures/mcp/rich-server.js"] };

/** Servers that answer over stdio, with one JSON text over HTTP, and with events. */
async function createServers(): Promise<Record<string, object>> {
  const answers = { tools: ["wire", "number", "echo"] };
  const create = (as: "json" | "events") => createJsonServer({ ...answers, as }, (close) => closers.push(close));
  return { rich: RICH, json: { url: await create("json") }, events: { url: await create("events") } };
}

const closers: (() => void)[] = [];
afterAll(() => {
  for (const close of closers) close();
});

async function startRuntime(): Promise<Runtime> {
  const runtime = await createRuntime({ skillsDir: false, workers: 1, mcpServers: (await createServers()) as never });
  await runtime.ready;
  return runtime;
}

const serveAll = shareRuntime(startRuntime);

const openShared = async (): Promise<Runtime> => (await serveAll({ expose: "tools" })).runtime;

describe.each(takeEvery(2, ERAS))(
  "a client of %s gets the digits that a server sent",
  { tags: "repeated" },
  (_era, open) => {
    test.each(["RichMCP", "JsonMCP", "EventsMCP"])("through a tool of %s [M5]", { tags: "rest" }, async (skill) => {
      const { url } = await serveAll({ expose: "tools" });
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

    test("numbers as a server wrote them, through tools and call_method [M5]", async () => {
      const clients = await Promise.all(
        (["tools", "calls"] as const).map(async (expose) => {
          const { url } = await serveAll({ expose });
          return open(`${url}/mcp`);
        }),
      );
      const [tools, calls] = clients as [RawClient, RawClient];
      const meta = `"_meta":{"n":[2.0,-0.0]}`;
      const structured = `"structuredContent":{"a":[1.0,-0,1e400,-1E+400,1.50,1E5,${BIG}.0,0.0000001],"deep":{"b":${BIG}},"text":"1.0"}`;
      const json = `{"content":[{"type":"text","text":"1.0","annotations":{"priority":1.0}}],${structured},${meta}}`;
      for (const skill of ["RichMCP", "JsonMCP", "EventsMCP"]) {
        const direct = JSON.stringify({ name: `${skill}__wire`, arguments: { json } });
        const byPath = JSON.stringify({
          name: "call_method",
          arguments: { path: `${skill}.wire`, arguments: { json } },
        });
        // A member that only the SDK reads.
        for (const [client, params] of [
          [tools, direct],
          [calls, byPath],
          [tools, `${direct.slice(0, -1)},"unknown":1}`],
        ] as const) {
          const text = await client.requestText("tools/call", params);
          expect(text).toContain(structured);
          // The SDK reads the annotations of a result that it answers with.
          if (!params.includes("unknown")) expect(text).toContain('"priority":1.0');
          expect(text).toContain('"n":[2.0,-0.0]');
        }
      }
    });

    test("numbers as a server wrote them, in resources, prompts and errors [M5]", async () => {
      const { url, runtime } = await serve({ expose: "tools" }, { mcpServers: { numbers: NUMBERS } });
      await runtime.ready;
      const client = await open(`${url}/mcp`);
      const numbers = `[1.0,-0,1e400,${BIG}]`;
      const read = (kind: string) => client.requestText("resources/read", JSON.stringify({ uri: `numbers://${kind}` }));
      expect(await read("meta")).toContain(`"n":${numbers}`);
      const failed = await read("error");
      expect(failed).toContain(`"data":{"n":${numbers}}`);
      expect(failed).toContain('"code":-32031');
      expect(await client.requestText("prompts/get", '{"name":"numbers__numbers","arguments":{}}')).toContain(
        `"n":${numbers}`,
      );
    });
  },
);

describe.each(takeShare(2, ERAS))(
  "a client of %s gets the notifications of a server",
  { tags: "repeated" },
  (_era, open) => {
    test("with level, logger, data and numbers as sent, without secrets [M5]", async () => {
      const env = { NUMBERS_KEY: "pearl-onion-42-secret" };
      const { url, runtime } = await serve({ expose: "tools" }, { mcpServers: { numbers: { ...NUMBERS, env } } });
      await runtime.ready;
      const client = await open(`${url}/mcp`);
      const text = await client.requestAll("tools/call", '{"name":"NumbersMCP__log","arguments":{}}', {
        "io.modelcontextprotocol/logLevel": "debug",
      });
      expect(text).toContain(
        `"params":{"level":"notice","logger":"db.pool","data":{"n":[1.0,-0,1e400,${BIG}],"key":"[redacted]"}}`,
      );
      const meta = { progressToken: "p" };
      const steps = await client.requestAll(
        "tools/call",
        '{"name":"NumbersMCP__progress","arguments":{}' + (_era === "2025" ? ',"_meta":{"progressToken":"p"}}' : "}"),
        meta,
      );
      expect(steps).toContain('"params":{"progressToken":"p","progress":1,"total":2}');
    });
  },
);

describe.each(takeEvery(2, ERAS))(
  "a server gets the digits that a client of %s sent",
  { tags: "repeated" },
  (_era, open) => {
    const DIGITS = `{"id":-${BIG},"deep":[{"n":9007199254740993}],"small":7,"text":"${BIG}","whole":1.0,"list":[-0,2.50]}`;

    test("over stdio and over HTTP [M5]", async () => {
      const { url, runtime } = await serveAll({ expose: "tools" });
      const { length } = runtime.audit();
      const client = await open(`${url}/mcp`);
      for (const skill of ["RichMCP", "JsonMCP", "EventsMCP"]) {
        const args = skill === "RichMCP" ? `{"id":${BIG}}` : DIGITS;
        const text = await client.requestText("tools/call", `{"name":"${skill}__echo","arguments":${args}}`);
        const { result } = JSON.parse(text);
        expect(result.content[0].text).toContain(`"arguments":${args}`);
      }
      expect(
        runtime
          .audit()
          .slice(length)
          .map(({ outcome }) => outcome),
      ).toEqual(["ok", "ok", "ok"]);
    });

    test("by call_method, and with a member that only the SDK reads [M5]", { tags: "rest" }, async () => {
      const { url } = await serveAll({ expose: "calls" });
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
  },
);

/** Makes calls as a client over stdio, and returns the lines that it receives. */
async function callOverStdio(calls: readonly string[]): Promise<readonly string[]> {
  const runtime = await openShared();
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

test("a client over HTTP whose call the SDK answers gets the digits [M5]", async () => {
  const { url } = await serveAll({ expose: "tools" });
  for (const [, open] of ERAS) {
    const client = await open(`${url}/mcp`);
    const params = '{"name":"RichMCP__number","arguments":{},"unknown":1}';
    expect(await client.requestText("tools/call", params)).toContain(`"structuredContent":{"id":${BIG}}`);
  }
});

test("a program gets the integer as text, with a note [M5]", { tags: "rest" }, async () => {
  // Of its own, because a runtime notes once that the results of a method do not match its output schema.
  const runtime = await startRuntime();
  onTestFinished(() => runtime.close());
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

test.each([`"${BIG}"`, `${BIG}n`])(
  "a program passes an integer back as %s, and the server gets its digits [M5]",
  async (id) => {
    const runtime = await openShared();
    expect(await runtime.run(`await device.RichMCP.echo({ id: ${id} })`)).toMatchObject({
      kind: "completed",
      value: expect.stringContaining(`"arguments":{"id":${BIG}}`) as string,
    });
  },
);

test("a program gets a number beyond the range as text, and the others as numbers [M5]", async () => {
  const runtime = await openShared();
  const json = `{"content":[],"structuredContent":{"x":-1e400,"whole":1.0,"big":${BIG}}}`;
  expect(await runtime.run(`await device.JsonMCP.wire({ json: '${json}' })`)).toMatchObject({
    value: { x: "-1e400", whole: 1, big: BIG },
    notes: [
      "The result of JsonMCP.wire has -1e400 and 1 other numbers as text, because numbers cannot hold them exactly",
    ],
  });
});

test("the id of an answer and the code of an error may be fractions that are whole [M5]", async () => {
  const runtime = await createRuntime({ skillsDir: false, mcpServers: { numbers: NUMBERS } });
  onTestFinished(() => runtime.close());
  await runtime.ready;
  expect(await runtime.run("await device.NumbersMCP.whole()")).toMatchObject({ value: "done" });
  expect(await runtime.run('await device.NumbersMCP.resources_read({ uri: "numbers://error" })')).toMatchObject({
    error: { message: expect.stringContaining("no such number") as string },
  });
});

test("a text with millions of numbers is marked in linear time and bounded space [S6]", { tags: "rest" }, () => {
  const json = `[[[${"1.0,".repeat(1_000_000)}1e400,1.2.3]]]`;
  const marked = markNumbers(json);
  expect(marked.length).toBeLessThan(3 * json.length);
  expect(marked.slice(-16)).toBe(':1e400",1.2.3]]]');
  expect(() => parseExactly("[[[01.0]]]")).toThrow(SyntaxError);
});

test("a text that looks like a mark stays a text [M5]", { tags: "rest" }, async () => {
  const runtime = await openShared();
  await runtime.run("await device.RichMCP.number()");
  const text = "exact-00000000-0000-4000-8000-000000000000:12";
  const json = JSON.stringify({ content: [], structuredContent: { text } });
  expect(await runtime.call("RichMCP.wire", { json })).toEqual({ text });
});

test("the limit of an answer counts bytes [S6]", { tags: "rest" }, async () => {
  const runtime = await openShared();
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
