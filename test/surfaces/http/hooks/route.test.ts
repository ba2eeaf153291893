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

/** 49,000 values: nearly as many as a body may have. */
const list = (value: string): string => `[${`${value},`.repeat(48_999)}${value}]`;

const names = (count: number, getName: (at: number) => string): string =>
  `{${Array.from({ length: count }, (_, at) => `${JSON.stringify(getName(at))}:0`).join()}}`;

const FORM = "application/x-www-form-urlencoded";

test.runIf(canProbe).for<readonly [title: string, body: string | Buffer, type?: string]>([
  ["escapes", `"${String.raw`\u0000`.repeat(170_000)}"`],
  ["lists", `[${"[],".repeat(340_000)}[]]`],
  ["as many lists as are read", list("[]")],
  [
    "as many objects as are read",
    list('{"a":{}}')
      .slice(0, 1 + 9 * 24_000)
      .replace(/,$/, "]"),
  ],
  ["numbers with an exponent", `[${"1e5,".repeat(250_000)}1]`],
  ["as many numbers with an exponent as are read", list("1e5")],
  ["numbers with zeros at their ends", list("1.0")],
  ["negative zeros", list("-0")],
  ["small fractions", list("0.00000001")],
  ["fractions of 20 digits", list("1.234567890123456789")],
  ["fractions between two numbers", list("5e-324")],
  ["integers of 20 digits", list("12345678901234567890")],
  ["as many integers of 200 digits as are read", `[${`${"1".repeat(200)},`.repeat(4_999)}1]`],
  ["an integer of a million digits", `[${"1".repeat(1_000_000)}]`],
  ["a fraction of a million digits", `[0.${"1".repeat(1_000_000)}]`],
  ["a number with a million minus signs", `[1${"-".repeat(1_000_000)}]`],
  ["levels that do not end", "[".repeat(MB)],
  ["levels of objects", '{"a":'.repeat(200_000)],
  ["as many levels as are read", `{"a":${"[".repeat(196)}${"]".repeat(196)}}`.padEnd(MB)],
  ["lists with as many levels as are read", `[${`${"[".repeat(190)}${"]".repeat(190)},`.repeat(255)}1]`],
  ["many names", names(60_000, (at) => `n${at}`)],
  [
    "as many names as are read, several times",
    `[${Array.from({ length: 4 }, () => names(9_999, (at) => `n${at}`)).join()}]`,
  ],
  ["long names", names(9_999, (at) => `${at}${"n".repeat(90)}`)],
  ["names that are numbers", names(9_999, (at) => String(at * 7_919))],
  ["a name of its own in each object", `[${Array.from({ length: 24_500 }, (_, at) => `{"n${at}":1.0}`).join()}]`],
  ["fractions of 17 digits", list("0.12345678901234567")],
  ["one name many times", names(9_999, () => "a")],
  ["the name __proto__ many times", names(9_999, () => "__proto__")],
  ["lone surrogates", `[${String.raw`"\ud800",`.repeat(49_000)}1]`],
  ["a long text", JSON.stringify("a".repeat(MB - 2))],
  ["a text of quotes", JSON.stringify('"'.repeat(MB / 2 - 1))],
  ["a text of backslashes that does not end", `"${"\\".repeat(MB - 2)}"`],
  ["spaces", " ".repeat(MB)],
  ["quotes", '"'.repeat(MB)],
  ["bytes that are not UTF-8", Buffer.alloc(MB, 0xff)],
  ["bytes that are not UTF-8 at the end", Buffer.concat([Buffer.alloc(MB - 1, "é"), Buffer.from([0xc3])])],
  ["a text of another type", "a".repeat(MB), "text/plain"],
  ["a form with escapes", `payload=${"%7B".repeat(300_000)}`, FORM],
  ["a form with invalid escapes", `a=${"%".repeat(MB - 2)}`, FORM],
  ["a form with many names", "a&".repeat(500_000), FORM],
  ["a form with 60,000 pairs", Array.from({ length: 60_000 }, (_, at) => `n${at}=1`).join("&"), FORM],
  ["a form with one name many times", "a=1&".repeat(60_000), FORM],
  ["a form with as many pairs as are read", `${"a=1&".repeat(998)}b=${"+".repeat(1_000_000)}`, FORM],
  ["a form with JSON", `payload=${encodeURIComponent(list("1.0"))}`, FORM],
])(
  "does not stop other work for more than 50 ms because of %s",
  { tags: "rest" },
  async ([, body, type = "application/json"]) => {
    const { url } = await serveHooks();
    const probe = new LoopProbe();
    onTestFinished(() => probe.close());
    const { headers } = signers.github(body);
    await requireShortTurns(probe, () =>
      send(`${url}/hooks/push`, { headers: { ...headers, "content-type": type }, body }),
    );
  },
);
