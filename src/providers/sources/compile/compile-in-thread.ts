import { once } from "node:events";
import { Worker } from "node:worker_threads";

import { findPackageFile } from "../../../../sandbox/package-files.ts";
import { CredentialRefused } from "../documents/document-error.ts";
import type { CompiledReport, CompileOrder, CompileReport } from "./protocol.ts";

/** The largest public documents take 1 to 5 s, with many files more. */
const MAX_MS = 120_000;

/** A document of 64 MB needs about eight times as much. */
const MAX_HEAP_MB = 768;

/** How long a thread waits for another document: a project has several, and all are read when it is opened. */
const IDLE_MS = 1_000;

const CANCELLED = "it was cancelled";

/** Threads start from compiled files, also when this file itself runs from its source. */
function findEntry(): URL {
  return findPackageFile("src/providers/sources/compile/worker.js", () => new URL("./worker.js", import.meta.url));
}

/**
 * Compiles a document in a thread, so that nothing else waits for it. Rejects with an error for people, which is `CredentialRefused` if
 * a server wants another credential.
 */
export async function compileInThread(order: CompileOrder, signal: AbortSignal): Promise<CompiledReport> {
  if (signal.aborted) throw new Error(CANCELLED);
  const thread = takeThread();
  const report = await ask(thread, order, signal).catch(async (error: unknown) => {
    await thread.terminate();
    throw error;
  });
  await keepThread(thread);
  if (report.kind === "failed") throw toError(report);
  return report;
}

/** Sends an order to a thread. Rejects if the thread ends, or does not answer in time. */
async function ask(thread: Worker, order: CompileOrder, signal: AbortSignal): Promise<CompileReport> {
  thread.postMessage(order);
  const settled = new AbortController();
  const limit = AbortSignal.any([signal, AbortSignal.timeout(MAX_MS), settled.signal]);
  const ended = once(thread, "exit", { signal: limit }).then(() => {
    throw new Error("the thread that reads the document has ended");
  });
  try {
    const [report] = await Promise.race([once(thread, "message", { signal: limit }), ended]);
    return report as CompileReport;
  } catch (error) {
    if (signal.aborted) throw new Error(CANCELLED, { cause: error });
    if (limit.aborted) throw new Error(`it takes more than ${MAX_MS / 1_000} s`, { cause: error });
    throw explain(error as Error);
  } finally {
    settled.abort();
  }
}

/** A thread without a document. To load its modules takes 100 ms of computing, longer than to read most documents. */
let idle: Worker | undefined;

function takeThread(): Worker {
  const thread = idle ?? startThread();
  idle = undefined;
  thread.ref();
  return thread;
}

function startThread(): Worker {
  const thread = new Worker(findEntry(), {
    name: "skillgate-source",
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  return thread.on("error", () => endIdle(thread)).on("exit", () => endIdle(thread));
}

/** Keeps a thread for the next document for a while, without keeping the process alive; ends it if there is one already. */
async function keepThread(thread: Worker): Promise<void> {
  if (idle !== undefined) {
    await thread.terminate();
    return;
  }
  idle = thread;
  thread.unref();
  setTimeout(() => endIdle(thread), IDLE_MS).unref();
}

function endIdle(thread: Worker): void {
  if (idle !== thread) return;
  idle = undefined;
  void thread.terminate();
}

function toError({ error, refusal }: Extract<CompileReport, { readonly kind: "failed" }>): Error {
  return refusal === undefined ? new Error(error) : new CredentialRefused(error, refusal);
}

function explain(error: Error & { readonly code?: string }): Error {
  if (error.code !== "ERR_WORKER_OUT_OF_MEMORY") return error;
  return new Error(`reading it needs more than ${MAX_HEAP_MB} MB`);
}
