import { sentence, SkillgateError } from "../../../errors.ts";
import type { Approval } from "../../../approvals/index.ts";
import { APPROVAL_SCOPES, type ApprovalScope } from "../../../model/approval.ts";
import type { RuntimeView } from "../../../runtime/api/view.ts";
import type { Endpoints, JsonObject } from "../endpoints.ts";
import type { ApprovalLists, ApprovalSummary } from "../program-messages.ts";
import { invalidRequest } from "../problem.ts";
import type { ConsoleServices } from "../services.ts";

/** Answered questions that a page shows. */
const MAX_CLOSED = 100;

/** The list of questions, one question, and its answer. */
export function createApprovalEndpoints({ questions }: ConsoleServices): Endpoints {
  return {
    "GET /approvals": async ({ c, view }): Promise<ApprovalLists> => {
      const rows = await view.approvals.list(c.req.query("state") === "pending" ? "pending" : undefined);
      const pending = rows.filter(({ state }) => state === "pending");
      const closed = rows
        .filter(({ state }) => state !== "pending")
        .toSorted((a, b) => (b.closedAt ?? 0) - (a.closedAt ?? 0));
      return { pending, closed: closed.slice(0, MAX_CLOSED) };
    },
    "GET /approvals/:id": async ({ view, getPart }) => summarizeApproval(await findApproval(view, getPart("id"))),
    "POST /approvals/:id": async ({ view, getPart, readBody }) => {
      const id = getPart("id");
      const wasAsked = questions.has(id, view.caller);
      return summarizeApproval(await view.approvals.answer(id, { ...readAnswer(await readBody()), wasAsked }));
    },
  };
}

/** Returns a question; throws `APPROVAL_UNKNOWN` for one that the caller may not see. */
export async function findApproval({ approvals }: RuntimeView, id: string): Promise<Approval> {
  const approval = await approvals.get(id);
  if (approval !== undefined) return approval;
  throw new SkillgateError("APPROVAL_UNKNOWN", sentence("APPROVAL_UNKNOWN", JSON.stringify(id.slice(0, 100))));
}

export function summarizeApproval(approval: Approval): ApprovalSummary {
  const { digest: _digest, usedAt: _usedAt, closedAt: _closedAt, ...rest } = approval;
  return rest as unknown as ApprovalSummary; // plan and provenance are JSON that the approvals have written
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
