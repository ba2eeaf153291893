import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";

import { defineSkill } from "../../../src/authoring/define-skill.ts";
import { SentEvents } from "../../../src/surfaces/mcp/sessions/sent-events.ts";
import { newClient, oldClient, post, serve, whenSlow } from "../serving.ts";

const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** Calls over a connection that can be cut. */
async function beginCall(url: string, session: Readonly<Record<string, string>>, call: unknown) {
  const connection = new AbortController();
  const first = await fetch(`${url}/mcp`, {
    method: "POST",
    body: JSON.stringify(call),
    headers: { ...HEADERS, ...session },
    signal: connection.signal,
  });
  return { first, connection };
}

test("resumes a call after a lost connection [V1]", async () => {
  const { skill, goOn } = stepSkill();
  const { url } = await serve({ expose: "tools" }, { skills: [skill] });
  const session = await openSession(url);
  const call = { jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "StepSkill__two", _meta: TOKEN } };
  const { first, connection } = await beginCall(url, session, call);
  const [one] = await eventsUntil(first, '"progress":1');
  connection.abort();
  goOn();
  const back = await comeBack(url, { ...session, "last-event-id": one?.id ?? "" });
  expect([back.status, back.headers.get("mcp-session-id")]).toEqual([200, session["mcp-session-id"]]);
  const missed = await eventsUntil(back);
  expect(missed.map(({ data }) => JSON.parse(data ?? ""))).toMatchObject([
    { method: "notifications/progress", params: { progress: 2 } },
    { id: 5, result: { content: [{ text: "both" }] } },
  ]);
  // The stream can be resumed after the answer, too.
  const again = await eventsUntil(await comeBack(url, { ...session, "last-event-id": one?.id ?? "" }));
  expect(again).toEqual(missed);
});

test("sends an event id to a client that waits in silence [V1]", async () => {
  const { skill, goOn } = stepSkill();
  const { url } = await serve({ expose: "tools" }, { skills: [skill] });
  const session = await openSession(url);
  const call = { jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "StepSkill__two" } };
  const { first, connection } = await beginCall(url, session, call);
  const [mark] = await eventsUntil(first, "retry");
  expect(mark).toMatchObject({ data: "", retry: "1000" });
  connection.abort();
  goOn();
  const [answer] = await eventsUntil(await comeBack(url, { ...session, "last-event-id": mark?.id ?? "" }));
  expect(JSON.parse(answer?.data ?? "")).toMatchObject({ id: 5, result: { content: [{ text: "both" }] } });
});

test("accepts an event id only in its own session, and only while later events are stored [V6]", async () => {
  const { skill, goOn } = stepSkill();
  const { url } = await serve({ expose: "tools" }, { skills: [skill] });
  const [mine, other] = [await openSession(url), await openSession(url)];
  goOn();
  const call = { jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "StepSkill__two", _meta: TOKEN } };
  const answer = await fetch(`${url}/mcp`, {
    method: "POST",
    body: JSON.stringify(call),
    headers: { ...HEADERS, ...mine },
  });
  const [one] = await eventsUntil(answer);
  for (const headers of [
    { ...other, "last-event-id": one?.id ?? "" },
    { ...mine, "last-event-id": "call-1/999" },
    { ...mine, "last-event-id": "nonsense" },
  ]) {
    const refused = await comeBack(url, headers);
    expect([refused.status, ((await refused.json()) as { error: { data: object } }).error.data]).toMatchObject([
      400,
      { reason: expect.stringMatching(/^Cannot resume after the event in Last-Event-ID: /) },
    ]);
  }
});

test.each([
  ["first", oldClient],
  ["second", newSession],
] as const)(
  "a client of the %s generation gets the answer of its call over a bad network [V1]",
  { tags: "rest" },
  async (_name, open) => {
    const { skill, goOn } = stepSkill();
    const { url } = await serve({ expose: "tools" }, { skills: [skill] });
    const network = await badNetwork(url);
    const client = await open(network.url);
    const steps: number[] = [];
    const onprogress = ({ progress }: { progress: number }): void => {
      steps.push(progress);
      if (progress > 1) return;
      network.cut();
      goOn();
    };
    const request = { name: "StepSkill__two", arguments: {} };
    const result = await ("listen" in client
      ? client.callTool(request, { onprogress })
      : client.callTool(request, undefined, { onprogress }));
    expect(result.content).toEqual([{ type: "text", text: "both" }]);
    expect(steps).toEqual([1, 2]);
  },
);

test("stops a call whose client does not resume [V6]", { tags: "rest", timeout: 20_000 }, async () => {
  const { url } = await serve({ expose: "tools" });
  const session = await openSession(url);
  const began = whenSlow("began");
  const connection = new AbortController();
  const call = { jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "TestSkill__slow", _meta: TOKEN } };
  const response = fetch(`${url}/mcp`, {
    method: "POST",
    body: JSON.stringify(call),
    headers: { ...HEADERS, ...session },
    signal: connection.signal,
  });
  await began;
  const [one] = await eventsUntil(await response, '"progress":1');
  const aborted = whenSlow("aborted");
  connection.abort();
  await aborted;
  const late = await eventsUntil(await comeBack(url, { ...session, "last-event-id": one?.id ?? "" }));
  expect(late.map(({ data }) => JSON.parse(data ?? ""))).toMatchObject([{ id: 5, error: { code: -32003 } }]);
});

test("replays session notifications sent between two connections [V1]", async () => {
  const { url, runtime } = await serve();
  const session = await openSession(url);
  const listen = (more: Record<string, string> = {}): Promise<Response> => comeBack(url, { ...session, ...more });
  const first = await listen();
  runtime.register(stepSkill().skill);
  const heard = await eventsUntil(first, "prompts/list_changed");
  runtime.unregister("StepSkill");
  const back = await listen({ "last-event-id": heard.at(-1)?.id ?? "" });
  const missed = await eventsUntil(back, "prompts/list_changed");
  expect(missed.map(({ data }) => (JSON.parse(data ?? "") as { method: string }).method)).toEqual([
    "notifications/tools/list_changed",
    "notifications/resources/list_changed",
    "notifications/prompts/list_changed",
  ]);
});

test("stores at most two megabytes of sent events [V6]", () => {
  const sent = new SentEvents();
  const start = sent.here("a");
  const [first, ...rest] = Array.from({ length: 5 }, (_, n) =>
    sent.keep(n % 2 === 0 ? "a" : "b", String(n).repeat(500_000)),
  );
  expect(sent.since(start)).toBeUndefined();
  expect(sent.since(first ?? "")?.events.map(({ id }) => id)).toEqual([rest[1], rest[3]]);
  const huge = sent.keep("a", "x".repeat(3 << 20));
  expect(sent.since(rest[3] ?? "")).toBeUndefined();
  expect(sent.since(huge)).toEqual({ stream: "a", events: [] });
  sent.close();
});

const TOKEN = { progressToken: "p" };

/** A skill with a method of two steps; the second waits until the test releases it. */
function stepSkill() {
  let goOn = (): void => {};
  const gate = new Promise<void>((resolve) => (goOn = resolve));
  const skill = defineSkill({
    name: "StepSkill",
    description: "Does things in steps",
    methods: {
      two: {
        description: "Do two steps",
        run: async (_input, { progress }) => {
          progress(1, 2);
          await gate;
          progress(2, 2);
          return "both";
        },
      },
    },
  });
  return { skill, goOn };
}

async function openSession(url: string): Promise<Record<string, string>> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
  const { headers } = await post(`${url}/mcp`, { jsonrpc: "2.0", id: 0, method: "initialize", params });
  return { "mcp-protocol-version": "2025-11-25", "mcp-session-id": headers.get("mcp-session-id") ?? "" };
}

/** Opens a session in the way of a client of the second generation. */
function newSession(url: string): ReturnType<typeof newClient> {
  return newClient(url, {}, "/mcp", "legacy");
}

function comeBack(url: string, headers: Record<string, string>): Promise<Response> {
  return fetch(`${url}/mcp`, { headers: { accept: "text/event-stream", ...headers } });
}

interface Event {
  readonly id?: string;
  readonly data?: string;
  readonly retry?: string;
}

/** Reads the events of a stream up to one that contains a text, or to its end. */
async function eventsUntil(response: Response, last?: string): Promise<readonly Event[]> {
  let text = "";
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const isEnough = (): boolean => last !== undefined && text.includes(last) && text.endsWith("\n\n");
  while (!isEnough()) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: "" };
    if (done) break;
    text += value;
  }
  return text
    .split("\n\n")
    .filter((event) => event.startsWith("id:") || event.startsWith("event:"))
    .map((event) => Object.fromEntries(event.split("\n").map((line) => line.split(/: ?(.*)/s, 2))) as Event);
}

/** A proxy that can drop its open connections; later ones pass. */
async function badNetwork(url: string): Promise<{ readonly url: string; readonly cut: () => void }> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(new URL(url).port), "127.0.0.1");
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    }
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const cut = (): void => sockets.forEach((socket) => socket.destroy());
  onTestFinished(() => {
    cut();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cut };
}
