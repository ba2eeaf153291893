import { Client as NewClient } from "@modelcontextprotocol/client";
import { StdioClientTransport as NewStdio } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { expect, onTestFinished, test } from "vitest";

import { OLD } from "../serving.ts";
import { BIN, environment, INITIALIZE, project, start } from "./stdio-server.ts";

const COUNT_SKILL = `
/** Says how far it is. */
export class CountSkill {
  /** Counts for some milliseconds. */
  async count(ms: number, context: { progress(done: number): void }): Promise<string> {
    for (let done = 0; done < ms / 5; done++) {
      context.progress(done);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return "counted";
  }
}
`;

test("lets clients of both generations list and call over stdio [V1]", async () => {
  const cwd = project();
  const started = { command: process.execPath, args: [BIN, "serve", "--stdio"], cwd, env: environment(cwd) };
  const old = new OldClient(OLD, {});
  await old.connect(new OldStdio({ ...started, stderr: "ignore" }) as never);
  onTestFinished(() => old.close());
  const young = new NewClient({ name: "new", version: "2" }, { versionNegotiation: { mode: "auto" } });
  await young.connect(new NewStdio({ ...started, stderr: "ignore" }));
  onTestFinished(() => young.close());
  for (const client of [old, young]) {
    // The first list does not wait for the skills.
    const list = async () => (await client.listTools()).tools.map(({ name }) => name);
    await expect
      .poll(list, { timeout: 10_000 })
      .toEqual(["search_skills", "describe_function", "run_code", "LoudSkill__say", "LoudSkill__wait"]);
    const ran = await client.callTool({ name: "run_code", arguments: { code: 'await device.LoudSkill.say("hi")' } });
    expect(ran.content).toEqual([{ type: "text", text: "hi" }]);
  }
});

test(
  "writes only protocol messages to stdout, and answers each broken line with an error [V1]",
  { tags: "rest" },
  async () => {
    const server = start(project());
    const answers = server.send(
      INITIALIZE,
      "{broken",
      '{"jsonrpc":"1.0","id":5,"method":"ping"}',
      "[]",
      { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "LoudSkill__say", arguments: { word: "loud" } } },
      { jsonrpc: "2.0", id: 3, method: "nonsense" },
    );
    const lines = await answers;
    const parsed = lines.map((line) => JSON.parse(line));
    const of = (id: unknown): unknown => parsed.filter((message) => message.id === id);
    expect(of(2)).toMatchObject([{ result: { content: [{ type: "text", text: "loud" }] } }]);
    expect(of(3)).toMatchObject([{ error: { code: -32601 } }]);
    expect(of(5)).toMatchObject([{ error: { code: -32600, message: "Invalid Request" } }]);
    expect(of(null)).toMatchObject([
      { error: { code: -32700, message: "Parse error", data: { error_type: "ParseError", retryable: false } } },
      { error: { code: -32600, data: { error_type: "InvalidRequest" } } },
    ]);
    expect(parsed.every(({ jsonrpc }) => jsonrpc === "2.0")).toBe(true);
    expect(await server.exit).toEqual([0, null]);
  },
);

test("answers requests in progress when the input ends [V1]", { tags: "rest" }, async () => {
  const server = start(project());
  const params = { name: "run_code", arguments: { code: "await device.LoudSkill.wait(300)" } };
  const lines = await server.send(INITIALIZE, { jsonrpc: "2.0", id: 2, method: "tools/call", params });
  expect(lines.map((line) => JSON.parse(line)).find(({ id }) => id === 2)).toMatchObject({
    result: { content: [{ text: "waited" }] },
  });
});

test(
  "gives requests 1 s more when a client ends its input that has waited for them [V1]",
  { tags: "rest" },
  async () => {
    const server = start(project());
    const wait = (id: number, ms: number): object => {
      const params = { name: "run_code", arguments: { code: `await device.LoudSkill.wait(${ms})` } };
      return { jsonrpc: "2.0", id, method: "tools/call", params };
    };
    server.write(INITIALIZE, wait(2, 2_000), wait(3, 600_000));
    await server.line('"id":2');
    server.child.stdin.end();
    expect(JSON.parse(await server.line('"id":3'))).toMatchObject({
      error: { code: -32003, data: { reason: "The run was cancelled: the server ends (CANCELLED)" } },
    });
    expect(await server.exit).toEqual([0, null]);
  },
);

test.skipIf(process.platform === "win32")(
  "ends with requests in progress when the client has gone, which closes all its pipes [V6]",
  { tags: "rest", timeout: 20_000 },
  async () => {
    const server = start(project());
    await beginLongCall(server);
    server.child.stdout.destroy();
    server.child.stdin.end();
    expect(await server.exit).toEqual([0, null]);
  },
);

test("answers requests in progress when the server is asked to stop [V1]", { tags: "rest" }, async () => {
  const server = start(project());
  const params = {
    name: "run_code",
    arguments: { code: "await device.LoudSkill.wait(300)" },
    _meta: { progressToken: 1 },
  };
  server.write(INITIALIZE, { jsonrpc: "2.0", id: 2, method: "tools/call", params });
  await server.line("notifications/progress");
  server.child.kill("SIGTERM");
  expect(JSON.parse(await server.line('"id":2'))).toMatchObject({ result: { content: [{ text: "waited" }] } });
  expect(await server.exit).toEqual([0, null]);
});

const PAY_SKILL = `
/** Pays. */
export class PaySkill {
  /**
   * Pay.
   * @approval user
   */
  pay(): void {}
}
`;

test("answers a caller whose program waits for a person when asked to stop [R2]", { tags: "rest" }, async () => {
  const files = { "skills/pay.ts": PAY_SKILL, "settings.yaml": "approvals: { holdSeconds: 600 }\n" };
  const server = start(project(files));
  const params = {
    name: "run_code",
    arguments: { code: "await device.LoudSkill.wait(1); await device.PaySkill.pay()" },
    _meta: { progressToken: 1 },
  };
  server.write(INITIALIZE, { jsonrpc: "2.0", id: 2, method: "tools/call", params });
  await server.line("notifications/progress");
  server.child.kill("SIGTERM");
  const text = expect.stringMatching(/^Run \S+ waits for .*with resume_run/);
  expect(JSON.parse(await server.line('"id":2'))).toMatchObject({ result: { content: [{ text }] } });
  expect(await server.exit).toEqual([0, null]);
});

test("rejects a message over the size limit, and answers the next one [V6]", { tags: "rest" }, async () => {
  const server = start(project({ "settings.yaml": "server:\n  bodyBytes: 1000\n" }));
  const lines = await server.send(
    INITIALIZE,
    { jsonrpc: "2.0", id: 2, method: "ping", params: { padding: "x".repeat(2_000) } },
    { jsonrpc: "2.0", id: 3, method: "ping" },
  );
  const parsed = lines.map((line) => JSON.parse(line));
  expect(parsed.find(({ error }) => error !== undefined)).toMatchObject({
    id: null,
    error: {
      code: -32600,
      data: { reason: expect.stringMatching(/^The message of \d+ bytes exceeds the limit of 1000/) },
    },
  });
  expect(parsed.find(({ id }) => id === 3)).toEqual({ jsonrpc: "2.0", id: 3, result: {} });
});

test(
  "answers each call of a reused id, and sends nothing more about a cancelled one [V6]",
  { tags: "rest" },
  async () => {
    const server = start(project({ "skills/count.ts": COUNT_SKILL }));
    const call = (name: string, args: object) => ({
      jsonrpc: "2.0",
      id: 2,
      method: "tools/call",
      params: { name, arguments: args, _meta: { progressToken: name } },
    });
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 2 } };
    server.write(INITIALIZE, call("CountSkill__count", { ms: 5_000 }));
    await server.line("notifications/progress");
    server.write(call("LoudSkill__say", { word: "too early" }));
    expect(JSON.parse(await server.line("The request id 2 is already in use"))).toMatchObject({
      id: 2,
      error: { code: -32600 },
    });
    const lines = await server.send(cancel, call("LoudSkill__say", { word: "mine" }));
    const parsed = lines.map((line) => JSON.parse(line));
    const answers = parsed.filter(({ id }) => id === 2);
    expect(answers).toMatchObject([
      { error: { code: -32600 } },
      { error: { code: -32003 } },
      { result: { content: [{ text: "mine" }] } },
    ]);
    const afterwards = parsed.slice(parsed.indexOf(answers[1]));
    expect(afterwards.filter(({ params }) => params?.progressToken === "CountSkill__count")).toEqual([]);
  },
);

test(
  "answers a batch of thousands completely, even if the client reads late and has ended its input [V1]",
  { tags: "rest" },
  async () => {
    const server = start(project());
    const batch = Array.from({ length: 20_000 }, (_, id) => ({ jsonrpc: "2.0", id, method: "ping" }));
    server.child.stdout.pause();
    server.write(INITIALIZE, batch);
    server.child.stdin.end(() => server.child.stdout.resume());
    await server.ended;
    expect(server.lines).toHaveLength(batch.length + 1);
    expect(server.errors()).toBe("");
  },
);

test("logs no warning if a server is still connecting when the client disconnects [V1]", { tags: "rest" }, async () => {
  const silent = { command: process.execPath, args: ["-e", "process.stdin.resume()"] };
  const cwd = project({ "servers.json": JSON.stringify({ mcpServers: { silent } }) });
  const server = start(cwd, "--mcp-config", "servers.json");
  await server.send(INITIALIZE);
  expect(await server.exit).toEqual([0, null]);
  expect(server.errors()).toBe("");
});

test("reads a last line without a newline [V1]", { tags: "rest" }, async () => {
  const server = start(project());
  server.write(INITIALIZE);
  server.child.stdin.end('{"jsonrpc":"2.0","id":2,"method":"ping"}');
  expect(JSON.parse(await server.line('"id":2'))).toEqual({ jsonrpc: "2.0", id: 2, result: {} });
  expect(await server.exit).toEqual([0, null]);
});

test("rejects a line that is not valid UTF-8, and accepts a byte order mark [V6]", { tags: "rest" }, async () => {
  const server = start(project());
  server.write(INITIALIZE);
  server.child.stdin.write(Buffer.concat([Buffer.from('{"id":2,"method":"'), Buffer.from([0xc3, 0x28]), NEWLINE]));
  const lines = await server.send('\uFEFF{"jsonrpc":"2.0","id":3,"method":"ping"}');
  const parsed = lines.map((line) => JSON.parse(line));
  expect(parsed.find(({ id }) => id === null)).toMatchObject({
    error: { code: -32700, data: { reason: "The line is not valid UTF-8" } },
  });
  expect(parsed.find(({ id }) => id === 3)).toMatchObject({ result: {} });
});

/** A call with the id 2 that runs for a minute. */
async function beginLongCall(server: ReturnType<typeof start>): Promise<void> {
  const call = { name: "run_code", arguments: { code: "await device.LoudSkill.wait(60000)" } };
  server.write(INITIALIZE, {
    jsonrpc: "2.0",
    id: 2,
    method: "tools/call",
    params: { ...call, _meta: { progressToken: 1 } },
  });
  await server.line("notifications/progress");
}

test(
  "answers requests that exceed the drain time with the reason when asked to stop [V1]",
  { tags: "rest" },
  async () => {
    const server = start(project({ "settings.yaml": "server:\n  drainSeconds: 0\n" }));
    await beginLongCall(server);
    server.child.kill("SIGTERM");
    expect(JSON.parse(await server.line('"id":2'))).toMatchObject({
      error: { code: -32003, data: { reason: "The run was cancelled: the server ends (CANCELLED)" } },
    });
    expect(await server.exit).toEqual([143, null]);
  },
);

test(
  "ends the server when the client stops reading, even with requests in progress [V6]",
  { tags: "rest" },
  async () => {
    const server = start(project());
    await beginLongCall(server);
    server.child.stdout.destroy();
    server.write({ jsonrpc: "2.0", id: 3, method: "ping" });
    expect(await server.exit).toEqual([0, null]);
  },
);

const NEWLINE = Buffer.from("\n");
