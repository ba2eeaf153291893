import { createError, SkillgateError } from "../errors.ts";
import { type Caller, formatCaller } from "../model/caller.ts";
import type { Method, Skill } from "../model/catalog.ts";
import { DECISIONS, findRefusal, type MethodRule, type Policy, type Refusal } from "../model/policy.ts";
import { createQueryError } from "../model/requests/query-errors.ts";
import type { QueryProblem } from "../model/skill.ts";
import { formatPartsPath } from "../shared/names/method-paths.ts";
import type { Validation } from "../validation/index.ts";

/** A part of a method with its rule: a root field of a GraphQL API. */
export interface RuledPart {
  readonly method: Method;
  readonly rule: MethodRule;
}

/** The parts of a call that decide what its query may contain. */
interface QueryCall {
  readonly caller: Caller;
  readonly skill: Skill;
  readonly method: Method;
}

/** The content of the query of a call. */
export interface CheckedParts {
  /** The parts of its method that the call contains, in the order of their names. */
  readonly parts: readonly RuledPart[];
  /** Why the call cannot be made: a mistake in its query. */
  readonly flaw?: SkillgateError;
}

export const NO_PARTS: CheckedParts = { parts: [] };

/**
 * Finds the parts of a method that a call contains, by the text of its query. The text is checked; a mistake in it is the error with
 * which the call is refused.
 */
export async function findQueryParts(call: QueryCall, validation: Validation, policy: Policy): Promise<CheckedParts> {
  const { method, skill } = call;
  const { queryText } = method.definition;
  if (queryText === undefined || validation.kind !== "valid") return NO_PARTS;
  const text = validation.input[queryText.argument];
  if (typeof text !== "string") return NO_PARTS;
  try {
    const { problems, parts } = await queryText.check(text, validation.input[queryText.variables] ?? {});
    if (problems.length > 0) return refuseBy(createQueryError(method, text, problems));
    const found = [...new Set(parts)].toSorted().map((name) => skill.parts.find((part) => part.name === name) ?? name);
    const hidden = found.find((part) => typeof part === "string");
    if (hidden !== undefined) return refuseBy(createHiddenError(call, hidden));
    const offered = found.filter((part) => typeof part !== "string");
    const ruled = offered.map((part) => ({ method: part, rule: policy.getRule(part) }));
    const repeated = ruled.find(
      ({ method: { name }, rule }) => hasLimit(rule) && parts.indexOf(name) !== parts.lastIndexOf(name),
    );
    if (repeated !== undefined) return refuseBy(createQueryError(method, text, [refuseRepeated(repeated)]));
    return { parts: ruled };
  } catch (error) {
    if (error instanceof SkillgateError) return refuseBy(error);
    throw error;
  }
}

function hasLimit({ cooldownSeconds, rateLimit }: MethodRule): boolean {
  return cooldownSeconds > 0 || rateLimit > 0;
}

/** Limits count calls, so that a call has a limited part once. */
function refuseRepeated({ method: { path } }: RuledPart): QueryProblem {
  return { message: `The calls of ${path} are limited: contain it once, and write a call for each`, suggestions: [] };
}

function refuseBy(flaw: SkillgateError): CheckedParts {
  return { parts: [], flaw };
}

/** The view of a caller has the parts that it may read. */
function createHiddenError({ caller, method }: QueryCall, name: string): SkillgateError {
  const path = `${method.skill}.${name}`;
  const values = `${path}, because ${formatCaller(caller)} has no call:${path}`;
  return createError("PERMISSION_MISSING", values, {
    skill: method.skill,
    method: method.name,
  });
}

/** Returns why a caller may not make a call with these parts. */
export function findPartsRefusal(
  { caller }: Pick<QueryCall, "caller">,
  parts: readonly RuledPart[],
  { roles }: Pick<Policy, "roles">,
): (Refusal & { readonly part: RuledPart }) | undefined {
  for (const part of parts) {
    const refusal = findRefusal(caller, part.method, { rule: part.rule, roles });
    if (refusal !== undefined) return { ...refusal, part };
  }
  return undefined;
}

/** Returns the strictest of the rules of the parts. Their limits are counted for each of them. */
export function combineRules(own: MethodRule, parts: readonly RuledPart[]): MethodRule {
  const [first, ...others] = parts.map(({ rule }) => rule);
  if (first === undefined || own.decision === "deny") return own;
  const combined = others.reduce(getStricterRule, first);
  return { ...combined, cooldownSeconds: 0, rateLimit: 0 };
}

const APPROVALS: readonly MethodRule["approval"][] = ["none", "user", "admin"];
const SENSITIVITIES: readonly MethodRule["sensitivity"][] = ["low", "medium", "high"];

function getStricterRule(one: MethodRule, other: MethodRule): MethodRule {
  const isOtherStricter =
    DECISIONS.indexOf(other.decision) > DECISIONS.indexOf(one.decision) ||
    APPROVALS.indexOf(other.approval) > APPROVALS.indexOf(one.approval);
  const later = <Level>(order: readonly Level[], a: Level, b: Level): Level =>
    order.indexOf(b) > order.indexOf(a) ? b : a;
  return {
    ...(isOtherStricter ? other : one),
    decision: later(DECISIONS, one.decision, other.decision),
    approval: later(APPROVALS, one.approval, other.approval),
    sensitivity: later(SENSITIVITIES, one.sensitivity, other.sensitivity),
    requiredScopes: [...new Set([...one.requiredScopes, ...other.requiredScopes])],
    timeoutMs: Math.min(one.timeoutMs, other.timeoutMs),
  };
}

/** Returns the path by which a person decides on a call: it names the parts. */
export function getDecidedPath({ method, parts }: Pick<CheckedParts, "parts"> & Pick<QueryCall, "method">): string {
  return formatPartsPath(
    method.path,
    parts.map((part) => part.method.name),
  );
}

/** Returns the method of a call, and the parts of it that the call contains. */
export function listTargets({
  method,
  parts,
}: Pick<CheckedParts, "parts"> & Pick<QueryCall, "method">): readonly Method[] {
  return [method, ...parts.map((part) => part.method)];
}
