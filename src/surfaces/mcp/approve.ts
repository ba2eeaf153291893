import type { ApprovalAnswer, ApprovalRequest, ApprovalScope } from "../../model/approval.ts";
import { OWNER } from "../../model/caller.ts";
import { isRecord } from "../../model/json.ts";
import type { RunOptions } from "../../runtime.ts";
import type { WorkContext } from "./sessions/multi-turn-requests.ts";

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
export function approveBy(context: Pick<WorkContext, "client" | "cancellable">): Pick<RunOptions, "approve"> {
  if (!context.client.can("elicitation/create")) return {};
  return { approve: (request) => askUser(request, context) };
}

/** The user at a client is not an administrator. */
async function askUser(
  request: ApprovalRequest,
  { client, cancellable }: Pick<WorkContext, "client" | "cancellable">,
): Promise<ApprovalAnswer | undefined> {
  const { approval, caller, card, scopes } = request;
  if (approval === "admin" || card.length > MAX_QUESTION_UNITS) return undefined;
  const offered = scopes.filter((scope) => scope !== "always" || caller.id === OWNER.id);
  const choices = ["no", ...offered] as const;
  let answer: unknown;
  try {
    answer = await client.ask("elicitation/create", createForm(card, choices));
  } catch (error) {
    if (cancellable.isCancelled) return undefined; // the client has gone: others can answer
    throw error;
  }
  if (!isRecord(answer) || answer["action"] !== "accept" || !isRecord(answer["content"])) return false;
  const { answer: chosen } = answer["content"];
  return offered.find((scope) => scope === chosen) ?? false;
}

function createForm(card: string, choices: readonly (keyof typeof TITLES)[]): Readonly<Record<string, unknown>> {
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
