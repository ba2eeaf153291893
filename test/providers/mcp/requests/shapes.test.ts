import { setImmediate as nextTurn } from "node:timers/promises";
import { Readable } from "node:stream";

import { expect, test } from "vitest";

import { toServerConfig } from "../../../../src/config/index.ts";
import { readInTurns } from "../../../../src/providers/mcp/stdio/line-reader.ts";
import { createJsonServer } from "../../../support/mcp/json-server.ts";
import { connected, createContext, ROOT } from "../../../support/mcp/servers.ts";
import { takeShare } from "../../../support/repetitions.ts";

const WIDE = JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`name${at}`, at])));

/** An MCP server over stdio with one tool, which answers with the JSON that it is called with. */
const STDIO_SERVER = `
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  const answers = {
    initialize: () => ({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "json", version: "1" } }),
    "tools/list": () => ({ tools: [{ name: "wire", description: "Answer.", inputSchema: { type: "object" } }] }),
  };
  if (id === undefined) return;
  const result = method === "tools/call" ? params.arguments.json : JSON.stringify(answers[method]?.());
  const end = result === undefined ? '"error":{"code":-32601,"message":"Method not found"}' : '"result":' + result;
  process.stdout.write('{"jsonrpc":"2.0","id":' + JSON.stringify(id) + "," + end + "}\\n");
});`;

const SERVERS = {
  "over HTTP as JSON": async () => ({ url: await createJsonServer({ tools: ["wire"], as: "json" }) }),
  "over stdio": async () => ({ command: process.execPath, args: ["-e", STDIO_SERVER] }),
  "over HTTP as events": async () => ({ url: await createJsonServer({ tools: ["wire"], as: "events" }) }),
};

test.each(takeShare(2, Object.entries(SERVERS)))(
  "fails only the call of an answer whose object has too many names, %s [M9, S7]",
  { tags: "repeated" },
  async (_way, start) => {
    const provider = await connected([toServerConfig("web", await start(), { cwd: ROOT })]);
    const call = (json: string): Promise<unknown> => provider.call("web", "wire", { json }, createContext());
    const others = [1, 2].map((n) => call(JSON.stringify({ content: [], structuredContent: { n } })));
    await expect(call(`{"content":[],"structuredContent":${WIDE}}`)).rejects.toMatchObject({
      code: "ANSWER_LIMIT",
      message:
        'Call result size limit exceeded: "wire" of "web": the answer has an object with more than 10000 names (ANSWER_LIMIT)',
    });
    expect(await Promise.all(others)).toEqual([{ n: 1 }, { n: 2 }]);
    // A text that holds such JSON stays a text.
    expect(await call(JSON.stringify({ content: [{ type: "text", text: WIDE }] }))).toBe(WIDE);
  },
);

test("leaves other work its turns while a server sends many messages at once [S7]", async () => {
  let turns = 0;
  let read = 0;
  const end = new AbortController();
  const counting = (async () => {
    for (; !end.signal.aborted; turns++) await nextTurn();
  })();
  await readInTurns(Readable.from([Buffer.alloc(200 << 10, "x\n")]), (part) => {
    read += part.length;
    for (const until = performance.now() + 3; performance.now() < until;);
  });
  end.abort();
  await counting;
  expect(read).toBe(200 << 10);
  // 50 parts of 3 ms, and a turn for others after each 10 ms.
  expect(turns).toBeGreaterThanOrEqual(10);
});
