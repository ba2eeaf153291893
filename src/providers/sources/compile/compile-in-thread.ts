import { Worker } from "node:worker_threads";

import { findPackageFile } from "../../../../sandbox/package-files.ts";
import { CredentialRefused } from "../documents/document-error.ts";
import type { CompiledReport, CompileOrder, CompileReport } from "./protocol.ts";

/** The largest public documents take 1 to 5 s, with many files more. */
const MAX_MS = 120_000;

/** A document of 64 MB needs about eight times as much. */
const MAX_HEAP_MB = 768;

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
  const worker = new Worker(findEntry(), {
    name: "skillgate-source",
    workerData: order,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  const limit = AbortSignal.any([signal, AbortSignal.timeout(MAX_MS)]);
  try {
    const report = await new Promise<CompileReport>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", (error) => reject(explain(error)));
      worker.once("exit", () => reject(new Error("the thread that reads the document has ended")));
      limit.addEventListener("abort", () =>
        reject(new Error(signal.aborted ? CANCELLED : `it takes more than ${MAX_MS / 1_000} s`)),
      );
    });
    if (report.kind === "failed") throw toError(report);
    return report;
  } finally {
    await worker.terminate();
  }
}

function toError({ error, refusal }: Extract<CompileReport, { readonly kind: "failed" }>): Error {
  return refusal === undefined ? new Error(error) : new CredentialRefused(error, refusal);
}

function explain(error: Error & { readonly code?: string }): Error {
  if (error.code !== "ERR_WORKER_OUT_OF_MEMORY") return error;
  return new Error(`reading it needs more than ${MAX_HEAP_MB} MB`);
}
