import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Worker } from "node:worker_threads";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";

import { compileInThread } from "../../../../src/providers/sources/compile/compile-in-thread.ts";
import type { CompileOrder } from "../../../../src/providers/sources/compile/protocol.ts";

const folder = mkdtempSync(join(tmpdir(), "skillgate-compile-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let started: Worker[] = [];
const note = (worker: Worker): void => void started.push(worker);
beforeEach(() => {
  started = [];
  process.on("worker", note);
});
afterEach(() => void process.off("worker", note));

function createOrder(name: string, text?: string): CompileOrder {
  const file = join(folder, `${name}.json`);
  const info = { title: name, version: "1" };
  const paths = { "/one": { get: { operationId: "one", responses: { 200: { description: "One" } } } } };
  const servers = [{ url: "https://api.example" }];
  writeFileSync(file, text ?? JSON.stringify({ openapi: "3.0.0", info, servers, paths }));
  const target = join(folder, `${name}.catalog`);
  return { kind: "openapi", document: pathToFileURL(file).href, isPrivate: true, names: [], target };
}

const compile = (name: string, text?: string, signal = new AbortController().signal): Promise<unknown> =>
  compileInThread(createOrder(name, text), signal);

test("reads one document after another in one thread, also after one that is not valid", async () => {
  await compile("first");
  const reused = started.length;
  await expect(compile("broken", "{")).rejects.toThrow(/JSON/);
  await compile("second");
  expect(reused).toBeLessThanOrEqual(1);
  expect(started.length).toBe(reused);
});

test("reads documents at the same time in a thread for each, of which one stays", { tags: "rest" }, async () => {
  await Promise.all([compile("first"), compile("second"), compile("third")]);
  expect(started.length).toBeGreaterThanOrEqual(2);
  const before = started.length;
  await compile("fourth");
  expect(started.length).toBe(before);
});

test("ends the thread of a document that is cancelled, and starts another for the next", async () => {
  await compile("first");
  const cancelling = new AbortController();
  const cancelled = expect(compile("second", undefined, cancelling.signal)).rejects.toThrow("it was cancelled");
  cancelling.abort();
  await cancelled;
  const before = started.length;
  await compile("third");
  expect(started.length).toBe(before + 1);
});

test("ends the thread when no document follows", async () => {
  await Promise.all([compile("first"), compile("second"), compile("third")]);
  const worker = started.find(({ threadId }) => threadId !== -1);
  if (worker !== undefined) await new Promise((resolve) => worker.once("exit", resolve));
  expect(started.every(({ threadId }) => threadId === -1)).toBe(true);
});
