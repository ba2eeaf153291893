import type { Method } from "../../model/catalog.ts";
import type { JsonSchema } from "../../model/json.ts";
import type { DeclaredMethod } from "./method.ts";

/** What the results of a method were like that does not describe them itself. */
export interface InferredOutput {
  readonly schema: JsonSchema;
  /** How many results were seen. */
  readonly times: number;
}

/** Knows what was observed of a method; nothing of one that says itself what it returns. */
export type FindInferredOutput = (method: Method) => InferredOutput | undefined;

export const NO_INFERRED_OUTPUTS: FindInferredOutput = () => undefined;

/** The method with what was observed in place of what it does not say. */
export function withInferredOutput(method: Method, observed: FindInferredOutput): DeclaredMethod {
  const output = observed(method);
  if (output === undefined) return method;
  const { name, input, parameters, description, metadata } = method;
  return { name, input, parameters, description, metadata, output: output.schema, observed: output.times };
}
