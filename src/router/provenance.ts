import type { Method } from "../model/catalog.ts";
import { INPUT_ORIGIN, type Origin } from "../model/requests/origin.ts";
import { DECISIONS, type Flow, type Policy, type RuledMethod } from "../model/policy.ts";
import { METADATA_DEFAULTS } from "../model/skill.ts";
import { MAX_INPUT_BYTES, type RunInput } from "../shared/json/run-input.ts";
import { createResultTexts, type ResultTexts } from "./result-texts.ts";

/** True for methods whose arguments are compared with earlier results: they may pass data on or destroy data. */
export function isSink(method: Method, policy: Policy): boolean {
  return method.metadata.destructive || method.metadata.openWorld || policy.isFlowTarget(method);
}

/** The texts of a run, each with the method that returned it, or with the input of the run. */
export type RunTexts = ResultTexts<RuledMethod>;

/** Stands for the input of a run, as the source of a flow. */
const INPUT_SOURCE: RuledMethod = {
  path: INPUT_ORIGIN,
  name: INPUT_ORIGIN,
  wireName: INPUT_ORIGIN,
  metadata: METADATA_DEFAULTS,
};

/**
 * Returns a record for the results of a run; `undefined` if none of the methods that the run can call is a sink, so that
 * most runs record nothing. `source` is the program: text that it contains itself comes from no method. An input from elsewhere
 * has a record of its own, which results do not overwrite.
 */
export function recordResults(
  source: string,
  methods: readonly Method[],
  policy: Policy,
  input?: RunInput,
): RunTexts | undefined {
  if (!methods.some((method) => isSink(method, policy))) return undefined;
  const results = createResultTexts<RuledMethod>(source);
  if (input?.isForeign !== true) return results;
  const inputs = createResultTexts<RuledMethod>(source, MAX_INPUT_BYTES);
  inputs.record(INPUT_SOURCE, input.value);
  return {
    record: (...result) => results.record(...result),
    find: (values) => [...inputs.find(values), ...results.find(values)],
  };
}

/** An origin with its method. */
export interface KnownOrigin extends Origin {
  readonly method: RuledMethod;
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
