import type { Caller } from "../model/caller.ts";
import type { Method } from "../model/catalog.ts";
import { type Decision, findRefusal, type MethodRule, type RuledMethod } from "../model/policy.ts";
import { asksByRow, type RowFields } from "./fields.ts";
import type { ExplainedPolicy } from "./rules.ts";

/** The decision on the calls of one method by one caller, and the reasons for it. */
export interface Explanation {
  readonly path: string;
  readonly caller: string;
  readonly decision: Decision;
  readonly rule: MethodRule;
  /** Sentences, the decisive one first. */
  readonly reasons: readonly string[];
  /** The rows that match the method, the one that applies first. */
  readonly rows: readonly { readonly key: string; readonly line: number; readonly why: string }[];
}

type ExplainedMethod = RuledMethod & Partial<Pick<Method, "definition">>;

export function explainDecision(policy: ExplainedPolicy, method: ExplainedMethod, caller: Caller): Explanation {
  const rule = policy.getRule(method);
  const refusal = findRefusal(caller, method, { rule, roles: policy.roles });
  const rows = policy.findRows(method).map(({ row, kind }) => ({ key: row.key.text, line: row.line, why: kind }));
  return {
    path: method.path,
    caller: caller.id,
    decision: refusal === undefined ? rule.decision : "deny",
    rule,
    reasons: [
      ...(refusal === undefined ? [] : [`Refused, because ${refusal.why}`]),
      ...listReasons(policy, method, rule),
    ],
    rows,
  };
}

function listReasons(
  policy: ExplainedPolicy,
  { metadata, definition }: ExplainedMethod,
  rule: MethodRule,
): readonly string[] {
  const { asksDestructive, onlyTightens, rows } = policy.content;
  const row = rows.find(({ key }) => key.text === rule.row);
  const isAsked = rule.decision === "ask";
  const asksByMethod = isAsked && metadata.approval !== "none";
  const isDestructive = isAsked && asksDestructive && metadata.destructive;
  return [
    rule.row === undefined ? "No row matches, so the method's own metadata applies" : `The row "${rule.row}" applies`,
    isAsked && row !== undefined && asksByRow(row.fields, metadata) ? describeAsking(row.fields) : "",
    row?.fields.requires_approval === "writes" && metadata.readOnly
      ? "The row asks before writes, and the method only reads"
      : "",
    asksByMethod ? `The method itself requires the approval of ${formatApprover(metadata.approval)}` : "",
    isDestructive ? "The method is destructive, and the setting approvals.destructive is ask" : "",
    definition?.effectReason ?? "",
    onlyTightens ? "The project is not trusted, so its policy can only tighten" : "",
  ].filter((reason) => reason !== "");
}

function describeAsking({ requires_approval: requires }: RowFields): string {
  return requires === "writes"
    ? "The row asks before writes, and the method does not only read"
    : "The row asks before each call";
}

function formatApprover(approval: string): string {
  return approval === "admin" ? "an administrator" : "the user";
}
