import { SkillgateError, sentence } from "../../errors.ts";
import type { Caller } from "../../model/caller.ts";
import { formatOrigin, type Origin } from "../../model/origin.ts";
import type { KnownSecrets } from "../../shared/secrets.ts";
import { decideFlow } from "../provenance.ts";
import { cancelledError, rejectWhenCancelled } from "../cancellation.ts";
import { getMethodFacts, type Guard, type GuardedCall, pauseTimeout } from "../call.ts";

/** The call that a user or an administrator is asked to approve. */
export interface ApprovalRequest {
  readonly caller: Caller;
  /** `Skill.method`. */
  readonly path: string;
  /** A copy of the input that the method receives, with configured secrets masked. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly argumentsDigest: string;
  readonly runId: string;
  /** The person who must answer. */
  readonly approval: "user" | "admin";
  /** The parts of the input that came out of other methods in this run; absent if there are none. */
  readonly origins?: readonly Origin[];
}

/** Approves with `true`; any other value, or an error, is a rejection. */
export type Approve = (request: ApprovalRequest) => Promise<boolean> | boolean;

/** Requests approval of the exact input, if the policy or the method requires it. Refuses flows that the policy denies. */
export function approval(approve: Approve, secrets: KnownSecrets): Guard {
  return (next) => (call) => {
    const flow = decideFlow(call.origins(), call);
    if (flow?.decision === "deny") throw deniedFlow(call, flow.origin);
    if (call.rule.approval === "none" && flow?.decision !== "ask") return next(call);
    return requireApproval(call, call.approve ?? approve, secrets).then(() => next(call));
  };
}

function deniedFlow({ method }: GuardedCall, origin: Origin): SkillgateError {
  const values = `${method.path}, because ${formatOrigin(origin)}`;
  return new SkillgateError("POLICY_DENIED", sentence("POLICY_DENIED", values), getMethodFacts(method));
}

async function requireApproval(call: GuardedCall, approve: Approve, secrets: KnownSecrets): Promise<void> {
  const { caller, method, runId, cancellable } = call;
  const checked = call.validation();
  if (checked.kind !== "valid") return; // An inner guard refuses it; no approval is requested.
  const origins = call.origins().map(({ argument, from }) => ({ argument, from }));
  const request: ApprovalRequest = {
    caller,
    path: method.path,
    input: secrets.maskValue(structuredClone(checked.input)),
    argumentsDigest: call.argumentsDigest(),
    runId,
    approval: call.rule.approval === "admin" ? "admin" : "user",
    ...(origins.length > 0 && { origins: secrets.maskValue(origins) }),
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
