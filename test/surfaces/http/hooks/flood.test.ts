import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";

import { takeShare } from "../../../support/repetitions.ts";
import { type SignedDelivery, signers } from "../../../automations/webhook/deliveries.ts";
import { serveHooks } from "./hook-server.ts";

/** Sends a delivery from an address of this machine; returns the status of the answer. */
async function send(
  url: string,
  { headers, body }: SignedDelivery,
  { from }: { readonly from: string },
): Promise<number> {
  const outgoing = request(url, { method: "POST", headers, localAddress: from, agent });
  outgoing.end(body);
  const [incoming] = (await once(outgoing, "response")) as [{ statusCode: number; resume: () => void }];
  incoming.resume();
  return incoming.statusCode;
}

const agent = new Agent({ keepAlive: true, maxSockets: 100 });

const WRONG = signers.github("{}", "another secret");

/** More requests than a network may fail with, and fewer than those for which it is hashed in a second then. */
const FLOOD = 1_200;

const CONNECTIONS = 100;

/** Sends the requests over 100 connections, each of which does not wait for the answers. Returns the statuses of the answers. */
async function flood(url: string, getAddress: (at: number) => string): Promise<readonly number[]> {
  const port = Number(new URL(url).port);
  const connections = Array.from({ length: CONNECTIONS }, (_, at) => sendAll(port, getAddress(at)));
  return (await Promise.all(connections)).flat();
}

async function sendAll(port: number, localAddress: string): Promise<readonly number[]> {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  const headers = Object.entries({ ...WRONG.headers, host: "localhost", "content-length": WRONG.body.length });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const one = (more: string): string => `POST /hooks/push HTTP/1.1\r\n${lines}${more}\r\n${String(WRONG.body)}`;
  socket.write(one("").repeat(FLOOD / CONNECTIONS - 1) + one("connection: close\r\n"));
  return [...(await text(socket)).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
}

const SENDERS = [
  ["one address", () => "127.0.7.1"],
  ["many addresses", (at: number) => `127.0.7.${1 + at}`],
  ["the address of the deliveries", () => "127.0.7.251"],
] as const;

test.each(takeShare(SENDERS.length, SENDERS))(
  "takes deliveries beside a flood of wrong signatures of the same network, from %s",
  { tags: "repeated" },
  deliverBesideFlood,
);

async function deliverBesideFlood(_senders: string, getAddress: (at: number) => string): Promise<void> {
  const { url, stored } = await serveHooks();
  const refused = flood(`${url}/hooks/push`, getAddress);
  let count = 0;
  const deliver = async (): Promise<void> => {
    expect(await send(`${url}/hooks/push`, signers.github(`{"n":${count++}}`), { from: "127.0.7.251" })).toBe(202);
  };
  for (let at = 0; at < 20; at++) await deliver();
  expect(await refused).toEqual(Array<number>(FLOOD).fill(401));
  // The network has failed too often now.
  for (let at = 0; at < 20; at++) await deliver();
  expect(await send(`${url}/hooks/push`, signers.github('{"first":true}'), { from: "127.0.7.252" })).toBe(202);
  expect(stored).toHaveLength(41);
}

test("takes deliveries beside bodies of 1 MB that do not arrive, from many addresses", { tags: "rest" }, async () => {
  const { url, stored } = await serveHooks();
  const port = Number(new URL(url).port);
  const sockets = await Promise.all(Array.from({ length: 100 }, (_, at) => openSlowBody(port, `127.0.8.${at + 1}`)));
  for (let at = 0; at < 10; at++) {
    const large = signers.github(JSON.stringify({ at, text: "x".repeat(500_000) }));
    expect(await send(`${url}/hooks/push`, large, { from: "127.0.9.1" })).toBe(202);
    expect(await send(`${url}/hooks/push`, signers.github(`{"at":${at}}`), { from: "127.0.9.1" })).toBe(202);
  }
  expect(stored).toHaveLength(20);
  expect(sockets.filter(({ closed }) => !closed).length).toBeGreaterThan(0);
});

/** Sends all bytes of a request but the last one. */
async function openSlowBody(port: number, localAddress: string): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  socket.on("error", () => {}); // the server may close it
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  const length = 1 << 20;
  socket.write(`POST /hooks/push HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n`);
  await new Promise((resolve) => socket.write(Buffer.alloc(length - 1), resolve));
  return socket;
}
