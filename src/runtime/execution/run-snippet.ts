import { randomUUID } from "node:crypto";

import type { Cancellable, Sandbox } from "../../../sandbox/index.ts";
import { createCallHandler } from "./run-calls.ts";
import type { TypecheckSnippet } from "../typecheck-snippet.ts";
import type { Discovery } from "../discovery.ts";
import type { Approve } from "../../model/approval.ts";
import type { Caller } from "../../model/caller.ts";
import { findCancelReason } from "../../model/credential.ts";
import type { RunObserver } from "../../model/run-observer.ts";
import type { Catalog } from "../../model/catalog.ts";
import type { Policy } from "../../model/policy.ts";
import type { Limits } from "../../model/limits.ts";
import type { Outcome } from "../../model/outcome.ts";
import type { Plan } from "../../model/plan.ts";
import type { Program } from "../../model/snippet.ts";
import { KEPT_RESULT_BYTES, type KeptResults } from "../../model/kept-results.ts";
import type { ResultHandles } from "../outcome/result-handles.ts";
import type { CallContext } from "../../model/skill.ts";
import { addMethods } from "../outcome/add-methods.ts";
import { createOutcome, refusedOutcome } from "../outcome/index.ts";
import type { KnownSecrets } from "../../shared/secrets.ts";
import type { Route } from "../../router/index.ts";
import type { CheckedSnippet, CheckSnippet } from "../check-snippet.ts";
import { executeRecorded } from "./execute-recorded.ts";
import type { RunLedgers } from "./ledgers.ts";
import type { ApprovalRow } from "../../store/index.ts";

/** The modules that a snippet passes through. */
export interface RunServices {
  readonly sandbox: Sandbox;
  readonly route: Route;
  readonly results: KeptResults;
  readonly handles: ResultHandles;
  readonly secrets: KnownSecrets;
  readonly checkTypes: TypecheckSnippet;
  readonly discovery: Discovery;
  /** Returns the policy that is in force. */
  readonly getPolicy: () => Policy;
  /** The front end and the gatekeeper. */
  readonly inspect: CheckSnippet;
  /** Records runs. */
  readonly ledgers: RunLedgers;
  /** Returns the open questions of a run. */
  readonly listApprovals: (runId: string) => Promise<readonly ApprovalRow[]>;
}

export interface RunRequest {
  readonly caller: Caller;
  readonly catalog: Catalog;
  readonly limits: Limits;
  /** True for a skill that the catalog lacks only because it is disabled, if the caller may know that. */
  readonly isDisabled: (skill: string) => boolean;
  /** Receive the log lines and the progress of the methods that are called. */
  readonly log: (path: string, ...entry: Parameters<CallContext["log"]>) => void;
  readonly progress: (path: string, runId: string, ...entry: Parameters<CallContext["progress"]>) => void;
  readonly cancellable?: Cancellable;
  readonly observer?: RunObserver;
  /** Asks the person at the program that makes the calls, in place of the runtime's own `approve`. */
  readonly approve?: Approve;
}

/** A snippet that passed the check, as one run. */
export interface CheckedRun {
  readonly runId: string;
  readonly source: string;
  readonly program: Program;
  readonly plan: Plan;
  readonly notes: readonly string[];
}

/** Checks one snippet, runs it and describes its outcome. */
export async function runSnippet(source: string, request: RunRequest, services: RunServices): Promise<Outcome> {
  services.sandbox.wakeWorker();
  const runId = randomUUID();
  const { program, plan, violations, notes } = await readAndCheck(source, request, services);
  if (program === undefined) {
    return services.secrets.maskValue(addMethods(refusedOutcome(runId, violations), plan, request, services));
  }
  const run: CheckedRun = { runId, source, program, plan, notes };
  const recorder = services.ledgers.create(run, request);
  return recorder === undefined ? execute(run, request, services) : executeRecorded(run, recorder, request, services);
}

/** Runs a program without a ledger. */
async function execute(run: CheckedRun, request: RunRequest, services: RunServices): Promise<Outcome> {
  const { runId, source, program, plan } = run;
  const callLog = createCallHandler({ runId, source, plan, paths: program.paths }, request, services);
  const sandbox = await services.sandbox.run(program, callLog.answer, sandboxOptions(request, services.secrets));
  return describeOutcome({ ...run, sandbox, ...callLog.close() }, request, services);
}

/** Describes how a run ended. */
export function describeOutcome(
  { plan, notes, callNotes, ...ending }: CheckedRun & EndedRun,
  request: RunRequest,
  services: RunServices,
): Outcome {
  const outcome = createOutcome({
    ...ending,
    caller: request.caller,
    notes: [...notes, ...callNotes],
    limits: request.limits,
    results: services.results,
    handles: services.handles,
    secrets: services.secrets,
    cancelReason: findCancelReason(request.cancellable),
  });
  return services.secrets.maskValue(addMethods(outcome, plan, request, services));
}

type EndedRun = Pick<Parameters<typeof createOutcome>[0], "sandbox" | "calls" | "stop"> & {
  readonly callNotes: readonly string[];
};

async function readAndCheck(
  source: string,
  request: RunRequest,
  { inspect, checkTypes, discovery }: RunServices,
): Promise<Pick<CheckedSnippet, "violations" | "plan" | "notes" | "program">> {
  let checked = inspect(source, request);
  if (checked.program === undefined && !discovery.isIndexed(request.catalog)) {
    // A refusal names methods like those that the snippet meant.
    await discovery.index(request.catalog).catch(() => {}); // then the refusal names none
    checked = inspect(source, request);
  }
  const { program, plan, text, violations, notes } = checked;
  if (program === undefined) return { violations, plan, notes };
  const types = await checkTypes({ source, text, program, plan }, request);
  return {
    violations: types.violations,
    plan,
    notes: [...notes, ...types.notes],
    ...(types.violations.length === 0 && { program }),
  };
}

/** The sandbox may hand out a larger result than a model gets: the rest is kept. */
export function sandboxOptions(
  { limits, cancellable, observer }: RunRequest,
  secrets: KnownSecrets,
): NonNullable<Parameters<Sandbox["run"]>[2]> {
  const resultBytes = Math.max(limits.resultBytes, KEPT_RESULT_BYTES);
  return {
    limits: { ...limits, resultBytes },
    ...(cancellable !== undefined && { cancellable }),
    ...(observer?.onOutput && { print: (text: string) => observer.onOutput?.(secrets.mask(text)) }),
  };
}
