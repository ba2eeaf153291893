import { sentence, SkillgateError } from "../../../errors.ts";
import type { Approval } from "../../../approvals/index.ts";
import { APPROVAL_SCOPES, type ApprovalScope } from "../../../model/approval.ts";
import { type Caller, mayAdminister } from "../../../model/caller.ts";
import type { Runtime } from "../../../runtime.ts";
import type { Endpoints, JsonObject } from "../endpoints.ts";
import type { ApprovalSummary } from "../messages.ts";
import { invalidRequest } from "../problem.ts";
import { requireAdmin } from "../security/guard.ts";
import type { ConsoleServices } from "../services.ts";

/** Answered questions that a page shows. */
const MAX_CLOSED = 100;

/** The list of questions, one question, and its answer. Callers who do not administer see the questions of their own calls. */
export function createApprovalEndpoints({ runtime, questions }: ConsoleServices): Endpoints {
  return {
    "GET /approvals": async ({ caller }) => {
      const rows = (await runtime.approvals.list(undefined, caller)).filter((row) => maySee(caller, row));
      const pending = rows.filter(({ state }) => state === "pending");
      const closed = rows
        .filter(({ state }) => state !== "pending")
        .toSorted((a, b) => (b.answeredAt ?? b.expires) - (a.answeredAt ?? a.expires));
      return {
        pending: pending.map(summarizeApproval),
        closed: closed.slice(0, MAX_CLOSED).map(summarizeApproval),
      };
    },
    "GET /approvals/:id": async ({ caller, getPart }) =>
      summarizeApproval(await findApproval(runtime, getPart("id"), caller)),
    "POST /approvals/:id": async ({ caller, getPart, readBody }) => {
      const id = getPart("id");
      const answer = readAnswer(await readBody());
      const isAdmin = mayAdminister(caller, "write");
      if (!isAdmin && questions.answer(id, caller, answer.approve && answer.scope))
        return { state: answer.approve ? "approved" : "denied" };
      if (!isAdmin) await refuseAnswer(runtime, id, caller);
      return summarizeApproval(await runtime.approvals.answer(id, { ...answer, by: caller.id, viewer: caller }));
    },
  };
}

/** Returns a question; throws `APPROVAL_UNKNOWN` for one that the caller may not see. */
export async function findApproval({ approvals }: Runtime, id: string, caller: Caller): Promise<Approval> {
  const approval = await approvals.get(id, caller);
  if (approval !== undefined && maySee(caller, approval)) return approval;
  throw new SkillgateError("APPROVAL_UNKNOWN", sentence("APPROVAL_UNKNOWN", JSON.stringify(id.slice(0, 100))));
}

export function summarizeApproval(approval: Approval): ApprovalSummary {
  const { digest: _digest, usedAt: _usedAt, closedAt: _closedAt, ...rest } = approval;
  return rest as unknown as ApprovalSummary; // plan and provenance are JSON that the approvals have written
}

function maySee(caller: Caller, { caller: asker }: Pick<Approval, "caller">): boolean {
  return mayAdminister(caller, "read") || asker === caller.id;
}

/** Throws for a caller that neither administers nor has started the run in a browser. */
async function refuseAnswer(runtime: Runtime, id: string, caller: Caller): Promise<void> {
  await findApproval(runtime, id, caller);
  requireAdmin(caller, "write");
}

interface AnswerOfBody {
  readonly approve: boolean;
  readonly scope: ApprovalScope;
}

function readAnswer(body: JsonObject): AnswerOfBody {
  const { answer, for: word = "once" } = body;
  const scope = APPROVAL_SCOPES.find((each) => each === word);
  if (answer !== "approve" && answer !== "deny") throw invalidRequest('answer must be "approve" or "deny"');
  if (scope === undefined) throw invalidRequest(`for must be one of ${APPROVAL_SCOPES.join(", ")}`);
  return { approve: answer === "approve", scope };
}
