import { execFile } from "node:child_process";
import { EventEmitter } from "node:events";
import { promisify } from "node:util";
import { expect, it, onTestFinished, vi } from "vitest";

import { limitMemory } from "../../src/surfaces/cli/commands/limit-memory.ts";

const MODULE = new URL("../../dist/src/surfaces/cli/commands/limit-memory.js", import.meta.url);

/** Holds no other reference to the object, and allocates nothing: V8 by itself has no reason to collect it. */
const SCRIPT = `
import { EventEmitter } from "node:events";
import { limitMemory } from ${JSON.stringify(MODULE)};
const runtime = new EventEmitter();
limitMemory(runtime, 20);
const end = (text) => { console.log(text, typeof gc); process.exit(); };
const registry = new FinalizationRegistry(end);
(() => registry.register({}, "collected"))();
setTimeout(end, 15_000, "still in memory");
if (process.argv[1] === "busy") runtime.emit("run");
else setTimeout(end, 500, "still in memory");
`;

const runScript = async (...args: readonly string[]): Promise<string> => {
  const run = promisify(execFile)(process.execPath, ["--input-type=module", "-e", SCRIPT, ...args]);
  return (await run).stdout.trim();
};

it("collects garbage when a process that has run a program rests, and gives programs and skills no collector", async () => {
  expect(await runScript("busy")).toBe("collected undefined");
});

it("collects nothing in a process that had nothing to do", async () => {
  expect(await runScript()).toBe("still in memory undefined");
});

it("collects once after each rest, and not while calls follow each other", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const runtime = new EventEmitter();
  let collections = 0;
  limitMemory(runtime as never, 50, () => void collections++);
  for (let call = 0; call < 10; call++) {
    runtime.emit("call");
    vi.advanceTimersByTime(49);
  }
  expect(collections).toBe(0);
  vi.advanceTimersByTime(1_000);
  expect(collections).toBe(1);
  runtime.emit("run");
  vi.advanceTimersByTime(1_000);
  expect(collections).toBe(2);
});
