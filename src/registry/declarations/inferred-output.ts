import type { Method } from "../../model/catalog.ts";
import type { JsonSchema } from "../../model/json.ts";
import type { DeclaredMethod } from "./method.ts";

/** The result type of a method without an output schema: observed, or that of an example in its description. */
export interface InferredOutput {
  readonly schema: JsonSchema;
  /** Number of results seen; 0 for an example. */
  readonly times: number;
}

/** Returns the inferred result type of a method; `undefined` for a method with an output schema. */
export type FindInferredOutput = (method: Method) => InferredOutput | undefined;

export const NO_INFERRED_OUTPUTS: FindInferredOutput = () => undefined;

/** Says of a type on one line that it is a guess; empty for one that was observed more than once. */
export function formatGuess(output: InferredOutput | undefined): string {
  if (output === undefined || output.times > 1) return "";
  return output.times === 0 ? " (by an example)" : " (observed once)";
}

/** Says where a type comes from, by the number of results seen. */
export function formatOrigin(times: number): string {
  if (times === 0) return "by an example in the description";
  return times === 1 ? "observed once" : `observed ${times} times`;
}

/** Returns the method with the inferred result type, if it does not declare one. */
export function withInferredOutput(method: Method, observed: FindInferredOutput): DeclaredMethod {
  const output = observed(method);
  if (output === undefined) return method;
  const { name, input, parameters, response, description, metadata } = method;
  return { name, input, parameters, response, description, metadata, output: output.schema, observed: output.times };
}
