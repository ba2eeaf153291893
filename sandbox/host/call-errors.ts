import { MAX_DEPTH } from "../guest/host-protocol.ts";

export const TOO_DEEP = {
  name: "CallError",
  code: "NESTING_LIMIT",
  message: `The value is nested too deeply: the arguments have more than ${MAX_DEPTH} levels (NESTING_LIMIT)`,
} as const;

export const UNANSWERED = {
  name: "CallError",
  code: "CALL_FAILED",
  message: "Cannot complete the call: the host could not answer it (CALL_FAILED)",
} as const;

export function createSizeError(bytes: number, limit: number): Readonly<Record<string, unknown>> {
  return {
    name: "CallError",
    code: "ANSWER_LIMIT",
    message: `Call result size limit exceeded: ${bytes} bytes, at most ${limit} (ANSWER_LIMIT)`,
  };
}
