import { createError, sentence, SkillgateError } from "../../errors.ts";
import type { FindAccount } from "../../model/account.ts";
import type { Cancellable } from "../../../sandbox/index.ts";
import type { ApprovalRequest, Approve, PlannedCall, RecordedRun, RunApprovals } from "../../model/approval.ts";
import { formatCaller, isCurrent } from "../../model/caller.ts";
import type { Method } from "../../model/catalog.ts";
import { formatOrigin } from "../../model/requests/origin.ts";
import { hasUnknown } from "../../model/plan.ts";
import { hashValueFully } from "../../shared/digest.ts";
import type { KnownSecrets } from "../../shared/secrets.ts";
import type { Validator } from "../../validation/index.ts";
import { type DecidingFlow, decideFlow } from "../provenance.ts";
import { cancelledError, rejectWhenCancelled } from "../cancellation.ts";
import { getDecidedPath, listTargets } from "../query-parts.ts";
import { createRequestKey, findUsedAccounts } from "../used-accounts.ts";
import { formatPartsPath } from "../../shared/names/method-paths.ts";
import { getMethodFacts, type Guard, type GuardedCall, pauseTimeout, validateCall } from "../call.ts";

/** A call that needs an approval, before the question has a record. */
export type CallToApprove = Omit<ApprovalRequest, "id" | "card" | "scopes" | "expires">;

/** The parts of a call that a record of the question needs in addition. */
export interface ApprovalDetails {
  readonly method: Method;
  /** The number of the call in its run. */
  readonly callId: number;
  /** The record of the run, if it has one. */
  readonly recorded?: RecordedRun;
  /** Digest of the input without masks, and of the values of the request that the skill takes; of full length. */
  readonly digest: string;
  /** The ids of the connections that the call uses. */
  readonly accountIds: readonly string[];
  readonly cancellable: Cancellable;
  /** Returns the calls that the program contains; empty for a call without a program. */
  readonly getPlan: () => readonly PlannedCall[];
  /** True if a flow of the policy asks about this call: an earlier yes for further calls does not cover it. */
  readonly asksForFlow: boolean;
  /** True if the program is a quote: a yes of an earlier run does not cover its calls. */
  readonly asksForEffects: boolean;
  /** Absent for a call outside of a run. */
  readonly approvedInRun?: RunApprovals;
  /** Asks the person at the program that makes the call; with `false` the call does not wait for a person. */
  readonly ask?: Approve | false;
}

/** Approves a call with `true`. Any other value, or an error, is a rejection; a `SkillgateError` explains it to the caller. */
export type DecideApproval = (request: CallToApprove, details: ApprovalDetails) => Promise<boolean> | boolean;

interface ApprovalParts {
  readonly secrets: KnownSecrets;
  readonly validator: Validator;
  readonly findAccount: FindAccount;
}

/** Requests approval of the exact input, if the policy or the method requires it. Refuses flows that the policy denies. */
export function approval(decide: DecideApproval, parts: ApprovalParts): Guard {
  return (next) => (call) => {
    const deciding = decideFlow(call.origins(), { targets: listTargets(call), policy: call.policy });
    if (deciding?.flow.decision === "deny") throw deniedFlow(call, deciding);
    const asksForFlow = deciding?.flow.decision === "ask";
    const asksForEffect = call.asksForEffects === true && !call.method.metadata.readOnly;
    if (call.rule.approval === "none" && !asksForFlow && !asksForEffect) return next(call);
    return requireApproval(call, decide, { ...parts, asksForFlow }).then(() => {
      requireCurrentToken(call);
      return next(call);
    });
  };
}

/** A person may answer after the access token of the caller has ended. */
function requireCurrentToken({ caller, method }: GuardedCall): void {
  if (isCurrent(caller.token)) return;
  const values = `${method.path}, because the access token of ${formatCaller(caller)} has ended`;
  throw createError("PERMISSION_MISSING", values, getMethodFacts(method));
}

function deniedFlow({ method }: GuardedCall, { flow, origin }: DecidingFlow): SkillgateError {
  const values = `${method.path}, because ${formatOrigin(origin)}, and ${flow.place} denies this flow`;
  return createError("POLICY_DENIED", values, getMethodFacts(method));
}

async function requireApproval(
  call: GuardedCall,
  decide: DecideApproval,
  parts: ApprovalParts & Pick<ApprovalDetails, "asksForFlow">,
): Promise<void> {
  const { caller, method, runId, cancellable } = call;
  const checked = call.validation();
  if (checked.kind !== "valid") return; // An inner guard refuses it; no approval is requested.
  const origins = call.origins().map(({ argument, from }) => ({ argument, from }));
  const accounts = call.accounts();
  const request: CallToApprove = {
    caller,
    path: getDecidedPath(call),
    input: parts.secrets.maskValue(structuredClone(checked.input)),
    argumentsDigest: call.argumentsDigest(),
    runId,
    approval: call.rule.approval === "admin" ? "admin" : "user",
    ...(origins.length > 0 && { origins: parts.secrets.maskValue(origins) }),
    ...(accounts.length > 0 && { accounts: accounts.map(({ title }) => title) }),
  };
  const details: ApprovalDetails = {
    method,
    callId: call.id,
    ...(call.recorded !== undefined && { recorded: call.recorded }),
    digest: createDigest(checked.input, call.requestKey()),
    accountIds: accounts.map(({ id }) => id),
    cancellable,
    getPlan: () => readPlan(call, parts),
    asksForFlow: parts.asksForFlow,
    asksForEffects: call.asksForEffects === true,
    ...(call.approvedInRun !== undefined && { approvedInRun: call.approvedInRun }),
    ...(call.approve !== undefined && { ask: call.approve }),
  };
  const verdict = await rejectWhenCancelled(
    cancellable,
    pauseTimeout(call, askForApproval(decide, request, details)),
    () => cancelledError(method, cancellable),
  );
  if (verdict.yes) return;
  if (verdict.cause instanceof SkillgateError && verdict.cause.code.startsWith("APPROVAL_")) throw verdict.cause;
  const values = `caller ${JSON.stringify(caller.id)} calls "${method.path}"`;
  const message = sentence("APPROVAL_MISSING", values);
  throw new SkillgateError("APPROVAL_MISSING", message, getMethodFacts(method), { cause: verdict.cause });
}

/** A yes counts for one destination and one connection: the digest depends on what the skill takes from the request and its caller. */
function createDigest(input: Readonly<Record<string, unknown>>, requestKey: string | undefined): string {
  return hashValueFully(requestKey === undefined ? input : [input, requestKey]);
}

async function askForApproval(
  decide: DecideApproval,
  ...question: Parameters<DecideApproval>
): Promise<{ readonly yes: boolean; readonly cause?: unknown }> {
  try {
    const verdict: unknown = await decide(...question);
    return { yes: verdict === true };
  } catch (cause) {
    return { yes: false, cause };
  }
}

/** Resolves the calls of the program against its catalog, with the digest of each whose arguments are all literal. */
function readPlan(call: GuardedCall, parts: ApprovalParts): readonly PlannedCall[] {
  return (call.getPlannedCalls?.() ?? []).map(({ site, method }) => {
    const { path, line, literalArguments: args, inLoop, conditional, dynamic } = site;
    const isLiteral = args !== undefined && !dynamic && !hasUnknown(args);
    const digest = method !== undefined && isLiteral ? hashPlanned(method, args, call, parts) : undefined;
    return {
      path: method === undefined ? path : formatPartsPath(method.path, site.parts ?? []),
      line,
      args: args && parts.secrets.maskValue(args),
      inLoop,
      conditional,
      ...(digest !== undefined && { digest }),
    };
  });
}

/** Returns the digest that a call of the plan will have; `undefined` if its arguments are invalid, or its caller lacks an account. */
function hashPlanned(
  method: Method,
  args: readonly unknown[],
  { caller, skill, requestValues }: GuardedCall,
  { validator, findAccount }: ApprovalParts,
): string | undefined {
  const checked = validateCall({ method, args }, validator);
  if (checked.kind !== "valid") return undefined;
  try {
    const ofSkill = method.skill === skill.name ? skill.provided.getRequestKey?.(requestValues) : undefined;
    return createDigest(checked.input, createRequestKey(ofSkill, findUsedAccounts(method, caller, findAccount)));
  } catch {
    return undefined; // the call will be refused
  }
}
