import { type Caller, findMissingScopes, formatCaller, mayCall, type Roles } from "./caller.ts";
import type { Method } from "./catalog.ts";
import type { MethodMetadata } from "./skill.ts";

/** The decisions on a call: it is made, a person is asked first, or it is refused. */
export const DECISIONS = ["allow", "ask", "deny"] as const;

export type Decision = (typeof DECISIONS)[number];

/** The metadata that a policy can replace. */
type RuledMetadata = Pick<
  MethodMetadata,
  "requiredScopes" | "sensitivity" | "approval" | "cooldownSeconds" | "rateLimit" | "timeoutMs"
>;

/** The rule for one method: its own metadata, with the changes of the policy row that applies to it. */
export interface MethodRule extends RuledMetadata {
  /** `ask` exactly if `approval` is not `none`. */
  readonly decision: Decision;
  /** The key of the row that applies; absent without one. */
  readonly row?: string;
  /** Its place, such as `policies/tools.yaml line 3`. */
  readonly place?: string;
}

/** A rule for calls of `to` whose arguments contain results of `from`; both are patterns of paths. */
export interface Flow {
  readonly from: string;
  readonly to: string;
  readonly decision: Decision;
  /** Such as `policies/tools.yaml line 3`. */
  readonly place: string;
}

/** The parts of a method that rules depend on. */
export type RuledMethod = Pick<Method, "path" | "name" | "wireName" | "metadata" | "original">;

/** The policy of a runtime at one point in time; immutable. */
export interface Policy {
  /** Identifies this state of the policy: a verdict is valid only with the policy that it was reached under. */
  readonly version: number;
  readonly roles: Roles;
  readonly getRule: (method: RuledMethod) => MethodRule;
  /** Returns the first flow that matches both methods; `undefined` without one. */
  readonly findFlow: (from: RuledMethod, to: RuledMethod) => Flow | undefined;
  /** True if a flow names the method as its target. */
  readonly isFlowTarget: (method: RuledMethod) => boolean;
}

/** Why a caller may not call a method at all. */
export type Refusal = {
  /** The one place that refuses, as `the key ada has no call:MailSkill.send`. */
  readonly why: string;
} & (
  | { readonly code: "PERMISSION_MISSING"; readonly missingScopes: readonly string[] }
  | { readonly code: "POLICY_DENIED" }
);

/** Returns why a caller may not call a method; `undefined` if it may, be it after an approval. */
export function findRefusal(
  caller: Caller,
  method: Pick<RuledMethod, "path" | "original" | "metadata"> & Partial<Pick<Method, "definition">>,
  { rule, roles }: { readonly rule: MethodRule; readonly roles: Roles },
): Refusal | undefined {
  const { path, metadata } = method.original ?? method;
  const name = formatCaller(caller);
  const hasParts = method.definition?.queryText !== undefined;
  if (!mayCall(caller, path, hasParts)) {
    const { profile, ...withoutProfile } = caller;
    const isByProfile = profile !== undefined && mayCall(withoutProfile, path, hasParts);
    const why = isByProfile ? `the profile ${profile.name} has no call:${path}` : `${name} has no call:${path}`;
    return { code: "PERMISSION_MISSING", missingScopes: [], why };
  }
  const missingScopes = findMissingScopes(caller, rule.requiredScopes, roles);
  if (missingScopes.length > 0) {
    const isByMethod = missingScopes.some((scope) => metadata.requiredScopes.includes(scope));
    const by = isByMethod ? "the method" : (rule.place ?? "the policy");
    const why = `${name} lacks ${formatScopes(missingScopes)}, which ${by} requires`;
    return { code: "PERMISSION_MISSING", missingScopes, why };
  }
  return rule.decision === "deny"
    ? { code: "POLICY_DENIED", why: `${rule.place ?? "the policy"} denies it` }
    : undefined;
}

/** True if further scopes are all that a caller needs to make a call. */
export function hasMissingScopes(refusal: Refusal | undefined): boolean {
  return refusal?.code === "PERMISSION_MISSING" && refusal.missingScopes.length > 0;
}

/** `the scope mail:send`, `the scopes mail:read, mail:send` */
function formatScopes(scopes: readonly string[]): string {
  return `the ${scopes.length === 1 ? "scope" : "scopes"} ${scopes.join(", ")}`;
}

/** Applies nothing but the metadata of methods. */
export const NO_POLICY: Policy = Object.freeze<Policy>({
  version: 0,
  roles: new Map(),
  findFlow: () => undefined,
  isFlowTarget: () => false,
  getRule: ({ metadata }) => ({ ...metadata, decision: metadata.approval === "none" ? "allow" : "ask" }),
});
