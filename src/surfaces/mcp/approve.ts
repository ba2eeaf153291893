import type { ApprovalAnswer, ApprovalRequest, ApprovalScope, Approve, Approver } from "../../model/approval.ts";
import { type Caller, OWNER } from "../../model/caller.ts";
import { isRecord } from "../../model/json.ts";
import type { WorkContext } from "./sessions/multi-turn-request.ts";

/** Maximum UTF-16 units of a question. A longer one is answered elsewhere: the user could not see all of it. */
const MAX_QUESTION_UNITS = 6_000;

/** The choices of a question, with their titles. */
const TITLES: Readonly<Record<ApprovalScope | "no", string>> = {
  no: "No",
  once: "Yes, this call",
  run: "Yes, all calls of this method in this run",
  plan: "Yes, all calls that are listed with their arguments",
  always: "Yes, all calls of this method for 30 days",
};

/** Asks the user at the client to approve calls. If the client cannot ask, the runtime's own approval applies. */
export function approveBy(context: Pick<WorkContext, "client" | "cancellable">): { readonly approve?: Approve } {
  if (!context.client.can("elicitation/create")) return {};
  return { approve: (request) => askUser(request, context) };
}

/** The user at a client is not an administrator. */
async function askUser(
  request: ApprovalRequest,
  { client, cancellable }: Pick<WorkContext, "client" | "cancellable">,
): Promise<ApprovalAnswer | undefined> {
  const { approval: approver, caller, id } = request;
  if (!canAskUser({ ...request, approver })) return undefined;
  let answer: unknown;
  try {
    answer = await client.ask("elicitation/create", createApprovalForm(request, caller), id);
  } catch (error) {
    if (cancellable.isCancelled) return undefined; // the client has gone: others can answer
    throw error;
  }
  return readApprovalAnswer(answer, request, caller);
}

/** The parts of a question that its form shows. */
type ShownQuestion = Pick<ApprovalRequest, "card" | "scopes">;

/** True for a question that the user at a client can answer. */
export function canAskUser({ approver, card }: Pick<ShownQuestion, "card"> & { readonly approver: Approver }): boolean {
  return approver === "user" && card.length <= MAX_QUESTION_UNITS;
}

/** Reads the answer of a client to the form: the scope of a yes, or `false`. */
export function readApprovalAnswer(answer: unknown, question: ShownQuestion, caller: Caller): ApprovalScope | false {
  if (!isRecord(answer) || answer["action"] !== "accept" || !isRecord(answer["content"])) return false;
  const { answer: chosen } = answer["content"];
  return listScopes(question, caller).find((scope) => scope === chosen) ?? false;
}

function listScopes({ scopes }: ShownQuestion, caller: Caller): readonly ApprovalScope[] {
  return scopes.filter((scope) => scope !== "always" || caller.id === OWNER.id);
}

/** Creates the params of the elicitation that asks for an approval. */
export function createApprovalForm(question: ShownQuestion, caller: Caller): Readonly<Record<string, unknown>> {
  const { card } = question;
  const choices = ["no", ...listScopes(question, caller)] as const;
  return {
    message: `Allow this call?\n${card}`,
    requestedSchema: {
      type: "object",
      properties: {
        answer: {
          type: "string",
          title: "Allow this call?",
          enum: choices,
          enumNames: choices.map((choice) => TITLES[choice]),
          default: "no",
        },
      },
      required: ["answer"],
    },
  };
}
