import type { PlannedCall } from "../model/approval.ts";
import { UNKNOWN } from "../model/plan.ts";
import { cutText } from "../shared/format-text.ts";
import { escapeInvisible } from "../shared/visible-text.ts";

/** A call of the program on a card. */
export interface PlannedCallText {
  readonly path: string;
  readonly line: number;
  /** `MailSkill.send("bob", …)` */
  readonly text: string;
  readonly inLoop: boolean;
  readonly conditional: boolean;
}

/** Calls beyond this number are counted, not shown; a yes for the plan does not cover them. */
export const MAX_PLANNED_CALLS = 30;

const MAX_CALL_UNITS = 300;

export function formatPlan(plan: readonly PlannedCall[]): readonly PlannedCallText[] {
  return plan.slice(0, MAX_PLANNED_CALLS).map((call) => {
    const { path, line, inLoop, conditional } = call;
    return { path, line, text: cutCall(formatCall(call)), inLoop, conditional };
  });
}

/** Returns the calls of a plan that a yes can cover: they are literal and the card shows all of them. */
export function getLiteralCalls(plan: readonly PlannedCall[]): readonly (PlannedCall & { readonly digest: string })[] {
  return plan
    .slice(0, MAX_PLANNED_CALLS)
    .filter((call): call is PlannedCall & { readonly digest: string } => isShownLiteral(call, formatCall(call)));
}

function isShownLiteral({ digest }: PlannedCall, text: string): boolean {
  return digest !== undefined && text.length <= MAX_CALL_UNITS;
}

function cutCall(text: string): string {
  return text.length <= MAX_CALL_UNITS ? text : `${cutText(text, MAX_CALL_UNITS)}…`;
}

function formatCall({ path, args }: PlannedCall): string {
  return escapeInvisible(`${path}(${args === undefined ? "…" : args.map(formatLiteral).join(", ")})`);
}

/** Formats a literal as a program would write it, with `…` for what is known only at run time. */
function formatLiteral(value: unknown): string {
  if (value === UNKNOWN) return "…";
  if (Array.isArray(value)) return `[${value.map(formatLiteral).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${formatLiteral(item)}`);
    return `{ ${fields.join(", ")} }`;
  }
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}
