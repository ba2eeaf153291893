import { sentence, SkillgateError } from "../../../errors.ts";
import type { Approval } from "../../../approvals/index.ts";
import { APPROVAL_SCOPES, type ApprovalScope } from "../../../model/approval.ts";
import { type Caller, mayAdminister } from "../../../model/caller.ts";
import type { Runtime } from "../../../runtime.ts";
import { invalidRequest } from "../problem.ts";
import { readObject } from "../read-body.ts";
import type { ApprovalSummary, PlannedCallSummary } from "../run-messages.ts";
import { requireAdmin } from "../security/guard.ts";
import type { AddConsoleApi } from "../services.ts";

/** Answered questions that a page shows. */
const MAX_CLOSED = 100;

/** Adds the list of questions, one question, and its answer. Callers who do not administer see the questions of their own calls. */
export const addApprovalsApi: AddConsoleApi = (api, { runtime, http, questions }) => {
  api.get("/approvals", async (c) => {
    const caller = c.get("caller");
    const rows = (await runtime.approvals.list(undefined, caller)).filter((row) => maySee(caller, row));
    const pending = rows.filter(({ state }) => state === "pending");
    const closed = rows
      .filter(({ state }) => state !== "pending")
      .toSorted((a, b) => (b.answeredAt ?? b.expires) - (a.answeredAt ?? a.expires));
    return c.json({
      pending: pending.map(summarizeApproval),
      closed: closed.slice(0, MAX_CLOSED).map(summarizeApproval),
    });
  });
  api.get("/approvals/:id", async (c) =>
    c.json(summarizeApproval(await findApproval(runtime, c.req.param("id"), c.get("caller")))),
  );
  api.post("/approvals/:id", async (c) => {
    const caller = c.get("caller");
    const id = c.req.param("id");
    const answer = readAnswer(await readObject(c, http));
    const isAdmin = mayAdminister(caller, "write");
    if (!isAdmin && questions.answer(id, caller, answer.approve && answer.scope))
      return c.json({ state: answer.approve ? "approved" : "denied" });
    if (!isAdmin) await refuseAnswer(runtime, id, caller);
    return c.json(summarizeApproval(await runtime.approvals.answer(id, { ...answer, by: caller.id, viewer: caller })));
  });
};

/** Returns a question; throws `APPROVAL_UNKNOWN` for one that the caller may not see. */
export async function findApproval({ approvals }: Runtime, id: string, caller: Caller): Promise<Approval> {
  const approval = await approvals.get(id, caller);
  if (approval !== undefined && maySee(caller, approval)) return approval;
  throw new SkillgateError("APPROVAL_UNKNOWN", sentence("APPROVAL_UNKNOWN", JSON.stringify(id.slice(0, 100))));
}

export function summarizeApproval(approval: Approval): ApprovalSummary {
  const { digest: _digest, usedAt: _usedAt, closedAt: _closedAt, plan, provenance, marks, ...rest } = approval;
  return {
    ...rest,
    marks: [...marks],
    plan: plan as unknown as readonly PlannedCallSummary[],
    provenance: provenance as unknown as readonly string[],
  };
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

function readAnswer(body: Readonly<Record<string, unknown>>): AnswerOfBody {
  const { answer, for: word = "once" } = body;
  const scope = APPROVAL_SCOPES.find((each) => each === word);
  if (answer !== "approve" && answer !== "deny") throw invalidRequest('answer must be "approve" or "deny"');
  if (scope === undefined) throw invalidRequest(`for must be one of ${APPROVAL_SCOPES.join(", ")}`);
  return { approve: answer === "approve", scope };
}
