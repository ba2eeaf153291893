import { SkillgateError, sentence } from "../../errors.ts";
import type { Caller } from "../../model/caller.ts";
import type { KnownSecrets } from "../../shared/secrets.ts";
import { cancelledError, rejectWhenCancelled } from "../cancellation.ts";
import { getMethodFacts, type Guard, type GuardedCall, pauseTimeout } from "../call.ts";

/** What somebody is asked to approve: exactly this. */
export interface ApprovalRequest {
  readonly caller: Caller;
  /** `Skill.method`. */
  readonly path: string;
  /** A copy of what the method gets, without secrets of the configuration. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly argumentsDigest: string;
  readonly runId: string;
}

/** Says yes with `true`; anything else, and an error, is a no. */
export type Approve = (request: ApprovalRequest) => Promise<boolean> | boolean;

/** Asks for a yes to the very input that the method gets, where the method wants one (P6). */
export function approval(approve: Approve, secrets: KnownSecrets): Guard {
  return (next) => (call) => {
    if (call.method.metadata.approval === "none") return next(call);
    return requireApproval(call, call.approve ?? approve, secrets).then(() => next(call));
  };
}

async function requireApproval(call: GuardedCall, approve: Approve, secrets: KnownSecrets): Promise<void> {
  const { caller, method, runId, cancellable } = call;
  const checked = call.validation();
  if (checked.kind !== "valid") return; // Refused further in; nobody is bothered with it.
  const request: ApprovalRequest = {
    caller,
    path: method.path,
    input: secrets.maskValue(structuredClone(checked.input)),
    argumentsDigest: call.argumentsDigest(),
    runId,
  };
  const verdict = await rejectWhenCancelled(cancellable, pauseTimeout(call, askForApproval(approve, request)), () =>
    cancelledError(method),
  );
  if (verdict.yes) return;
  const values = `caller ${JSON.stringify(caller.id)} calls "${method.path}"`;
  const message = sentence("APPROVAL_MISSING", values);
  throw new SkillgateError("APPROVAL_MISSING", message, getMethodFacts(method), { cause: verdict.cause });
}

async function askForApproval(
  approve: Approve,
  request: ApprovalRequest,
): Promise<{ readonly yes: boolean; readonly cause?: unknown }> {
  try {
    const verdict: unknown = await approve(request);
    return { yes: verdict === true };
  } catch (cause) {
    return { yes: false, cause };
  }
}
