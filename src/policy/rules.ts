import type { Roles } from "../model/caller.ts";
import type { Flow, MethodRule, Policy, RuledMethod } from "../model/policy.ts";
import type { MethodMetadata } from "../model/skill.ts";
import { asksByRow } from "./fields.ts";
import { MATCH_KINDS, type MatchKind, parseKey } from "./keys.ts";
import type { PolicyRow } from "./rows.ts";

/** The content of a policy. */
export interface PolicyContent {
  readonly rows: readonly PolicyRow[];
  readonly flows: readonly Flow[];
  readonly roles: Roles;
  /** Asks before each destructive call, unless a row decides. */
  readonly asksDestructive: boolean;
  /** The content of a project that is not trusted: nothing in it may permit more than methods do themselves. */
  readonly onlyTightens: boolean;
}

/** A row that matches a method, and how. */
export interface MatchingRow {
  readonly row: PolicyRow;
  readonly kind: MatchKind;
}

/** A policy that also says where its rules come from. */
export interface ExplainedPolicy extends Policy {
  readonly content: PolicyContent;
  /** The rows that match a method, the one that applies first. */
  readonly findRows: (method: RuledMethod) => readonly MatchingRow[];
}

let versions = 0;

export function createPolicy(content: PolicyContent): ExplainedPolicy {
  const { rows, flows, roles, onlyTightens } = content;
  const rules = new WeakMap<RuledMethod, MethodRule>();
  const findRows = (method: RuledMethod): readonly MatchingRow[] => findMatchingRows(rows, method);
  return {
    version: ++versions,
    content,
    roles: onlyTightens ? new Map() : roles,
    ...createFlowRules(onlyTightens ? flows.filter(({ decision }) => decision !== "allow") : flows),
    findRows,
    getRule(methodInView) {
      const method = methodInView.original ?? methodInView;
      const cached = rules.get(method);
      if (cached !== undefined) return cached;
      const rule = createRule(method.metadata, findRows(method)[0]?.row, content);
      rules.set(method, rule);
      return rule;
    },
  };
}

function createFlowRules(flows: readonly Flow[]): Pick<Policy, "findFlow" | "isFlowTarget"> {
  const compiled = flows.flatMap((flow) => {
    const [source, target] = [parseKey(flow.from), parseKey(flow.to)];
    return source === undefined || target === undefined ? [] : [{ source, target, flow }];
  });
  return {
    findFlow: (from, to) =>
      compiled.find(({ source, target }) => source.match(from) !== undefined && target.match(to) !== undefined)?.flow,
    isFlowTarget: (method) => compiled.some(({ target }) => target.match(method) !== undefined),
  };
}

/** Finds the rows for a method. Only names and capabilities can be equally specific; then the stricter row is first. */
function findMatchingRows(rows: readonly PolicyRow[], method: RuledMethod): readonly MatchingRow[] {
  const matching = rows.flatMap((row) => {
    const kind = row.key.match(method);
    return kind === undefined ? [] : [{ row, kind }];
  });
  return matching.toSorted(
    (one, other) =>
      MATCH_KINDS.indexOf(one.kind) - MATCH_KINDS.indexOf(other.kind) ||
      (one.row.key.text.includes("*") ? other.row.key.literals - one.row.key.literals : 0) ||
      getStrictness(other.row) - getStrictness(one.row),
  );
}

function getStrictness({ fields }: PolicyRow): number {
  if (fields.decision === "deny") return 3;
  if (asksByRow(fields, { readOnly: false })) return 2;
  return fields.decision === "allow" ? 0 : 1;
}

/** Applies a row to the metadata of a method. What the row does not mention stays. */
function createRule(metadata: MethodMetadata, row: PolicyRow | undefined, content: PolicyContent): MethodRule {
  const approval = ruledApproval(metadata, row, content);
  const isDenied = row?.fields.decision === "deny";
  return {
    ...ruledNumbers(metadata, row, content.onlyTightens),
    requiredScopes: [...new Set([...metadata.requiredScopes, ...(row?.fields.required_scopes ?? [])])],
    approval,
    decision: isDenied ? "deny" : approval === "none" ? "allow" : "ask",
    ...(row !== undefined && { row: row.key.text, place: row.place }),
  };
}

/** The strictest of the method, its annotations and the row; `decision: allow` lifts the first two. */
function ruledApproval(
  { approval: own, destructive, readOnly }: MethodMetadata,
  row: PolicyRow | undefined,
  { asksDestructive, onlyTightens }: PolicyContent,
): MethodMetadata["approval"] {
  const { fields = {} } = row ?? {};
  if (fields.decision === "allow" && !onlyTightens) return "none";
  const byRow = fields.approval ?? (asksByRow(fields, { readOnly }) ? "user" : "none");
  const byAnnotation = asksDestructive && destructive ? "user" : "none";
  return getStricter(APPROVALS, getStricter(APPROVALS, own, byAnnotation), byRow);
}

function ruledNumbers(
  own: MethodMetadata,
  row: PolicyRow | undefined,
  onlyTightens: boolean,
): Pick<MethodRule, "sensitivity" | "rateLimit" | "cooldownSeconds" | "timeoutMs"> {
  const { fields = {} } = row ?? {};
  const sensitivity = fields.sensitivity ?? own.sensitivity;
  const rateLimit = fields.rate_limit ?? own.rateLimit;
  const cooldownSeconds = fields.cooldown_seconds ?? own.cooldownSeconds;
  const timeoutMs = fields.timeout === undefined ? own.timeoutMs : Math.ceil(fields.timeout * 1_000);
  if (!onlyTightens) return { sensitivity, rateLimit, cooldownSeconds, timeoutMs };
  return {
    sensitivity: getStricter(SENSITIVITIES, own.sensitivity, sensitivity),
    rateLimit: getLowerRate(own.rateLimit, rateLimit),
    cooldownSeconds: Math.max(own.cooldownSeconds, cooldownSeconds),
    timeoutMs: Math.min(own.timeoutMs, timeoutMs),
  };
}

/** 0 means no limit. */
function getLowerRate(one: number, other: number): number {
  return one === 0 || other === 0 ? Math.max(one, other) : Math.min(one, other);
}

const APPROVALS = ["none", "user", "admin"] as const;
const SENSITIVITIES = ["low", "medium", "high"] as const;

/** The one that comes later in the order. */
function getStricter<Level>(order: readonly Level[], one: Level, other: Level): Level {
  return order.indexOf(other) > order.indexOf(one) ? other : one;
}
