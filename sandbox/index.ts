import { availableParallelism } from "node:os";

import { compileEngine } from "./engine.ts";
import { loadImage } from "./image-file.ts";
import { Pool } from "./pool.ts";
import { type Answer, type Program, Run, type RunLimits, type SandboxOutcome } from "./run.ts";

export type { Answer, Program, Reason, RunLimits, SandboxAnswer, SandboxCall, SandboxOutcome } from "./run.ts";

export interface SandboxOptions {
  /** Limits of a run that names no others. */
  readonly limits: RunLimits;
  /** Worker threads that compute at the same time; one fewer than the machine has cores, at most 4, if missing. */
  readonly workers?: number;
}

export interface Sandbox {
  /**
   * Runs one program in an isolate of its own. What the guest does wrong, and every limit that it meets, is in the
   * outcome; a rejection means that the sandbox itself could not work. `answer` must not reject.
   */
  run(
    program: Program,
    answer: Answer,
    options?: { readonly limits?: RunLimits; readonly signal?: AbortSignal },
  ): Promise<SandboxOutcome>;
  /** Ends every run and every thread. */
  close(): Promise<void>;
}

/** A wall around untrusted JavaScript: QuickJS in capped memory, on threads that can be ended at any time. */
export function createSandbox(options: SandboxOptions): Sandbox {
  const runs = new Set<Run>();
  let pool: Pool | undefined;
  let last = 0;
  return {
    run(program, answer, { limits = options.limits, signal } = {}) {
      pool ??= openPool(options);
      const threads = pool;
      return new Promise((resolve) => {
        const run: Run = new Run(++last, program, limits, answer, {
          ready: () => threads.ready(run),
          settle: (outcome) => {
            runs.delete(run);
            signal?.removeEventListener("abort", cancel);
            threads.drop(run);
            resolve(outcome);
          },
        });
        const cancel = (): void => run.stop("CANCELLED");
        runs.add(run);
        signal?.addEventListener("abort", cancel);
        if (signal?.aborted === true) cancel();
        else threads.add(run);
      });
    },
    async close() {
      for (const run of runs) run.stop("CANCELLED");
      await pool?.close();
    },
  };
}

function openPool({ limits, workers = Math.max(1, Math.min(4, availableParallelism() - 1)) }: SandboxOptions): Pool {
  const { module, digest } = compileEngine();
  return new Pool({
    workerFile: new URL("worker.js", COMPILED),
    module,
    prepared: loadImage(module, digest, COMPILED),
    heapBytes: limits.memoryBytes,
    size: workers,
    most: workers * 8,
  });
}

/** Threads start from compiled files, also when this file itself runs from its source. */
const COMPILED = import.meta.url.endsWith(".ts")
  ? new URL("../dist/sandbox/", import.meta.url)
  : new URL("./", import.meta.url);
