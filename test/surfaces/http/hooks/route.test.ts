import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";

import { signers } from "../../../automations/webhook/deliveries.ts";
import { canProbe, LoopProbe, requireShortTurns } from "../../../support/loop-probe.ts";
import { faultsOfProcess } from "../../serving.ts";
import { RAW_BODY_LIMITS } from "../../../../src/surfaces/http/hooks/raw-body.ts";
import { serveHooks } from "./hook-server.ts";

const MB = 1 << 20;

interface SentDelivery {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string | Uint8Array;
}

async function send(url: string, { headers, body }: SentDelivery, init: RequestInit = {}) {
  const start = performance.now();
  const response = await fetch(url, { method: "POST", headers: headers as Record<string, string>, body, ...init });
  const text = await response.text();
  return { status: response.status, text, headers: response.headers, ms: performance.now() - start };
}

test("stores a delivery, answers 202 with its id, and answers a repeated one with 200", async () => {
  const { url, stored } = await serveHooks();
  const delivery = signers.github('{"ref":"main"}');
  const first = await send(`${url}/hooks/push`, delivery);
  const id = stored[0]?.delivery ?? "";
  expect([first.status, first.text]).toEqual([202, JSON.stringify({ delivery: id })]);
  const second = await send(`${url}/hooks/push`, delivery);
  expect([second.status, second.text]).toEqual([200, first.text]);
  expect(stored).toMatchObject([
    { automation: "push-report", input: { value: { event: "push", body: { ref: "main" } } } },
  ]);
});

test("answers a ping without storing it", async () => {
  const { url, stored } = await serveHooks();
  const { headers, body } = signers.github('{"zen":"Anything added dilutes everything else."}');
  const answer = await send(`${url}/hooks/push`, { headers: { ...headers, "x-github-event": "ping" }, body });
  expect([answer.status, answer.text, stored.length]).toEqual([200, '{"pong":true}', 0]);
});

test("answers an unknown id and a wrong signature alike, and logs the reasons", async () => {
  const { url, lines } = await serveHooks();
  const wrong = await send(`${url}/hooks/push`, signers.github("{}", "another secret"));
  const unknown = await send(`${url}/hooks/pus`, signers.github("{}", "another secret"));
  const unsigned = await send(`${url}/hooks/push`, { headers: {}, body: "{}" });
  for (const { status, headers, text } of [wrong, unknown, unsigned]) {
    expect(status).toBe(401);
    expect(Object.fromEntries(headers)).toEqual({ ...Object.fromEntries(wrong.headers), date: expect.any(String) });
    const problem = JSON.parse(text) as { readonly detail: string; readonly fault: object };
    expect(problem).toEqual({ ...(JSON.parse(wrong.text) as object), fault: expect.anything() });
    expect(problem.detail).toBe("The id of the webhook or the signature of the request is wrong");
  }
  expect(lines).toEqual([
    "Refused a request to the webhook push of the automation push-report from 127.0.0.1: the signature in x-hub-signature-256 is not that of the secret for this body",
    'Refused a request to the webhook "pus" from 127.0.0.1: no automation has this webhook',
  ]);
});

test("refuses an unknown id and a wrong signature in the same time", { tags: "rest" }, async () => {
  const { url } = await serveHooks();
  const big = signers.github(JSON.stringify("x".repeat(MB - 100)), "another secret");
  const cases = {
    unknown: [`${url}/hooks/other`, big],
    wrong: [`${url}/hooks/push`, big],
    unsigned: [`${url}/hooks/push`, { ...big, headers: {} }],
  } as const;
  const times: Record<string, number[]> = { unknown: [], wrong: [], unsigned: [] };
  for (let round = 0; round < 12; round++)
    for (const [name, [to, delivery]] of Object.entries(cases)) times[name]?.push((await send(to, delivery)).ms);
  // The shortest times: other programs on the machine delay the others.
  const shortest = Object.values(times).map((list) => Math.min(...list));
  expect(Math.min(...shortest)).toBeGreaterThanOrEqual(49);
  // Without the delay, they would differ by the hash of 1 MB.
  expect(Math.max(...shortest) - Math.min(...shortest)).toBeLessThan(25);
});

test("says what is wrong with a body to a sender who is known", async () => {
  const { url, stored } = await serveHooks();
  const answer = await send(`${url}/hooks/push`, signers.github("{"));
  expect([answer.status, JSON.parse(answer.text)]).toMatchObject([
    400,
    { detail: "the body cannot be read: it is not valid JSON" },
  ]);
  expect(stored).toEqual([]);
});

test("answers 503 if the store cannot commit or too many deliveries wait, so that the service sends again", async () => {
  const failing = await serveHooks({ store: () => Promise.reject(new Error("the disk is full")) });
  const answer = await send(`${failing.url}/hooks/push`, signers.github("{}"));
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "10"]);
  expect(answer.text).not.toContain("disk");
  expect(failing.lines).toEqual(['A delivery to the webhook "push" cannot be stored: the disk is full']);
  const full = await serveHooks({ store: () => Promise.resolve("full") });
  expect((await send(`${full.url}/hooks/push`, signers.github("{}"))).status).toBe(503);
});

test("takes a body of 1 MB, and refuses a larger one with 413", async () => {
  const { url, stored } = await serveHooks();
  const text = (length: number): string => JSON.stringify("x".repeat(length - 2));
  expect((await send(`${url}/hooks/push`, signers.github(text(MB)))).status).toBe(202);
  expect((await send(`${url}/hooks/push`, signers.github(text(MB + 1)))).status).toBe(413);
  expect((await send(`${url}/hooks/push`, signers.github(text(5 * MB)))).status).toBe(413);
  expect(stored).toHaveLength(1);
});

test("refuses an endless body without storing it, as soon as it has discarded 8 MB of it", async () => {
  const { url, stored } = await serveHooks();
  const outgoing = request(`${url}/hooks/push`, { method: "POST" });
  const answer = once(outgoing, "response") as Promise<[{ statusCode: number }]>;
  const chunk = Buffer.alloc(256 << 10);
  for (let sent = 0; sent <= RAW_BODY_LIMITS.discardedBytes; sent += chunk.length) outgoing.write(chunk);
  expect((await answer)[0].statusCode).toBe(413);
  expect(stored).toEqual([]);
  outgoing.destroy();
});

test("survives lengths that are lies, lost connections and other methods", async () => {
  const faults = faultsOfProcess();
  const { url, stored } = await serveHooks();
  const port = Number(new URL(url).port);
  const { headers, body } = signers.github("{}");
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
  const head = (length: number | string): string =>
    `POST /hooks/push HTTP/1.1\r\nHost: localhost\r\n${lines.join("")}Content-Length: ${length}\r\n\r\n`;
  // Too short: the rest is a malformed second request.
  expect(await exchange(port, `${head(1)}${body}`)).toMatch(/^HTTP\/1\.1 40[01] /);
  expect(await exchange(port, head("-1") + body)).toMatch(/^HTTP\/1\.1 400 /);
  expect(await exchange(port, head("2, 3") + body)).toMatch(/^HTTP\/1\.1 400 /);
  // Too long: the client goes before the end.
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write(`${head(100)}${body}`);
  await new Promise((resolve) => setTimeout(resolve, 20));
  socket.resetAndDestroy();
  await once(socket, "close");
  expect((await send(`${url}/hooks/push`, { headers, body })).status).toBe(202);
  expect(stored).toHaveLength(1);
  expect(faults).toEqual([]);
});

/** Writes bytes to a port, and returns what is answered until the end of the connection or for a while. */
async function exchange(port: number, bytes: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  socket.end(bytes);
  await once(socket, "close");
  return text;
}

test.runIf(canProbe)("never stops other work for more than 50 ms", { tags: "rest" }, async () => {
  const { url } = await serveHooks();
  const probe = new LoopProbe();
  onTestFinished(() => probe.close());
  const object = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, 0]));
  const bodies = [
    `"${"\\u0000".repeat(170_000)}"`,
    `[${"[],".repeat(340_000)}[]]`,
    `[${"1e5,".repeat(250_000)}1]`,
    `[${"12345678901234567890,".repeat(49_000)}1]`,
    "[".repeat(MB),
    JSON.stringify(Array.from({ length: 8 }, () => object(9_000))),
    `{"a":${"[".repeat(199)}${"]".repeat(199)}}`.padEnd(MB),
    `[${'"\\ud800",'.repeat(49_000)}1]`,
  ];
  for (const body of bodies) await requireShortTurns(probe, () => send(`${url}/hooks/push`, signers.github(body)));
  for (const body of [`payload=${"%7B".repeat(300_000)}`, "a&".repeat(500_000)]) {
    const { headers } = signers.github(body);
    await requireShortTurns(probe, () =>
      send(`${url}/hooks/push`, { headers: { ...headers, "content-type": "application/x-www-form-urlencoded" }, body }),
    );
  }
});
