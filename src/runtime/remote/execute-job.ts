import { type Cancellable, Cancellation } from "../../../sandbox/index.ts";
import { createError } from "../../errors.ts";
import type { ExecutorPool, Job, JobEnd, JobListener } from "../../executors/index.ts";
import type { Approve } from "../../model/approval.ts";
import type { Caller } from "../../model/caller.ts";
import { CLIENT_REQUESTS } from "../../model/client-requests.ts";
import type { HandledResult } from "../../model/kept-results.ts";
import type { Outcome } from "../../model/outcome.ts";
import type { RunObserver } from "../../model/run-observer.ts";
import { restoreOutcome } from "../../runs/index.ts";
import { type Database, waitForChange } from "../../store/index.ts";
import type { RuntimeServices } from "../services.ts";

/** The parts of a runtime that its runs on executors need. */
export interface RemoteServices {
  readonly services: Pick<RuntimeServices, "results" | "handles" | "secrets" | "records">;
  readonly executors: ExecutorPool;
  readonly open: () => Promise<Database>;
}

/** A run that an executor executes on behalf of a caller here. */
export interface RemoteRun {
  readonly caller: Caller;
  readonly cancellable?: Cancellable | undefined;
  readonly observer?: RunObserver | undefined;
  readonly approve?: Approve | undefined;
}

/** A job without the parts that every job has. */
type JobFacts =
  | Omit<Extract<Job, { kind: "run" }>, "asks" | "handle" | "caller">
  | Omit<Extract<Job, { kind: "resume" }>, "asks" | "handle" | "caller">;

export type RemoteEnd =
  | { readonly kind: "outcome"; readonly outcome: Outcome }
  | Exclude<JobEnd, { readonly kind: "result" }>;

/** Lets an executor do a job. Rejects with the error that the executor reports. Keeps the large results of the run. */
export async function executeJob(facts: JobFacts, run: RemoteRun, remote: RemoteServices): Promise<RemoteEnd> {
  const { services, executors } = remote;
  const { caller, cancellable, observer = {}, approve } = run;
  // Loaded only now: it takes the library of NATS along.
  const { listEvents, restoreError } = await import("../../executors/index.ts");
  const handle = services.handles.reserve(caller);
  const jobEnd = new Cancellation();
  let handled: HandledResult | undefined;
  try {
    const client = CLIENT_REQUESTS.filter((request) => observer.client?.can(request) === true);
    const asks = { events: listEvents(observer), approve: approve !== undefined, client };
    const left = whenLeft(facts.runId, jobEnd, remote);
    const listener = { cancellable, observer, left, answer: createAnswerer(run, services) };
    const end = await executors.execute({ ...facts, caller, asks, handle: handle.name }, listener);
    if (end.kind !== "result") return end;
    if ("error" in end.result) throw restoreError(end.result.error);
    const { outcome, texts } = end.result;
    for (const text of texts) services.results.keep(outcome.runId, text, caller);
    ({ handled } = end.result);
    return { kind: "outcome", outcome: restoreOutcome(outcome) };
  } finally {
    jobEnd.cancel();
    handle.end(handled);
  }
}

/** Resolves when callers do not wait for persons any more, and the store has that the run waits for one. */
function whenLeft(runId: string, jobEnd: Cancellable, { services, open }: RemoteServices): Promise<void> {
  async function waitUntilWaiting(): Promise<void> {
    for (;;) {
      const database = await open();
      if (jobEnd.isCancelled || (await database.runs.get(runId))?.state === "waiting") return;
      await waitForChange(database, jobEnd);
    }
  }
  return new Promise((resolve) => {
    // Without the store, the caller waits for the end of the job.
    const stop = services.records.released.onCancel(() => void waitUntilWaiting().then(resolve, () => {}));
    jobEnd.onCancel(stop);
  });
}

/** Answers the questions of an executor: for its user, and about earlier results. */
function createAnswerer(
  { caller, observer, approve }: RemoteRun,
  { results, handles }: RemoteServices["services"],
): JobListener["answer"] {
  return async (question, closed) => {
    const { what, request, params, key, handle, uri, offset, length } = question;
    switch (what) {
      case "approve":
        return approve?.(request as Parameters<Approve>[0], closed);
      case "client": {
        const requestName = CLIENT_REQUESTS.find((name) => name === request);
        if (requestName === undefined || observer?.client === undefined) throw new Error("No client can be asked");
        return observer.client.ask(requestName, Object(params), typeof key === "string" ? key : undefined);
      }
      case "handle":
        return handles.get(caller, String(handle));
      case "handles":
        return handles.list(caller);
      case "part":
        return results.read(String(uri), toNumber(offset), toNumber(length), caller);
      default:
        throw createError("EXECUTOR_ANSWER_INVALID", "an unknown question");
    }
  };
}

function toNumber(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
