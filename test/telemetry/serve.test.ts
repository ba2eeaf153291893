// @module-tag rest

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";

import { project, start } from "../surfaces/cli/command.ts";
import { newClient, oldClient, type Parsed, post } from "../surfaces/serving.ts";
import { modernServer } from "../support/mcp/http-servers.ts";
import { type Collector, type ReceivedSpan, startCollector } from "./collector.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";
const TRACEPARENT = `00-${TRACE}-${PARENT}-01`;

interface Served {
  readonly url: string;
  /** Lines on stderr. */
  readonly lines: readonly string[];
  /** Ends the server as a terminal does, and waits for its end. */
  readonly stop: () => Promise<void>;
}

const METADATA_SERVER = { command: process.execPath, args: [resolve("test/fixtures/mcp/metadata.js")] };

/** Serves a project with the MCP server that returns the `_meta` of its calls. */
async function serve(
  env: NodeJS.ProcessEnv,
  { servers = { metadata: METADATA_SERVER }, args = [] }: { servers?: object; args?: readonly string[] } = {},
): Promise<Served> {
  const cwd = project({ ".mcp.json": JSON.stringify({ mcpServers: servers }) });
  const child = start(["serve", "--http", "--port", "0", "--no-auth", ...args], { cwd, env });
  const lines: string[] = [];
  const url = await whenServing(child, lines);
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    if (child.exitCode === null) await once(child, "exit");
  };
  onTestFinished(stop);
  return { url, lines, stop };
}

function whenServing({ stderr }: ChildProcess, lines: string[]): Promise<string> {
  if (stderr === null) throw new TypeError("stderr must be a pipe");
  return new Promise((done) => {
    createInterface({ input: stderr }).on("line", (line) => {
      lines.push(line);
      const [, url] = /(?:Serving|MCP) at (\S+)\/mcp/.exec(line) ?? [];
      if (url !== undefined) done(url);
    });
  });
}

/** The ancestors of a span, the nearest first. */
function ancestors(span: ReceivedSpan | undefined, collector: Collector): readonly string[] {
  const parent = collector.spans.find(({ spanId }) => spanId === span?.parent);
  return parent === undefined ? [] : [parent.name, ...ancestors(parent, collector)];
}

test("continues the trace of a client through a served run to the `_meta` of a stdio server [O4]", async () => {
  const collector = await startCollector();
  const { url, stop } = await serve(collector.env);
  const client = await newClient(url);
  const result: Parsed = await client.callTool({
    name: "run_code",
    arguments: { code: "await device.MetadataMCP.metadata()" },
    _meta: { traceparent: TRACEPARENT, tracestate: "vendor=1", baggage: "tenant=acme" },
  });
  await stop();
  const sent = JSON.parse(result.content[0].text);
  const provider = collector.spans.find(({ name }) => name === "tools/call metadata");
  expect(sent).toMatchObject({
    traceparent: `00-${TRACE}-${provider?.spanId}-01`,
    tracestate: "vendor=1",
    baggage: "tenant=acme",
  });
  expect(ancestors(provider, collector)).toEqual([
    "execute_tool MetadataMCP.metadata",
    "skillgate.sandbox",
    "skillgate.run",
    "tools/call run_code",
  ]);
  expect(provider).toMatchObject({
    kind: "client",
    traceId: TRACE,
    attributes: {
      "mcp.method.name": "tools/call",
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "metadata",
      "mcp.protocol.version": "2025-11-25",
      "network.transport": "pipe",
    },
  });
  const server = collector.spans.find(({ name }) => name === "tools/call run_code");
  expect(server).toMatchObject({
    kind: "server",
    traceId: TRACE,
    parent: PARENT,
    attributes: {
      "mcp.method.name": "tools/call",
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "run_code",
      "mcp.protocol.version": "2026-07-28",
      "network.transport": "tcp",
      "jsonrpc.request.id": expect.any(String),
    },
  });
  const request = collector.spans.find(({ spanId }) => server?.links.includes(spanId));
  expect(request).toMatchObject({ name: "POST /mcp", kind: "server" });
  expect(collector.resources[0]).toMatchObject({ "service.name": "skillgate" });
});

test("names the trace of a request in the errors of programs and of unknown tools [O4]", async () => {
  const collector = await startCollector();
  const { url, stop } = await serve(collector.env);
  const client = await newClient(url);
  const _meta = { traceparent: TRACEPARENT };
  const refused: Parsed = await client.callTool({ name: "run_code", arguments: { code: "device.No.no()" }, _meta });
  const unknown: Parsed = await client.callTool({ name: "no_tool", _meta }).catch(({ data }: Parsed) => data);
  await stop();
  expect([refused.structuredContent.trace_id, unknown.trace_id]).toEqual([TRACE, TRACE]);
});

test("traces the requests of older clients and of other endpoints [O4]", async () => {
  const collector = await startCollector();
  const { url, stop } = await serve({ ...collector.env, OTEL_SERVICE_NAME: "gate" });
  const client = await oldClient(url);
  await client.listTools();
  const answer = await post(`${url}/tools/MetadataMCP.fail`, {}, { traceparent: TRACEPARENT });
  const refused = await post(`${url}/tools/MetadataMCP.refuse`, {}, { traceparent: TRACEPARENT });
  await stop();
  expect([answer.status, refused.status]).toEqual([502, 502]);
  expect(answer.json.fault.data.trace_id).toBe(TRACE);
  const list = collector.spans.find(({ name, kind }) => name === "tools/list" && kind === "server");
  expect(ancestors(list, collector)).toEqual(["POST /mcp"]);
  const failed = collector.spans.find(({ name }) => name === "tools/call fail");
  expect(ancestors(failed, collector)).toEqual(["execute_tool MetadataMCP.fail", "POST /tools/{name}"]);
  const attributes = (name: string): unknown => collector.spans.find((span) => span.name === name)?.attributes;
  expect(attributes("tools/call fail")).toMatchObject({ "error.type": "tool_error" });
  expect(attributes("tools/call refuse")).toMatchObject({
    "error.type": "-32602",
    "rpc.response.status_code": "-32602",
  });
  expect(collector.spans.find(({ name }) => name === "POST /tools/{name}")).toMatchObject({
    traceId: TRACE,
    parent: PARENT,
    isFailed: true,
    attributes: {
      "http.request.method": "POST",
      "http.route": "/tools/{name}",
      "http.response.status_code": 502,
      "error.type": "502",
    },
  });
  expect(collector.resources[0]).toMatchObject({ "service.name": "gate" });
  const names = [...collector.metrics.keys()];
  for (const name of ["http.server.request.duration", "mcp.server.operation.duration", "mcp.client.operation.duration"])
    expect(names).toContain(name);
});

test("hands the trace to a remote MCP server in its headers, too [O4]", async () => {
  const collector = await startCollector();
  const remote = await modernServer();
  const { url, stop } = await serve(collector.env, { servers: { remote: { url: remote.url } } });
  await post(`${url}/tools/RemoteMCP.echo`, { message: "hello" }, { traceparent: TRACEPARENT });
  await stop();
  const span = collector.spans.find(({ name }) => name === "tools/call echo");
  expect(remote.traces).toContain(`00-${TRACE}-${span?.spanId}-01`);
  expect(span?.attributes).toMatchObject({
    "network.transport": "tcp",
    "network.protocol.name": "http",
    "server.address": "127.0.0.1",
    "server.port": Number(new URL(remote.url).port),
  });
});

const INVALID_TRACEPARENTS = {
  "another version": `ff-${TRACE}-${PARENT}-01`,
  zeros: `00-${"0".repeat(32)}-${PARENT}-01`,
  "too few digits": `00-${TRACE.slice(1)}-${PARENT}-01`,
  "much text": `${TRACEPARENT}${"x".repeat(9_000)}`,
  markup: "<script>alert(1)</script>",
};

test("begins a trace of its own for a traceparent that is not valid [O4]", async () => {
  const collector = await startCollector();
  const { url, stop } = await serve(collector.env, { servers: {} });
  const client = await newClient(url);
  for (const [what, traceparent] of Object.entries(INVALID_TRACEPARENTS)) {
    const code = `print(${JSON.stringify(what)}); 6 * 7`;
    expect((await post(`${url}/tools/run_code`, { code }, { traceparent })).status, what).toBe(200);
    const call = { name: "run_code", arguments: { code }, _meta: { traceparent } };
    const result: Parsed = await client.callTool(call);
    expect(result.content[0].text, what).toContain("42");
  }
  await stop();
  const runs = collector.spans.filter(({ name }) => name === "skillgate.run");
  expect(new Set(runs.map(({ traceId }) => traceId)).size).toBe(2 * Object.keys(INVALID_TRACEPARENTS).length);
  for (const { traceId } of runs) expect([TRACE, "0".repeat(32)]).not.toContain(traceId);
  expect(collector.text()).not.toContain("alert(");
});

test("ignores trace fields in `_meta` that are not text [O4]", async () => {
  const collector = await startCollector();
  const { url, stop } = await serve(collector.env, { servers: {} });
  const client = await oldClient(url);
  const meta = { traceparent: { toString: 1 }, tracestate: [1], baggage: 7 };
  const result: Parsed = await client.callTool({ name: "run_code", arguments: { code: "6 * 7" }, _meta: meta });
  expect(result.content[0].text).toBe("42");
  await stop();
  expect(collector.spans.map(({ name }) => name)).toContain("skillgate.run");
});

test("writes the log as JSON with the ids of the trace and the span [O4]", async () => {
  const collector = await startCollector();
  const { url, lines, stop } = await serve(collector.env, { args: ["--log-format", "json"] });
  await post(`${url}/tools/run_code`, { code: "await device.MetadataMCP.metadata()" }, { traceparent: TRACEPARENT });
  await stop();
  const records: Parsed[] = lines.map((line) => JSON.parse(line));
  const start = records.find(({ msg }) => msg.includes("MCP at http://"));
  expect(start).toMatchObject({ level: "info" });
  expect(start?.trace_id).toBeUndefined();
  const span = collector.spans.find(({ name }) => name === "execute_tool MetadataMCP.metadata");
  expect(records.find(({ msg }) => msg === "call")).toMatchObject({
    level: "info",
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    path: "MetadataMCP.metadata",
    outcome: "ok",
    trace_id: TRACE,
    span_id: span?.spanId,
  });
  const run = collector.spans.find(({ name }) => name === "skillgate.run");
  expect(records.find(({ msg }) => msg === "run")).toMatchObject({
    runId: run?.attributes["skillgate.run.id"],
    outcome: "completed",
    trace_id: TRACE,
    span_id: run?.spanId,
  });
});

test("sends metrics while it serves [O4]", async () => {
  const collector = await startCollector();
  const { url } = await serve(collector.env, { servers: {} });
  await post(`${url}/tools/run_code`, { code: "6 * 7" });
  expect(await collector.whenMetric("skillgate.run.duration")).toMatchObject({
    unit: "s",
    points: [{ attributes: { "skillgate.run.outcome": "completed" } }],
  });
});
