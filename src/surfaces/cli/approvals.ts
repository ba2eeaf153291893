import { Option } from "commander";

import type { Approval, Approvals, ListedApproval } from "../../approvals/index.ts";
import { sentence, SkillgateError } from "../../errors.ts";
import { APPROVAL_SCOPES, type ApprovalScope } from "../../model/approval.ts";
import type { CliCommand, CommandResult } from "./command.ts";
import { requireLasting } from "./commands/require-lasting.ts";
import type { CliSession } from "./session.ts";
import { answeredText, approvalsText } from "./text/approval-texts.ts";
import { lines } from "./text/layout.ts";

export function addApprovals(program: CliCommand): void {
  const approvals = program
    .command("approvals")
    .description("list, show and answer the calls that wait for an approval")
    .addHelpText("after", HELP);
  approvals
    .command("list")
    .description("list the requests without an answer")
    .option("--all", "list the answered and closed requests too")
    .run(listApprovals);
  approvals
    .command("show")
    .description("show the call of a request, its program and its expiry")
    .argument("<id>", "the request")
    .run(showApproval);
  approvals
    .command("approve")
    .description("approve the call of a request")
    .argument("<id>", "the request")
    .addOption(new Option("--for <scope>", "further calls that the yes covers").choices(APPROVAL_SCOPES))
    .run((session: CliSession, id: string, flags: { readonly for?: ApprovalScope }) =>
      answerApproval(session, id, { approve: true, scope: flags.for ?? "once" }),
    );
  approvals
    .command("deny")
    .description("deny the call of a request")
    .argument("<id>", "the request")
    .run((session: CliSession, id: string) => answerApproval(session, id, { approve: false }));
}

const HELP = `
A yes counts once, for one caller, one method and exactly its arguments. With --for it covers more: run, all calls of the
method in this run; plan, all calls that "show" lists with their arguments; always, all calls of the method by this caller
for 30 days, as a row in policies/approved.yaml.

Examples:
  skillgate approvals list
  skillgate approvals approve k3f7w2m9xa
  skillgate approvals approve k3f7w2m9xa --for run`;

/** Opens the records of the project. A store in memory has no records of other processes. */
async function openApprovals(session: CliSession): Promise<Approvals> {
  const { createApprovals } = await import("../../approvals/index.ts");
  requireLasting(await session.database(), "approvals of other processes");
  return createApprovals(() => session.database());
}

async function listApprovals(session: CliSession, { all }: { readonly all?: true }): Promise<CommandResult> {
  const approvals = await openApprovals(session);
  const listed = await approvals.list(all ? undefined : "pending");
  const whole = session.flags.json === true ? await readApprovals(approvals, listed) : listed;
  return { json: { approvals: whole }, text: approvalsText(listed, session.paint.out) };
}

/** Returns questions with what they ask. One that was deleted meanwhile is left out. */
export async function readApprovals(
  approvals: Approvals,
  listed: readonly ListedApproval[],
): Promise<readonly Approval[]> {
  const whole: Approval[] = [];
  for (const { id } of listed) {
    const approval = await approvals.get(id);
    if (approval !== undefined) whole.push(approval);
  }
  return whole;
}

async function showApproval(session: CliSession, id: string): Promise<CommandResult> {
  const approval = await (await openApprovals(session)).get(id);
  if (approval === undefined)
    throw new SkillgateError("APPROVAL_UNKNOWN", sentence("APPROVAL_UNKNOWN", JSON.stringify(id)));
  const { state, card, scopes } = approval;
  const how =
    state === "pending"
      ? `Answer with: skillgate approvals approve ${id} [--for ${scopes.join("|")}], or: skillgate approvals deny ${id}`
      : `It is ${state}`;
  return { json: approval, text: lines([card, how]) };
}

async function answerApproval(
  session: CliSession,
  id: string,
  answer: { readonly approve: boolean; readonly scope?: ApprovalScope },
): Promise<CommandResult> {
  const approval = await (await openApprovals(session)).answer(id, answer);
  return { json: approval, text: answeredText(approval) };
}
