import { countSpaces, escapeInvisible, toVisibleLine } from "../shared/visible-text.ts";
import { cutText } from "../shared/format-text.ts";
import type { ApprovalRow, NewApproval } from "../store/index.ts";
import { MAX_PLANNED_CALLS, type PlannedCallText } from "./plan-texts.ts";

/** A question as text for a person. */
export interface ApprovalCard {
  readonly text: string;
  /** True if all of the arguments are shown. */
  readonly isComplete: boolean;
}

/** UTF-16 units of arguments that a card shows. */
export const MAX_CARD_UNITS = 4_000;

const MAX_DESCRIPTION_UNITS = 300;

/** Formats a question. Invisible characters are escapes, so that no argument imitates the text around it. */
export function formatCard(
  approval: NewApproval | ApprovalRow,
  { now, maxUnits = MAX_CARD_UNITS }: { readonly now: number; readonly maxUnits?: number },
): ApprovalCard {
  const { caller, path, description, marks, approver, provenance, runId } = approval;
  const argumentsText = formatArguments(approval.arguments, maxUnits);
  const needsAdmin = approver === "admin" ? ["needs an administrator"] : [];
  const lines = [
    `${escapeInvisible(JSON.stringify(caller))} asks to call ${path} with`,
    argumentsText.text,
    argumentsText.isComplete ? "" : `Only ${maxUnits} characters are shown. Approve only if you know the rest`,
    ...indent([cutText(toVisibleLine(description), MAX_DESCRIPTION_UNITS), [...marks, ...needsAdmin].join(", ")]),
    ...(provenance as readonly string[]).map((text) => `Note: ${toVisibleLine(text)}`),
    ...formatPlanLines(approval.plan as unknown as readonly PlannedCallText[]),
    `Request ${approval.id} of run ${runId} ${formatExpiry(approval.expires, now)}`,
  ];
  return { text: lines.filter((line) => line !== "").join("\n"), isComplete: argumentsText.isComplete };
}

/** A text stands for arguments that were cut when they were stored. */
function formatArguments(value: ApprovalRow["arguments"], maxUnits: number): ApprovalCard {
  const json = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const visible = json
    .split("\n")
    .map((line) => countSpaces(escapeInvisible(line)))
    .join("\n");
  if (visible.length <= maxUnits) return { text: visible, isComplete: typeof value !== "string" };
  return { text: `${cutText(visible, maxUnits)}…`, isComplete: false };
}

function formatPlanLines(plan: readonly PlannedCallText[]): readonly string[] {
  if (plan.length === 0) return [];
  const calls = plan.map(({ line, text, inLoop, conditional }) => {
    const marks = [...(inLoop ? ["in a loop"] : []), ...(conditional ? ["under a condition"] : [])];
    return `line ${line}: ${countSpaces(text)}${marks.length === 0 ? "" : ` (${marks.join(", ")})`}`;
  });
  const more = plan.length === MAX_PLANNED_CALLS ? ["and perhaps further calls"] : [];
  return ["The program contains these calls:", ...indent([...calls, ...more])];
}

function formatExpiry(expires: number, now: number): string {
  const minutes = Math.ceil((expires - now) / 60_000);
  const at = new Date(expires).toISOString().replace("T", " ").slice(0, 19);
  return minutes <= 0 ? `expired at ${at} UTC` : `expires at ${at} UTC, in ${minutes} min`;
}

function indent(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => line !== "").map((line) => `  ${line}`);
}
