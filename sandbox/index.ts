import { setMaxListeners } from "node:events";
import { readFileSync } from "node:fs";

import type { Cancellable } from "./host/cancellation.ts";
import type {
  AnswerCall,
  Delivery,
  RunLimits,
  RunUsage,
  SandboxLoad,
  SandboxOutcome,
  SandboxProgram,
} from "./contract.ts";
import { findPackageFile } from "./package-files.ts";
import { countWorkers, getProcessors } from "./processors.ts";
import { compileEngine } from "./engine/quickjs.ts";
import { loadSnapshot } from "./engine/snapshot-file.ts";
import { Pool } from "./host/pool.ts";
import { Run } from "./host/run.ts";
import type { SharedEngine } from "./shared/protocol.ts";

export { cancellableBy, type Cancellable, Cancellation } from "./host/cancellation.ts";
export { findProgramPosition, getEngineHint, toEngineLimit } from "./engine/error-messages.ts";
export { waitForTurn } from "./host/loop-turn.ts";
export { parseTagged } from "./shared/dates.ts";
export type { DecodedValue } from "./codec/guest-value.ts";
export type { Misread } from "./shared/protocol.ts";
export type {
  AnswerCall,
  CatalogAnswer,
  CallableMethod,
  Delivery,
  ProgramStep,
  ResultDescription,
  RunUsage,
  SandboxLoad,
  SandboxProgram,
  StopReason,
  RunLimits,
  SandboxAnswer,
  SandboxCall,
  SandboxOutcome,
} from "./contract.ts";

export interface SandboxOptions {
  /** Limits of a run that names no others. */
  readonly limits: RunLimits;
  /** Worker threads that compute at the same time; one fewer than the machine has cores, at most 4, if missing. */
  readonly workers?: number;
  /** How long extra threads that a burst of runs has started stay idle before they end; 5 seconds if missing. */
  readonly idleMs?: number;
  /**
   * How long threads without work are kept when the sandbox is closed, for the next one of the process with the same limit of memory,
   * in milliseconds; 0 if missing. At most two are kept, and they do not keep the process alive.
   */
  readonly keepMs?: number;
  /**
   * Finds a module in the form of CommonJS whose function `describeResult` describes the JSON of a large result, in the thread that ran the
   * program. It throws for a text that is not JSON. The module is evaluated there without `require`.
   */
  readonly describer?: () => URL;
}

export interface SandboxRunOptions {
  readonly limits?: RunLimits;
  /** The caller of the run: callers with less computing time get threads first. */
  readonly caller?: string;
  /** The share of computing time of the caller, as a multiple of that of others; 1 if missing. */
  readonly weight?: number;
  /** Ends the run. */
  readonly cancellable?: Cancellable;
  /** Receives each text that the guest prints as soon as it arrives here, within the output limit. */
  readonly print?: (text: string) => void;
  /**
   * Receives each new delivery before the guest does, and the usage until then; not those that are repeated. The program
   * needs a `seed` and a `time`; the guest's clock starts at that time and moves only with deliveries, and one millisecond
   * every hundred times that it is read. If this throws, the run ends and is rejected with the error.
   */
  readonly onDelivery?: (delivery: Delivery, used: RunUsage) => void;
  /**
   * Ends the run as `suspended` as soon as it only waits for suspendable calls and timers. Its calls are not cancelled. A
   * run with this option may end so before the signal, when it blocks on such a call and other runs need its thread.
   */
  readonly suspend?: AbortSignal;
}

export interface Sandbox {
  /**
   * Runs one program in an isolate of its own. Errors of the guest, and limits that it exceeds, are part of the
   * outcome; a rejection means that the sandbox itself failed. `answer` must not reject.
   */
  run(program: SandboxProgram, answer: AnswerCall, options?: SandboxRunOptions): Promise<SandboxOutcome>;
  /** Announces a run, so that a thread wakes up meanwhile. */
  wakeWorker(): void;
  /** Returns how busy the sandbox is. */
  getLoad(): SandboxLoad;
  /** Ends every run, and every thread that is not kept. */
  close(): Promise<void>;
}

/** The id of the newest run of all sandboxes: a thread can serve one after another. */
let lastRun = 0;

/** Creates a boundary around untrusted JavaScript: QuickJS in capped memory, on threads that can be ended at any time. */
export function createSandbox(options: SandboxOptions): Sandbox {
  const runs = new Set<Run>();
  let pool: Pool | undefined;
  let closed = false;

  function conduct(
    program: SandboxProgram,
    answer: AnswerCall,
    runOptions: SandboxRunOptions = {},
  ): Promise<SandboxOutcome> {
    if (closed) return Promise.reject(new Error("The sandbox is closed: create a new one"));
    const invalid = findInvalidRecording(program, runOptions);
    if (invalid !== undefined) return Promise.reject(new TypeError(invalid));
    const {
      limits = options.limits,
      caller = "",
      weight = 1,
      cancellable,
      print = () => {},
      onDelivery,
      suspend,
    } = runOptions;
    const threads = (pool ??= openPool(options));
    return new Promise((resolve, reject) => {
      let stopListening: (() => void) | undefined;
      const fail = (error: Error): void => {
        reject(error);
        run.stop("CANCELLED");
      };
      const cancel = (): void => run.end("CANCELLED");
      const giveUp = (): void => run.suspend();
      const run: Run = new Run(++lastRun, program, { limits, caller, weight }, answer, {
        ready: () => threads.ready(run),
        interrupt: () => threads.interrupt(run),
        print,
        suspendable: suspend && (() => threads.reconsider()),
        record: onDelivery && stopOnError(onDelivery, fail),
        settle: (outcome) => {
          runs.delete(run);
          stopListening?.();
          suspend?.removeEventListener("abort", giveUp);
          threads.drop(run);
          resolve(outcome);
        },
      });
      runs.add(run);
      if (cancellable?.isCancelled === true) return cancel();
      stopListening = cancellable?.onCancel(cancel);
      // A signal that many runs share has a listener for each.
      if (suspend !== undefined) setMaxListeners(0, suspend);
      suspend?.addEventListener("abort", giveUp);
      threads.add(run);
      if (suspend?.aborted === true) giveUp();
    });
  }

  return {
    run: conduct,
    wakeWorker: () => pool?.wakeWorker(),
    getLoad: () => pool?.load ?? NO_LOAD,
    async close() {
      closed = true;
      for (const run of runs) run.stop("CANCELLED");
      await pool?.close();
    },
  };
}

const NO_LOAD: SandboxLoad = { workers: { starting: 0, idle: 0, busy: 0, blocked: 0 }, queuedRuns: 0 };

/** Returns why a run cannot be recorded or repeated; undefined if it can. */
function findInvalidRecording(
  { seed, time, deliveries }: SandboxProgram,
  { onDelivery }: SandboxRunOptions,
): string | undefined {
  if (onDelivery === undefined && deliveries === undefined) return undefined;
  if (seed !== undefined && time !== undefined) return undefined;
  return "Cannot record a run without its seed and time: set both in its program";
}

/** Wraps a recorder of deliveries. `fail` receives its error, and must stop the run. */
function stopOnError(
  record: NonNullable<SandboxRunOptions["onDelivery"]>,
  fail: (error: Error) => void,
): NonNullable<SandboxRunOptions["onDelivery"]> {
  return (delivery, used) => {
    try {
      record(delivery, used);
    } catch (error) {
      fail(error instanceof Error ? error : new Error("Cannot record a delivery", { cause: error }));
    }
  };
}

function openPool({
  limits,
  workers = countWorkers(getProcessors()),
  idleMs = 5_000,
  keepMs = 0,
  describer,
}: SandboxOptions): Pool {
  const workerFile = findPackageFile("sandbox/worker.cjs", () => new URL("./worker.cjs", import.meta.url));
  const pool = new Pool({
    workerFile,
    size: workers,
    maxWorkers: workers * 8,
    idleMs,
    keepMs,
  });
  if (engine === undefined) pool.hire(); // starting takes longer than all that follows
  try {
    engine ??= loadEngine(workerFile);
    const heapBytes = limits.memoryBytes;
    pool.open({ ...engine, heapBytes, ...(describer && { describer: readFileSync(describer(), "utf8") }) });
    return pool;
  } catch (error) {
    void pool.close();
    throw error;
  }
}

/** The engine of all sandboxes of the process. */
let engine: Pick<SharedEngine, "module" | "prepared"> | undefined;

function loadEngine(workerFile: URL): Pick<SharedEngine, "module" | "prepared"> {
  const engineFile = findPackageFile("sandbox/engine.wasm", () => new URL("./engine.wasm", import.meta.url));
  const { module, digest } = compileEngine(engineFile);
  return { module, prepared: loadSnapshot(module, digest, new URL("./", workerFile)) };
}
