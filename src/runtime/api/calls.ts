import { randomUUID } from "node:crypto";

import { createApprovals } from "../../approvals/index.ts";
import type { Runtime } from "../../runtime.ts";
import { callMethod, callMethods } from "../call-method.ts";
import type { RuntimeServices } from "../services.ts";
import type { RuntimeParts } from "./parts.ts";
import { createRequest } from "./request.ts";

/** Creates the methods of a runtime that call methods without a program, and those that say which calls were made. */
export function createCallApi(
  parts: RuntimeParts,
  { route, router }: RuntimeServices,
): Pick<Runtime, "call" | "callAll" | "countRequest" | "statistics" | "lastingStatistics" | "audit" | "approvals"> {
  return {
    call: (path, input, { runId = randomUUID(), ...options } = {}) => {
      const request = { ...createRequest(options, parts), runId };
      return recorded(callMethod({ path, input }, request, route), request.runId, parts);
    },
    callAll: (calls, { parallel = false, ...options } = {}) => {
      const request = { ...createRequest(options, parts), runId: randomUUID() };
      return recorded(callMethods(calls, request, route, parallel), request.runId, parts);
    },
    countRequest: async (caller) => void (await router.countRequest(caller)),
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
