import type { Method } from "../../model/catalog.ts";
import type { JsonSchema } from "../../model/json.ts";
import type { DeclaredMethod } from "./method.ts";

/** The observed result type of a method without an output schema. */
export interface InferredOutput {
  readonly schema: JsonSchema;
  /** Number of results seen. */
  readonly times: number;
}

/** Returns the observed result type of a method; `undefined` for a method with an output schema. */
export type FindInferredOutput = (method: Method) => InferredOutput | undefined;

export const NO_INFERRED_OUTPUTS: FindInferredOutput = () => undefined;

/** Returns the method with the observed result type, if it does not declare one. */
export function withInferredOutput(method: Method, observed: FindInferredOutput): DeclaredMethod {
  const output = observed(method);
  if (output === undefined) return method;
  const { name, input, parameters, description, metadata } = method;
  return { name, input, parameters, description, metadata, output: output.schema, observed: output.times };
}
