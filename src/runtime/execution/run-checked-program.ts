import { randomUUID } from "node:crypto";

import { Cancellation } from "../../../sandbox/index.ts";
import { createCancelReason } from "../../model/credential.ts";
import type { Outcome } from "../../model/outcome.ts";
import type { RunnableProgram } from "../check-program.ts";
import { checkQueries } from "../refusals/check-queries.ts";
import { addMethods } from "../outcome/add-methods.ts";
import { refusedOutcome } from "../outcome/index.ts";
import { openContinuation, type OpenContinuation } from "./continue-run.ts";
import { describeOutcome, sandboxOptions } from "./describe-outcome.ts";
import { executeRecorded } from "./execute-recorded.ts";
import { RunAccounts } from "./rights/run-accounts.ts";
import { createCallHandler } from "./run-calls.ts";
import { withInput } from "./run-header.ts";
import { SPANS, withSpan } from "../../telemetry/index.ts";
import type { CheckedRun, RunRequest, RunServices } from "./run-services.ts";

/**
 * Checks one program, runs it and describes its outcome. Throws `CONTINUE_INVALID` and `RUN_BUSY` for a run that cannot be
 * continued, and `INPUT_INVALID` for an input that does not match its schema.
 */
export async function runCheckedProgram(source: string, request: RunRequest, services: RunServices): Promise<Outcome> {
  services.sandbox.wakeWorker();
  if (request.continues === undefined) return checkAndRun(source, withInput(request), services);
  const store = await services.openRuns();
  const { accounts, records } = services;
  const continued = await openContinuation(request.continues, request, { store, claims: records.claims, accounts });
  try {
    return await checkAndRun(source, withInput(request, continued.header), services, continued);
  } finally {
    await continued.release();
  }
}

async function checkAndRun(
  source: string,
  request: RunRequest,
  services: RunServices,
  continued?: OpenContinuation,
): Promise<Outcome> {
  const run = await check(source, request.runId ?? randomUUID(), request, services, continued);
  if (!("program" in run)) return run;
  request.observer?.onStart?.(run.runId);
  const recorder = services.records.create(run, request, continued);
  const started = Date.now();
  const outcome =
    recorder === undefined
      ? await execute(run, request, services)
      : await executeRecorded(run, recorder, request, services, continued && { continuation: continued.continuation });
  const hasEnded = outcome.kind === "completed" || outcome.kind === "failed";
  if (hasEnded && recorder?.isWritten !== true) {
    const { caller, limits } = request;
    services.records.recent.add({ id: run.runId, source, program: run.program, caller, limits, started, outcome });
  }
  return outcome;
}

/** Checks a program and runs it as a part of another run, which has the record. */
export async function runPart(
  source: string,
  runId: string,
  request: RunRequest,
  services: RunServices,
): Promise<Outcome> {
  const run = await check(source, runId, request, services);
  return "program" in run ? execute(run, request, services) : run;
}

/** Checks a program. Resolves to the outcome of one that is refused. */
async function check(
  source: string,
  runId: string,
  request: RunRequest,
  services: RunServices,
  continued?: OpenContinuation,
): Promise<CheckedRun | Outcome> {
  const { program, plan, violations, notes } = await withSpan(SPANS.check, () =>
    readAndCheck(source, request, services),
  );
  if (program !== undefined) return { runId, source, program, plan, notes };
  const refused = refusedOutcome(runId, violations, continued?.continuation.history.run);
  return services.secrets.maskValue(addMethods(refused, { plan, source }, request, services));
}

/** Runs a program without a record. */
function execute(run: CheckedRun, request: RunRequest, services: RunServices): Promise<Outcome> {
  return withSpan(SPANS.sandbox, (span) =>
    executeProgram(run, span === undefined ? request : { ...request, trace: span.context }, services),
  );
}

async function executeProgram(run: CheckedRun, whole: RunRequest, services: RunServices): Promise<Outcome> {
  const { runId, source, program, plan } = run;
  const cancellation = new Cancellation();
  const stopFollowing = whole.cancellable?.onCancel(() =>
    cancellation.cancel(whole.cancellable?.signal.reason as Error),
  );
  const accounts = new RunAccounts({}, (why) => cancellation.cancel(createCancelReason(why)));
  const request = { ...whole, cancellable: cancellation };
  const callLog = createCallHandler({ runId, source, plan, paths: program.paths, accounts }, request, services);
  try {
    const sandbox = await services.sandbox.run(program, callLog.answer, sandboxOptions(request, services.secrets));
    return describeOutcome({ ...run, sandbox, ...callLog.close() }, request, services);
  } finally {
    accounts.close();
    stopFollowing?.();
  }
}

async function readAndCheck(
  source: string,
  request: RunRequest,
  { inspect, checkTypes, discovery }: RunServices,
): Promise<Pick<RunnableProgram, "violations" | "plan" | "notes" | "program">> {
  let checked = inspect(source, request);
  if (checked.program === undefined && !discovery.isIndexed(request.catalog)) {
    // A refusal names methods like those that the program meant.
    await discovery.index(request.catalog).catch(() => {}); // then the refusal names none
    checked = inspect(source, request);
  }
  const { program, plan, text, violations, notes, outputs } = await checkQueries(checked, source);
  if (program === undefined) return { violations, plan, notes };
  const types = await checkTypes({ source, text, program, plan, outputs }, request);
  return {
    violations: types.violations,
    plan,
    notes: [...notes, ...types.notes],
    ...(types.violations.length === 0 && { program }),
  };
}
