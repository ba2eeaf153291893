import type { Method } from "../../model/catalog.ts";
import type { JsonSchema } from "../../model/json.ts";
import type { Declared } from "./method.ts";

/** What the results of a method were like that does not describe them itself. */
export interface ObservedOutput {
  readonly schema: JsonSchema;
  /** How many results were seen. */
  readonly times: number;
}

/** Knows what was observed of a method; nothing of one that says itself what it returns. */
export type Observed = (method: Method) => ObservedOutput | undefined;

export const NOTHING_OBSERVED: Observed = () => undefined;

/** The method with what was observed in place of what it does not say. */
export function asObserved(method: Method, observed: Observed): Declared {
  const output = observed(method);
  if (output === undefined) return method;
  const { name, input, parameters, description, metadata } = method;
  return { name, input, parameters, description, metadata, output: output.schema, observed: output.times };
}
