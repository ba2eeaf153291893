import type { Approval, ListedApproval } from "../../../approvals/index.ts";
import type { WaitingRun } from "../../../agent/index.ts";
import type { ApprovalAnswer, ApprovalRequest, ApprovalScope } from "../../../model/approval.ts";
import type { Runtime } from "../../../runtime.ts";
import type { Paint } from "../terminal/terminal.ts";
import { escaped, formatSecond, lines, table } from "./layout.ts";

/** The answers at a terminal beyond `y` and `n`, with their meanings. */
const MEANINGS: Readonly<Record<Exclude<ApprovalScope, "once">, string>> = {
  run: "this method for the rest of the run",
  plan: "all calls that are listed with their arguments",
  always: "this method for 30 days",
};

/** Shows the question with its possible answers. */
export function approvalQuestion({ card, scopes }: ApprovalRequest): string {
  const wider = scopes.flatMap((scope) => (scope === "once" ? [] : [[`  ${scope}`, MEANINGS[scope]]]));
  const more = wider.length === 0 ? [] : ["To allow more, type", ...table(wider)];
  return `${lines([card, ...more])}\nAllow this call? [y/N] `;
}

/** Parses the line of a user; anything but a yes is a no. */
export function parseApprovalAnswer(line: string): ApprovalAnswer {
  const word = line.trim().toLowerCase();
  if (word === "run" || word === "plan" || word === "always") return word;
  return word === "y" || word === "yes";
}

/** Says how to approve the calls that failed because no person was asked. Other processes see no store in memory. */
export async function describePending(
  { database }: Pick<Runtime, "database">,
  pending: readonly Approval[],
  paint: Paint,
): Promise<string> {
  if (pending.length === 0 || (await database()).kind === "memory") return "";
  return lines(
    pending.map(({ id, path, caller }) =>
      paint.yellow(
        `${path} waits for an approval. Show the call with: skillgate approvals show ${id}. ` +
          `Approve it with: skillgate approvals approve ${id}, then ${caller === "owner" ? "run the command" : "make the call"} again`,
      ),
    ),
  );
}

/** Says how to approve the calls of a program that waits, and how to continue it. */
export function waitingText({ runId, approvals }: WaitingRun, paint: Paint): string {
  return lines([
    paint.yellow(`Run ${runId} waits for an approval`),
    ...approvals.map((id) => `Show the call: skillgate approvals show ${id}`),
    approvals.length === 0 ? "Find the call: skillgate approvals list" : "",
    ...approvals.map((id) => `Approve it: skillgate approvals approve ${id}`),
    `Then continue the run: skillgate runs resume ${runId}`,
  ]);
}

export function approvalsText(approvals: readonly ListedApproval[], paint: Paint): string {
  if (approvals.length === 0) return "No approval requests";
  return lines(
    table(
      approvals.map(({ id, state, path, caller, created }) => [
        paint.cyan(id),
        state,
        path,
        escaped(caller),
        paint.dim(formatSecond(created)),
      ]),
    ),
  );
}

/** Says what became of a question. */
export function answeredText({ id, path, caller, state, scope, isWaiting }: Approval): string {
  const who = `${path} for ${escaped(caller)}`;
  if (state === "denied") return `Denied request ${id}: ${who}`;
  const reach = scope === null || scope === "once" ? "" : `, and ${MEANINGS[scope]}`;
  const next = isWaiting ? "The call continues" : "It counts for the next call with the same arguments";
  return `Approved request ${id}: ${who}${reach}. ${next}`;
}
