import { randomUUID } from "node:crypto";

import { type Approvals, createApprovals } from "../../approvals/index.ts";
import type { Caller } from "../../model/caller.ts";
import type { AuditEntry, CallResult, Statistics, UnrecordedRequest } from "../../router/index.ts";
import type { DirectCallOptions, RunOptions } from "../../runtime.ts";
import { callMethod, callMethods, type WantedCall } from "../call-method.ts";
import { requireText } from "../../shared/settings/option-names.ts";
import type { RuntimeServices } from "../services.ts";
import type { RuntimeParts } from "./parts.ts";
import { createRequest } from "./request.ts";

/** Methods of a runtime that call methods without a program, and those that say which calls were made. */
export interface CallApi {
  /** Calls one method, by the same rules as a program's call. Rejects with a `SkillgateError`. */
  call(path: string, input: Readonly<Record<string, unknown>>, options?: DirectCallOptions): Promise<unknown>;
  /** Many calls, one after the other or all at once; a failure is a result like any other. */
  callAll(
    calls: readonly WantedCall[],
    options?: Omit<RunOptions, "limits"> & { readonly parallel?: boolean },
  ): Promise<readonly CallResult[]>;
  /** Counts a request that calls no method, such as a search, in the limits of a caller; rejects with `RATE_LIMIT`. */
  countRequest(caller: Caller, what?: UnrecordedRequest): Promise<void>;
  /** Statistics of the calls of each method, by path. */
  statistics(): ReadonlyMap<string, Statistics>;
  /** The same, including the counts of earlier runtimes on the same store. */
  lastingStatistics(): Promise<ReadonlyMap<string, Statistics>>;
  /** The newest decisions and calls, the oldest first. */
  audit(): readonly AuditEntry[];
  /** Questions whether a call may be made: lists and answers them. */
  readonly approvals: Approvals;
}

/**
 * Creates the methods of a runtime that call methods without a program, and those that say which calls were made. `requireOpen` throws
 * if the runtime is closed.
 */
export function createCallApi(
  parts: RuntimeParts,
  { route, router }: RuntimeServices,
  requireOpen: () => void,
): CallApi {
  return {
    call: async (path, input, { runId = randomUUID(), ...options } = {}) => {
      requireOpen();
      requireText("the path of a method", path);
      const request = { ...createRequest(options, parts), runId };
      return recorded(callMethod({ path, input }, request, route), request.runId, parts);
    },
    callAll: async (calls, { parallel = false, ...options } = {}) => {
      requireOpen();
      const request = { ...createRequest(options, parts), runId: randomUUID() };
      return recorded(callMethods(calls, request, route, parallel), request.runId, parts);
    },
    countRequest: async (caller, what) => void (await router.countRequest(caller, what)),
    statistics: () => router.statistics(),
    lastingStatistics: () => parts.statistics.all(),
    audit: () => router.entries(),
    approvals: createApprovals(() => parts.database.open()),
  };
}

/** Waits for calls, and then until the records of their effects are committed. */
async function recorded<Result>(calls: Promise<Result>, runId: string, { audit }: RuntimeParts): Promise<Result> {
  if (audit === undefined) return calls;
  try {
    return await calls;
  } finally {
    await audit.commitEffects(runId);
  }
}
