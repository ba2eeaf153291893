import type { Method } from "../model/catalog.ts";
import type { Origin } from "../model/requests/origin.ts";
import { DECISIONS, type Flow, type Policy } from "../model/policy.ts";
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

/** The flow that decides on a call, and the origin that it applies to. */
export interface DecidingFlow {
  readonly flow: Flow;
  readonly origin: KnownOrigin;
}

/**
 * Returns the flow of the policy with the strictest decision on the origins of a call of a method with its parts; `undefined` if no
 * flow applies.
 */
export function decideFlow(
  origins: readonly KnownOrigin[],
  { targets, policy }: { readonly targets: readonly Method[]; readonly policy: Policy },
): DecidingFlow | undefined {
  let strictest: DecidingFlow | undefined;
  for (const [origin, target] of origins.flatMap((each) => targets.map((target) => [each, target] as const))) {
    const flow = policy.findFlow(origin.method, target);
    const before = strictest === undefined ? -1 : DECISIONS.indexOf(strictest.flow.decision);
    if (flow !== undefined && DECISIONS.indexOf(flow.decision) > before) strictest = { flow, origin };
  }
  return strictest;
}
