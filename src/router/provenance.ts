import type { Method } from "../model/catalog.ts";
import type { Origin } from "../model/origin.ts";
import { type Decision, DECISIONS, type Policy } from "../model/policy.ts";
import { createResultTexts, type ResultTexts } from "./result-texts.ts";

/** True for methods whose arguments are compared with earlier results: they may pass data on or destroy data. */
export function isSink(method: Method, policy: Policy): boolean {
  return method.metadata.destructive || method.metadata.openWorld || policy.isFlowTarget(method);
}

/**
 * Returns a record for the results of a run; `undefined` if none of the methods that the run can call is a sink, so that
 * most runs record nothing. `source` is the program: text that it contains itself comes from no method.
 */
export function recordResults(
  source: string,
  methods: readonly Method[],
  policy: Policy,
): ResultTexts<Method> | undefined {
  return methods.some((method) => isSink(method, policy)) ? createResultTexts<Method>(source) : undefined;
}

/** An origin with its method. */
export interface KnownOrigin extends Origin {
  readonly method: Method;
}

/** The decision on a call because of one of its origins. */
export interface FlowDecision {
  readonly decision: Decision;
  readonly origin: KnownOrigin;
}

/** Returns the strictest decision of the policy on the origins of a call; `undefined` if no flow applies. */
export function decideFlow(
  origins: readonly KnownOrigin[],
  { method, policy }: { readonly method: Method; readonly policy: Policy },
): FlowDecision | undefined {
  let strictest: FlowDecision | undefined;
  for (const origin of origins) {
    const decision = policy.findFlow(origin.method, method);
    const before = strictest === undefined ? -1 : DECISIONS.indexOf(strictest.decision);
    if (decision !== undefined && DECISIONS.indexOf(decision) > before) strictest = { decision, origin };
  }
  return strictest;
}
