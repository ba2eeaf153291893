import { once } from "node:events";

import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";

import { post, serve } from "../serving.ts";

const WIDE = `{${Array.from({ length: 20_000 }, (_, at) => `"name${at}":${at}`).join(",")}}`;

test("refuses a body whose object has too many names before it is parsed, and answers the next request [S7, V6]", async () => {
  const { url } = await serve();
  const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_code","arguments":${WIDE}}}`;
  for (const [path, body] of [
    ["/rpc", call],
    ["/mcp", call],
    ["/tools/TestSkill.add", WIDE],
  ] as const) {
    const answer = await post(url + path, body);
    expect(answer.status, path).toBe(413);
    const { error, fault = error } = answer.json as Record<string, { data: object } | undefined>;
    expect(fault?.data, path).toMatchObject({
      reason: "The body has an object with more than 10000 names",
      suggestions: ["Send a list of pairs instead of an object with that many names, and flat data"],
    });
  }
  const sum = await post(`${url}/tools/run_code`, { code: "20 + 22" });
  expect(sum.json.data).toMatchObject({ value: 42 });
});

test("refuses a WebSocket message whose object has too many names, and answers the next one [S7, V4]", async () => {
  const { url } = await serve();
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`);
  onTestFinished(() => socket.terminate());
  await once(socket, "open");
  const ask = async (text: string): Promise<unknown> => {
    socket.send(text);
    const [data] = (await once(socket, "message")) as [Buffer];
    return JSON.parse(data.toString());
  };
  expect(await ask(`{"jsonrpc":"2.0","id":1,"method":"health","params":${WIDE}}`)).toMatchObject({
    error: { code: -32700, data: { reason: "The message has an object with more than 10000 names" } },
  });
  expect(await ask('{"jsonrpc":"2.0","id":2,"method":"health"}')).toMatchObject({
    id: 2,
    result: { status: "healthy" },
  });
});
