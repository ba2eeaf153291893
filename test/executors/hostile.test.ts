// @module-tag rest
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { defineSkill, type ProvidedSkill } from "../../src/index.ts";
import { joinWith, openHub, waitForDevice } from "../providers/nodes/network.ts";
import { createMachineKey } from "../support/machine-key.ts";
import { NATS_SERVER, startNats } from "../support/servers/nats.ts";
import { openStranger } from "../support/stranger.ts";
import { openFront, startExecutorHere } from "./network.ts";

/** The time for which the stranger attacks, in seconds. */
const SECONDS = Number(process.env["SKILLGATE_HOSTILE_SECONDS"] ?? 20);

/** Milliseconds between two floods. All machines of the test and the stranger are in one process. */
const TURN_MS = 200;

const DEVICES = ["one", "two", "three"] as const;
/** Messages without a sender that are sent in one flood. */
const FLOOD = 100;
/** Recorded messages that are sent again in one flood, each to all subjects. */
const REPLAYED = 20;

const INPUT = { type: "object", properties: { order: { type: "string" } }, required: ["order"] };

/** A skill that logs each payment, and takes some milliseconds for it. */
function createPaySkill(paid: string[]): ProvidedSkill {
  const run = async ({ order }: Record<string, unknown>): Promise<string> => {
    paid.push(String(order));
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 100));
    return `paid ${String(order)}`;
  };
  const pay = { description: "Pays an order", input: INPUT, destructive: true, run };
  return defineSkill({ name: "PaySkill", description: "Pays orders", methods: { pay } });
}

test.skipIf(NATS_SERVER === undefined)(
  "makes each payment once and tells its true end, while a stranger records, replays, forges and floods [O3, P7]",
  { timeout: (SECONDS + 60) * 1_000 },
  async () => {
    const server = await startNats();
    const folder = mkdtempSync(join(tmpdir(), "skillgate-hostile-"));
    onTestFinished(async () => {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const names = ["controller", "front", "executor", ...DEVICES];
    const keys = new Map(names.map((name) => [name, createMachineKey()]));
    const peers = Object.fromEntries([...keys].map(([name, { publicKey }]) => [name, publicKey]));
    const sign = (name: string): Readonly<Record<string, unknown>> => ({ name, key: keys.get(name)?.key, peers });
    const { url } = server;
    const stranger = await openStranger(url);
    const paid: string[] = [];

    const start = (name: string): ReturnType<typeof joinWith> =>
      joinWith({ url, ...sign(name) }, { skills: [createPaySkill(paid)] });
    const devices = await Promise.all(DEVICES.map(start));
    const hub = await openHub({ url, ...sign("controller") });
    for (const name of DEVICES) await waitForDevice(hub, name);

    const project = { url, location: { folder }, options: { runs: { record: "off" } } as const };
    for (let at = 0; at < 2; at++) await startExecutorHere(project, [createPaySkill(paid)], sign("executor"));
    const { runtime: front } = await openFront(project, [createPaySkill([])], sign("front"));

    stranger.forge();
    const ending = new AbortController();
    const attack = async (): Promise<void> => {
      for (let turn = 0; !ending.signal.aborted; turn++) {
        await stranger.replay(REPLAYED);
        const id = turn.toString(16).padStart(32, "0");
        for (let at = 0; at < FLOOD; at++) {
          const name = names[at % names.length] ?? "";
          const text = JSON.stringify({ group: "nodes", device: name, start: id, key: "x".repeat(43) });
          for (const group of ["nodes", "executors"])
            stranger.publish(`skillgate.${group}.${name}`, JSON.stringify({ protocol: 2, text, signature: "x" }));
        }
        await stranger.flush();
        await new Promise((resolve) => setTimeout(resolve, TURN_MS));
      }
    };

    let count = 0;
    const ends: { readonly order: string; readonly answer: unknown }[] = [];
    const work = async (pay: (order: string) => Promise<unknown>): Promise<void> => {
      while (!ending.signal.aborted) {
        const order = `order ${++count}`;
        const answer = await pay(order).catch((error: unknown) => error);
        ends.push({ order, answer });
        // Calls of a device that is not there fail at once.
        if (answer instanceof Error) await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const program = (order: string): Promise<unknown> =>
      front.run(`await device.PaySkill.pay(${JSON.stringify(order)})`).then((outcome) => {
        return outcome.kind === "completed" ? outcome.value : outcome;
      });
    const workers = [
      ...DEVICES.map((name) => work((order) => hub.call(`${name}.PaySkill.pay`, { order }))),
      ...Array.from({ length: 3 }, () => work((order) => hub.call("hub.PaySkill.pay", { order }))),
      ...Array.from({ length: 4 }, () => work(program)),
    ];
    const attacking = attack();
    await new Promise((resolve) => setTimeout(resolve, (SECONDS / 2) * 1_000));
    // A device that restarts takes no message to its earlier start.
    await devices[0]?.leave();
    await start("one");
    await waitForDevice(hub, "one");
    await new Promise((resolve) => setTimeout(resolve, (SECONDS / 2) * 1_000));
    ending.abort();
    await Promise.all([...workers, attacking]);

    const failures = ends.flatMap(({ answer }) => (typeof answer === "string" ? [] : [String(answer)]));
    console.log(
      `${SECONDS} s: ${ends.length} payments, of which ${failures.length} failed: ${[...new Set(failures)].join("; ")}`,
      `\n${stranger.recorded.length} messages recorded, ${stranger.sent} sent by the stranger`,
    );
    const orders = new Set(paid);
    expect(orders.size).toBe(paid.length);
    // While one device restarts, its calls fail with the words that they may have had an effect, or that it is not there.
    for (const { order, answer } of ends)
      if (typeof answer === "string") expect([answer, orders.has(order)]).toEqual([`paid ${order}`, true]);
      else expect(String(answer)).toMatch(/"one" .*(unknown|left the network)|one\.PaySkill\.pay/);
    expect(ends.length).toBeGreaterThan(SECONDS * 10);
  },
);
