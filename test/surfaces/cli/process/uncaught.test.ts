// @module-tag rest

import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";

import { project, runProcess, start } from "../command.ts";

/** Loaded before the command: throws in the process when a signal tells it to, or when the command has just begun. */
const FAULTS = `
import { isMainThread } from "node:worker_threads";
process.on("SIGUSR2", () => { throw new Error("a fault"); });
process.on("SIGWINCH", () => { throw Object.assign(new Error("broken"), { code: "ERR_INTERNAL_ASSERTION" }); });
process.on("SIGCONT", () => { Promise.reject(new Error("a rejection")); });
process.on("newListener", (name) => {
  if (process.env.FAULT_AT_START && isMainThread && name === "uncaughtException")
    setImmediate(() => { throw new Error("a fault at the start"); });
});
`;

const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(FAULTS)}`;

test.each([
  ["an exception", "SIGUSR2", "Error: a fault"],
  ["a rejection", "SIGCONT", "Error: a rejection"],
] as const)(
  "continues to serve after %s that was not caught, and writes its stack to stderr [V6]",
  async (_what, signal, says) => {
    const server = startServer();
    expect(await server.sum()).toBe(42);
    server.child.kill(signal);
    await server.said(`Uncaught exception during a request: ${says}\n    at `);
    expect(await server.sum()).toBe(42);
    server.child.stdin?.end();
    expect(await once(server.child, "exit")).toEqual([0, null]);
  },
);

test("ends when Node reports a broken invariant of its own [V6]", async () => {
  const server = startServer();
  expect(await server.sum()).toBe(42);
  server.child.kill("SIGWINCH");
  expect(await once(server.child, "exit")).toEqual([1, null]);
  await server.said("Uncaught exception during a request: Error: broken\n    at ");
});

test("ends with a sentence and without a stack for an uncaught exception during the start [V6]", async () => {
  const env = { NODE_OPTIONS, FAULT_AT_START: "1" };
  const { exit, stdout, stderr } = await runProcess(["serve", "--stdio"], { cwd: project(), env });
  expect([exit, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("Internal error of Skillgate: a fault at the start");
  expect(stderr).not.toMatch(/^ +at /m);
});

/** `serve --stdio`, with which a client of the protocol of 2026 speaks. */
function startServer() {
  const child = start(["serve", "--stdio"], { cwd: project(), env: { NODE_OPTIONS } });
  const [lines, stderr] = [
    createInterface(child.stdout as NodeJS.ReadableStream),
    child.stderr as NodeJS.ReadableStream,
  ];
  let errors = "";
  stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  return {
    child,
    async sum(): Promise<unknown> {
      child.stdin?.write(`${JSON.stringify(SUM)}\n`);
      const [line] = (await once(lines, "line")) as [string];
      return JSON.parse(line).result.structuredContent.value;
    },
    /** Settles when so much was written to stderr. */
    async said(text: string): Promise<void> {
      while (!errors.includes(text)) await once(stderr, "data");
    },
  };
}

const SUM = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: {
    name: "run_code",
    arguments: { code: "20 + 22" },
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  },
};
