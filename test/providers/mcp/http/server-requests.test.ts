import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";

import { CallingClients } from "../../../../src/providers/mcp/connections/calling-clients.ts";
import { TolerantTransport } from "../../../../src/providers/mcp/connections/tolerant-transport.ts";
import { createRuntime, type Runtime } from "../../../../src/runtime.ts";

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string };
}

/** What a server does for a call of its tool, and with an answer of the client. */
interface Behaviour {
  readonly call: (stream: ServerResponse, end: () => void) => void;
  readonly answer: (message: Message, response: ServerResponse) => void;
}

const TOOLS = [{ name: "ask", description: "Asks the client", inputSchema: { type: "object" } }];
const ask = (id: unknown): string => `data: ${JSON.stringify({ jsonrpc: "2.0", id, method: "roots/list" })}\n\n`;

async function reply(request: IncomingMessage, response: ServerResponse, { call, answer }: Behaviour): Promise<void> {
  const parts: Buffer[] = await request.toArray();
  if (request.method !== "POST") return void response.writeHead(405).end();
  const message = JSON.parse(Buffer.concat(parts).toString()) as Message;
  const { id, method, params } = message;
  if (method === undefined) return answer(message, response);
  if (id === undefined) return void response.writeHead(202).end();
  const serverInfo = { name: "asking", version: "1" };
  const results: Readonly<Record<string, object>> = {
    initialize: { protocolVersion: params?.protocolVersion, serverInfo, capabilities: { tools: {} } },
    "tools/list": { tools: TOOLS },
    "tools/call": { content: [{ type: "text", text: "done" }] },
  };
  const text = JSON.stringify({ jsonrpc: "2.0", id, result: results[method] ?? {} });
  if (method !== "tools/call") return void response.writeHead(200, { "content-type": "application/json" }).end(text);
  response.writeHead(200, { "content-type": "text/event-stream" });
  return call(response, () => void response.end(`data: ${text}\n\n`));
}

/** Starts an MCP server over HTTP, and a runtime that calls it. */
async function connectTo(behaviour: Behaviour): Promise<Runtime> {
  const server = createServer((request, response) => void reply(request, response, behaviour));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const runtime = await createRuntime({ mcpServers: { Asking: { url } }, typecheck: false });
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await runtime.close();
  });
  return runtime;
}

const CODE = "return await device.AskingMCP.ask({})";
const DONE = { kind: "completed", value: "done" };

test.each([
  ["with ids of their own", 100, (count: number) => `id ${count}`],
  ["with the same id", 1, () => "id"],
])(
  "holds few connections for requests of a server that takes no answers, %s [M3]",
  { tags: "rest" },
  async (_name, most, getId) => {
    let answers = 0;
    const runtime = await connectTo({
      call(stream, end) {
        for (let count = 0; count < 2_000; count++) stream.write(ask(getId(count)));
        end();
      },
      answer: () => void answers++,
    });
    expect(await runtime.run(CODE)).toMatchObject(DONE);
    await expect.poll(() => answers).toBe(most);
    expect(await runtime.run(CODE)).toMatchObject(DONE);
    expect(answers).toBe(most);
  },
);

test("answers any number of requests that come one after another [M3]", { tags: "rest" }, async () => {
  let stream: ServerResponse | undefined;
  let end = (): void => {};
  const ids: unknown[] = [];
  const runtime = await connectTo({
    call(opened, finish) {
      [stream, end] = [opened, finish];
      opened.write(ask(0));
    },
    answer({ id }, response) {
      ids.push(id);
      response.writeHead(202).end();
      if (ids.length < 150) stream?.write(ask(ids.length));
      else end();
    },
  });
  expect(await runtime.run(CODE)).toMatchObject(DONE);
  expect(ids).toEqual(Array.from({ length: 150 }, (_, count) => count));
});

test("forgets a request that waits when the server cancels it, and not one whose answer is being sent [M3]", async () => {
  const inner: Transport = { start: async () => {}, close: async () => {}, send: () => new Promise(() => {}) };
  const refused: string[] = [];
  const passed: unknown[] = [];
  const transport = new TolerantTransport(inner, new CallingClients(undefined), (text) => refused.push(text));
  transport.onmessage = (message) => void ("id" in message && passed.push(message.id));
  await transport.start();
  const receive = (message: object): void => inner.onmessage?.({ jsonrpc: "2.0", ...message } as JSONRPCMessage);
  const request = (id: number): void => receive({ id, method: "roots/list" });
  const cancel = (requestId: number): void => receive({ method: "notifications/cancelled", params: { requestId } });

  for (let id = 0; id <= 100; id++) request(id);
  expect([passed.length, refused]).toEqual([100, ["more than 100 requests at once"]]);
  void transport.send({ jsonrpc: "2.0", id: 1, result: {} });
  cancel(1);
  request(101);
  cancel(2);
  request(102);
  request(103);
  expect(passed.slice(100)).toEqual([102]);
});
