import { Cancellation, type SandboxOutcome, type SandboxProgram } from "../../../sandbox/index.ts";
import { createError, type ErrorCode } from "../../errors.ts";
import { type Caller, isCurrent } from "../../model/caller.ts";
import type { Outcome } from "../../model/outcome.ts";
import { type Continuation, type RunRecorder, toRunStatus, toStoredOutcome } from "../../runs/index.ts";
import type { ApprovalFacts } from "../../store/index.ts";
import { createCallHandler } from "./run-calls.ts";
import { RecordedCalls } from "./recorded-calls.ts";
import { describeOutcome, sandboxOptions } from "./describe-outcome.ts";
import { SPANS, withSpan } from "../../telemetry/index.ts";
import { type RightsWatch, watchRights } from "./rights/watch-rights.ts";
import type { CheckedRun, RunRequest, RunServices } from "./run-services.ts";
import { RunAccounts } from "./rights/run-accounts.ts";
import { createHold, type Hold } from "./hold.ts";

/** How a run is continued that another process began. */
export interface ExecutionOptions {
  readonly isResumed?: boolean;
  readonly acceptsChanges?: boolean;
  /** Answers calls of a corrected program from the run that failed. */
  readonly continuation?: Continuation | undefined;
  /** Ends the run with this code and these values, without executing its program. */
  readonly end?: RunStop;
}

/**
 * Executes a run with a record, and resolves to its outcome, or to that it waits for a person for longer than its caller
 * does. Then it continues by itself.
 */
export async function executeRecorded(
  run: CheckedRun,
  recorder: RunRecorder,
  request: RunRequest,
  services: RunServices,
  options: ExecutionOptions = {},
): Promise<Outcome> {
  const { open, holdMs, released } = services.records;
  if (open.has(run.runId)) throw createError("RECORD_FAILED", `another run has the id ${run.runId}`);
  const hold = createHold(holdMs, released);
  const stopper = createStopper(request);
  const rights = watchRights(request.caller, services, {
    leave() {
      void recorder.leave();
      stopper.cancellation.cancel();
    },
    end: (why) => stopper.stop("CANCELLED", why),
  });
  const settled = execute({ run, recorder, request, services, hold, stopper, rights, options });
  open.set(run.runId, {
    recorder,
    caller: request.caller,
    settled,
    whenWaiting: (isPatient) => hold.whenWaiting(isPatient),
    whenIdle: () => Promise.race([settled.catch(() => {}), hold.whenHeld()]), // its caller gets the error
    getEndedToken: () => rights.endedToken,
    cancel: () => stopper.cancellation.cancel(),
  });
  settled.catch(() => recorder.leave()); // reported to the caller
  // The person is at the program that began the run: its caller waits as long as the person does.
  return waitForRun(run.runId, services, request.approve !== undefined);
}

/** Waits for a run of this process until it ends, or waits for a person for longer than its caller, who may be patient. */
export async function waitForRun(
  id: string,
  services: Pick<RunServices, "records" | "listApprovals">,
  isPatient = false,
): Promise<Outcome> {
  const open = services.records.open.get(id);
  if (open === undefined) throw new TypeError(`Run ${id} is not open`);
  // A caller that asks again must find the run, also in another process.
  const waiting = open.whenWaiting(isPatient).then(() => open.recorder.whenStored);
  waiting.catch(() => open.cancel()); // another run has this id
  const outcome = (await Promise.race([open.settled, waiting])) ?? undefined;
  const { isLeft } = open.recorder;
  // Another process continues it, or its caller with another token.
  const isOpen = open.getEndedToken() !== undefined || isLeft;
  if (outcome !== undefined && !isOpen) return outcome;
  services.records.waited.add(open.caller.id);
  const approvals = services.listApprovals(id);
  return describeWaiting(id, await (isLeft ? approvals.catch(() => []) : approvals), open.caller);
}

/** Describes a run that waits for the answers to these questions, or for a valid token of its caller. */
export function describeWaiting(runId: string, approvals: readonly ApprovalFacts[], { id, token }: Caller): Outcome {
  const until = token && formatTime(token.until);
  const facts = { kind: "waiting", runId, approvals: approvals.map((approval) => approval.id) } as const;
  if (approvals.length === 0 && !isCurrent(token)) {
    const what = `that of its caller, ${JSON.stringify(id)}, ended at ${until}`;
    return { ...facts, text: `Run ${runId} waits for a valid access token: ${what}. ${RENEW}` };
  }
  const questions = approvals.map(({ id: approval, path, expires }) => {
    return `${path} (approval ${approval}, until ${formatTime(expires)})`;
  });
  const what = questions.length === 0 ? "an answer" : `approval of ${questions.join(", ")}`;
  const [first] = approvals;
  const how = first === undefined ? "" : `, for example with: skillgate approvals approve ${first.id}`;
  const then = isCurrent(token)
    ? `The run continues by itself after ${until === undefined ? "the answer" : `an answer before ${until}, when the access token of its caller ends`}: ` +
      "do not send the program again. Get its result with resume_run and this run_id."
    : `The access token of its caller ended at ${until}. After the answer: ${RENEW}`;
  return { ...facts, text: `Run ${runId} waits for ${what}. A person must answer${how}. ${then}` };
}

const RENEW = "The caller must call resume_run with this run_id and a new token: the run continues with its rights.";

function formatTime(time: number): string {
  return `${new Date(time).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

interface Execution {
  readonly run: CheckedRun;
  readonly recorder: RunRecorder;
  readonly request: RunRequest;
  readonly services: RunServices;
  readonly hold: Hold;
  readonly stopper: Stopper;
  readonly rights: RightsWatch;
  readonly options: ExecutionOptions;
}

function execute(execution: Execution): Promise<Outcome> {
  return withSpan(SPANS.sandbox, (span) => {
    if (span === undefined) return executeProgram(execution);
    return executeProgram({ ...execution, request: { ...execution.request, trace: span.context } });
  });
}

async function executeProgram(execution: Execution): Promise<Outcome> {
  const { run, recorder, request, services, hold, stopper, rights, options } = execution;
  const { runId, source, program, plan } = run;
  const accounts = new RunAccounts(recorder.accounts, (why) => stopper.stop("CANCELLED", why));
  const calls = new RecordedCalls({
    recorder,
    accounts,
    catalog: request.catalog,
    isResumed: options.isResumed ?? false,
    acceptsChanges: options.acceptsChanges ?? false,
    continuation: options.continuation,
    stop: stopper.stop,
    onWait(isWaiting) {
      if (isWaiting) recorder.wait();
      else rights.stop();
      hold.set(isWaiting);
      request.observer?.onWait?.(isWaiting);
    },
    onQuestion: rights.start,
    requireRights: rights.require,
  });
  const log = createCallHandler(
    { runId, source, plan, paths: program.paths, accounts, record: calls },
    request,
    services,
  );
  calls.setLog(log);
  if (options.end !== undefined) {
    stopper.stop(options.end.code, options.end.values);
    for (const call of recorder.calls.values()) log.addRecorded(call);
  }
  const executed = options.end === undefined ? executeUntilEnd(execution, calls) : Promise.resolve(NOT_EXECUTED);
  const sandbox = await executed.finally(() => {
    hold.close();
    rights.stop();
    calls.close();
    accounts.close();
    stopper.close();
  });
  const { stop } = stopper.reason;
  const outcome = describeOutcome(
    {
      ...run,
      sandbox,
      ...log.close(),
      continuation: calls.describeContinuation(),
      ...(stop !== undefined && { stop }),
    },
    request,
    services,
  );
  await recorder.finish(toStoredOutcome(outcome), toRunStatus(outcome));
  return outcome;
}

/** Executes the program again whenever it was suspended and one of its calls has its answer. */
async function executeUntilEnd(
  { run, recorder, request, services, hold, stopper, options }: Execution,
  calls: RecordedCalls,
): Promise<SandboxOutcome> {
  const { cancellation } = stopper;
  const { seed, time } = recorder.header;
  const { continuation, isResumed = false } = options;
  let replay: Partial<SandboxProgram> = recorder.replay;
  if (continuation !== undefined && !isResumed)
    replay = { deliveries: continuation.history.deliveries, matches: continuation.matches };
  for (;;) {
    const program = { ...run.program, seed: Buffer.from(seed, "base64"), time, ...replay };
    const sandbox = await services.sandbox.run(program, calls.answer, {
      ...sandboxOptions(request, services.secrets),
      cancellable: cancellation,
      onDelivery: calls.onDelivery,
      suspend: hold.getSignal(),
    });
    if (sandbox.end.kind !== "suspended") return sandbox;
    await calls.waitForAnswer(sandbox.end.timerAt, cancellation);
    replay = recorder.replay;
  }
}

const NOT_EXECUTED: SandboxOutcome = {
  end: { kind: "stopped", reason: "CANCELLED" },
  output: "",
  outputCut: false,
  waits: [],
  misreads: [],
  unfinished: [],
  queued: [],
  cpuMs: 0,
  wallMs: 0,
  memoryBytes: 0,
  calls: 0,
};

/** Why the host ends a run: an error of the table, and the values of its sentence. */
export interface RunStop {
  readonly code: ErrorCode;
  readonly values: string;
}

/** Ends a run: for its caller, or for a reason of the host. */
interface Stopper {
  readonly cancellation: Cancellation;
  readonly reason: { stop?: RunStop };
  readonly stop: (code: ErrorCode, values: string) => void;
  close(): void;
}

function createStopper({ cancellable }: RunRequest): Stopper {
  const cancellation = new Cancellation();
  const reason: Stopper["reason"] = {};
  const stopListening = cancellable?.onCancel(() => cancellation.cancel());
  return {
    cancellation,
    reason,
    stop(code, values) {
      reason.stop ??= { code, values };
      cancellation.cancel();
    },
    close: () => stopListening?.(),
  };
}
