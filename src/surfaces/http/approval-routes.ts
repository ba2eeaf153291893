import { SkillgateError } from "../../errors.ts";
import { APPROVAL_SCOPES } from "../../model/approval.ts";
import { isRecord } from "../../model/json.ts";
import type { RuntimeView } from "../../runtime/api/view.ts";
import { refuseAsProblem } from "./responses.ts";
import { RPC_ERRORS, rpcError, toRpcError } from "../../shared/rpc-errors.ts";

interface ApprovalRouteRequest {
  /** The id in the path; absent for the list. */
  readonly id?: string | undefined;
  /** The parsed body of a POST; absent for a GET. */
  readonly answer?: unknown;
  readonly trace_id: string;
}

/** Answers `GET /approvals`, `GET /approvals/ID` and `POST /approvals/ID`. */
export async function answerApprovalRoute(
  approvals: RuntimeView["approvals"],
  { id, answer, trace_id }: ApprovalRouteRequest,
): Promise<Response> {
  try {
    if (id === undefined) return Response.json({ approvals: await approvals.list("pending") });
    if (answer !== undefined) return await giveAnswer(approvals, id, { answer, trace_id });
    const approval = await approvals.get(id);
    return approval === undefined
      ? refuseAsProblem(404, rpcError("InvalidParams", "Unknown approval request", { trace_id }))
      : Response.json(approval);
  } catch (thrown) {
    const error = toRpcError(thrown, "approvals", { trace_id });
    const code = thrown instanceof SkillgateError ? thrown.code : undefined;
    const status = code === "APPROVAL_UNKNOWN" ? 404 : code === "APPROVAL_CLOSED" ? 409 : undefined;
    return refuseAsProblem(status ?? RPC_ERRORS[error.data.error_type].status, error);
  }
}

async function giveAnswer(
  approvals: RuntimeView["approvals"],
  id: string,
  { answer, trace_id }: Pick<ApprovalRouteRequest, "answer" | "trace_id">,
): Promise<Response> {
  const { answer: word, for: scope = "once" } = isRecord(answer) ? answer : {};
  const givenScope = APPROVAL_SCOPES.find((each) => each === scope);
  if ((word !== "approve" && word !== "deny") || givenScope === undefined) {
    const form = `Write {"answer": "approve" or "deny", "for": one of ${APPROVAL_SCOPES.join(", ")}}`;
    return refuseAsProblem(
      400,
      rpcError("InvalidParams", form, { field: givenScope === undefined ? "for" : "answer", trace_id }),
    );
  }
  return Response.json(await approvals.answer(id, { approve: word === "approve", scope: givenScope }));
}
