// @module-tag rest

import { spawn } from "node:child_process";
import { once } from "node:events";
import { execPath } from "node:process";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { createRuntime, type Runtime } from "../../../src/runtime.ts";
import { canProbe, LoopProbe, requireShortTurns } from "../../support/loop-probe.ts";

/** A test of dozens of kinds of content takes several times as long on a machine with other work. */
const TIMEOUT_MS = 240_000;

const LIMITS = { cpuMs: 30_000, wallMs: 60_000 };

let probe: LoopProbe;

beforeAll(() => {
  if (canProbe) probe = new LoopProbe();
});

afterAll(() => probe?.close());

/** Starts a server with hostile content over HTTP, and a runtime that calls it. */
async function openHttp(): Promise<Runtime> {
  const server = spawn(execPath, ["test/fixtures/mcp/hostile-content.mjs", "none", "http"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void server.kill());
  const [port] = (await once(server.stdout, "data")) as [Buffer];
  const url = `http://127.0.0.1:${Number(port.toString())}/mcp`;
  return createRuntime({ mcpServers: { Hostile: { url } }, typecheck: false });
}

function open(list: string): Promise<Runtime> {
  const server = { command: execPath, args: ["test/fixtures/mcp/hostile-content.mjs", list] };
  return createRuntime({ mcpServers: { Hostile: server }, typecheck: false });
}

describe.runIf(canProbe)("keeps the turns of the event loop short [P4]", () => {
  test.each(["texts", "many"])("while a server lists %s tools", async (list) => {
    await requireShortTurns(probe, async () => {
      const runtime = await open(list);
      await runtime.ready;
      await runtime.close();
    });
  });

  test.each([
    "properties",
    "requirements",
    "enumeration",
    "anyOf",
    "oneOf",
    "allOf",
    "patterns",
    "levels",
    "references",
    "pattern",
    "examples",
  ])("while methods with a hostile schema are listed, found, described and called: %s", async (list) => {
    let runtime: Runtime | undefined;
    await requireShortTurns(probe, async () => {
      await runtime?.close();
      runtime = await open(list);
      await runtime.ready;
    });
    const opened = runtime as unknown as Runtime;
    const [search, describeFunction] = opened.tools();
    await requireShortTurns(probe, () => Promise.resolve(search?.execute({ query: "take give value" })));
    for (const name of ["take", "give"]) {
      const path = `HostileMCP.${name}`;
      expect(opened.catalog.method(path)).toBeDefined();
      await requireShortTurns(probe, () => Promise.resolve(describeFunction?.execute({ name: path })));
      for (const input of ["{}", "{ value: 5, name1: 1 }", "{ value: { key1: 1 } }"])
        await requireShortTurns(probe, () => opened.run(`await device.${path}(${input})`, { limits: LIMITS }));
    }
    await opened.close();
  });

  test.each(["stdio", "HTTP"])(
    "while a server answers with hostile content over %s",
    { timeout: TIMEOUT_MS },
    async (transport) => {
      const runtime = await (transport === "HTTP" ? openHttp() : open("none"));
      await runtime.ready;
      const listed = await runtime.run("await device.HostileMCP.kinds()");
      expect(listed.kind).toBe("completed");
      const kinds: readonly string[] = JSON.parse(String(listed.kind === "completed" && JSON.stringify(listed.value)));
      expect(kinds.length).toBeGreaterThan(transport === "HTTP" ? 35 : 25);
      for (const kind of kinds)
        await requireShortTurns(probe, async () => {
          const outcome = await runtime.run(`await device.HostileMCP.answer(${JSON.stringify(kind)})`, {
            limits: LIMITS,
          });
          expect([kind, outcome.kind === "failed" && outcome.error.code]).not.toEqual([kind, "CALL_TIMEOUT"]);
        });
      await runtime.close();
    },
  );
});
