import { once } from "node:events";

import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";

import { post, serve } from "../serving.ts";

const WIDE = `{${Array.from({ length: 20_000 }, (_, at) => `"name${at}":${at}`).join(",")}}`;
const DEEP = "[".repeat(10_000) + "]".repeat(10_000);

const BODIES = [
  ["an object with more than 10000 names", WIDE],
  ["more than 2000 levels", DEEP],
] as const;

test.each(BODIES)(
  "refuses a body with %s before it is parsed, and answers the next request [S7, V6]",
  async (excess, json) => {
    const { url } = await serve();
    const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_code","arguments":${json}}}`;
    for (const [path, body] of [
      ["/rpc", call],
      ["/mcp", call],
      ["/tools/TestSkill.add", json],
    ] as const) {
      const answer = await post(url + path, body);
      expect(answer.status, path).toBe(413);
      const { error, fault = error } = answer.json as Record<string, { data: object } | undefined>;
      expect(fault?.data, path).toMatchObject({
        reason: `The body has ${excess}`,
        suggestions: ["Send a list of pairs instead of an object with that many names, and fewer levels"],
      });
    }
    const sum = await post(`${url}/tools/run_code`, { code: "20 + 22" });
    expect(sum.json.data).toMatchObject({ value: 42 });
  },
);

test.each(BODIES)("refuses a WebSocket message with %s, and answers the next one [S7, V4]", async (excess, json) => {
  const { url } = await serve();
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`);
  onTestFinished(() => socket.terminate());
  await once(socket, "open");
  const ask = async (text: string): Promise<unknown> => {
    socket.send(text);
    const [data] = (await once(socket, "message")) as [Buffer];
    return JSON.parse(data.toString());
  };
  expect(await ask(`{"jsonrpc":"2.0","id":1,"method":"health","params":${json}}`)).toMatchObject({
    error: { code: -32700, data: { reason: `The message has ${excess}` } },
  });
  expect(await ask('{"jsonrpc":"2.0","id":2,"method":"health"}')).toMatchObject({
    id: 2,
    result: { status: "healthy" },
  });
});
