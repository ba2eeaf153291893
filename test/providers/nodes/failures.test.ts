import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, onTestFinished, test } from "vitest";

import { NATS_SERVER, type NatsServer, startNats } from "../../support/servers/nats.ts";
import { BIN } from "../../surfaces/cli/command.ts";
import { createEchoSkill, joinWith, openHub, waitForDeparture, waitForDevice } from "./network.ts";

const SKILL = `
/** Waits. */
export class WaitSkill {
  /** Wait for ever.
   * @timeout 60000 */
  async wait() { await new Promise((done) => setTimeout(done, 3_600_000)); }
  /** Answer. */
  answer() { return 42; }
}
`;

async function openServer(config?: string): Promise<NatsServer> {
  const server = await startNats(config);
  onTestFinished(() => server.close());
  return server;
}

/** Joins the network with the command, as a process of its own. */
async function startNode(url: string): Promise<ReturnType<typeof spawn>> {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-node-"));
  mkdirSync(join(folder, "skills"));
  writeFileSync(join(folder, "skills", "wait.mjs"), SKILL);
  const env = { ...process.env, XDG_STATE_HOME: folder, XDG_CONFIG_HOME: folder };
  const args = [BIN, "node", "join", url, "--name", "remote", "--skills", join(folder, "skills")];
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] });
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    }
    rmSync(folder, { recursive: true });
  });
  for await (const line of createInterface(child.stderr)) if (line.includes("connected to")) break;
  child.stderr.resume();
  return child;
}

describe.skipIf(NATS_SERVER === undefined)("devices that go", () => {
  test(
    "fails the calls of a process that is killed, and calls it again when it is back [O3]",
    { tags: "rest", timeout: 60_000 },
    async () => {
      const server = await openServer();
      const hub = await openHub({ url: server.url, silenceSeconds: 30 });
      const child = await startNode(server.url);
      await waitForDevice(hub, "remote");
      expect(await hub.run("devices.remote.WaitSkill.answer()")).toMatchObject({ value: 42 });
      const begun = once(child, "exit");
      const call = hub.call("remote.WaitSkill.wait", {});
      const failed = expect(call).rejects.toMatchObject({ code: "NODE_GONE" });
      child.kill("SIGKILL");
      await begun;
      const endedAt = performance.now();
      await failed;
      expect(performance.now() - endedAt).toBeLessThan(1_500); // half a second, and two pings
      await waitForDeparture(hub, "remote");
      await startNode(server.url);
      await waitForDevice(hub, "remote");
      expect(await hub.call("remote.WaitSkill.answer", {})).toBe(42);
    },
  );

  test(
    "fails the calls of a process that stops without closing its connection [O3]",
    { tags: "rest", timeout: 60_000 },
    async () => {
      const server = await openServer();
      const hub = await openHub({ url: server.url, silenceSeconds: 1 });
      const child = await startNode(server.url);
      await waitForDevice(hub, "remote");
      const failed = expect(hub.call("remote.WaitSkill.wait", {})).rejects.toMatchObject({
        code: "NODE_GONE",
        message: expect.stringContaining("does not answer any more"),
      });
      child.kill("SIGSTOP");
      await failed;
      child.kill("SIGCONT");
      await waitForDevice(hub, "remote");
      expect(await hub.call("remote.WaitSkill.answer", {})).toBe(42);
    },
  );

  test("ends calls with a sentence when a device leaves, and removes its skills [O3]", async () => {
    const server = await openServer();
    const device = await joinWith({ url: server.url, name: "one" }, { skills: [createEchoSkill("one")] });
    const hub = await openHub({ url: server.url });
    await waitForDevice(hub, "one");
    const failed = expect(hub.call("one.EchoSkill.wait", { text: "x" })).rejects.toMatchObject({ code: "NODE_GONE" });
    await new Promise<void>((resolve) => void hub.on("progress", () => resolve()));
    await device.leave();
    await failed;
    await waitForDeparture(hub, "one");
  });

  test(
    "fails calls at once while the server is down, and calls again after its restart under load [O3]",
    { tags: "rest", timeout: 60_000 },
    async () => {
      const server = await openServer();
      await joinWith({ url: server.url, name: "one" }, { skills: [createEchoSkill("one")] });
      const hub = await openHub({ url: server.url });
      await waitForDevice(hub, "one");
      const calls = Array.from({ length: 50 }, (_, at) => hub.call("one.EchoSkill.wait", { text: String(at) }));
      const ends = Promise.allSettled(calls);
      await new Promise<void>((resolve) => void hub.on("progress", () => resolve()));
      await server.kill();
      for (const end of await ends) expect(end).toMatchObject({ status: "rejected", reason: { code: "NODE_GONE" } });
      await expect(hub.call("one.EchoSkill.say", { text: "a" })).rejects.toMatchObject({ code: "NODES_OFFLINE" });
      await expect(hub.call("hub.EchoSkill.say", { text: "a" })).rejects.toMatchObject({ code: "NODES_OFFLINE" });
      await server.start();
      const say = (): Promise<unknown> => hub.call("one.EchoSkill.say", { text: "a" }).catch(() => undefined);
      let answer = await say();
      while (answer === undefined) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        answer = await say();
      }
      expect(answer).toBe("one: a");
    },
  );
});
