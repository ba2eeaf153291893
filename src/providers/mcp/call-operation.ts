import { sentence, SkillgateError } from "../../errors.ts";
import type { RequestContext } from "../../model/skill.ts";
import type { ManagedConnection, ConnectionState } from "./connections/managed-connection.ts";
import type { OperationInput, Operation } from "./catalog/operations.ts";
import type { CallFacts } from "./results.ts";

/** One call of an operation. */
export interface OperationCall {
  readonly operation: Operation;
  readonly input: OperationInput;
  readonly context: RequestContext;
  readonly facts: CallFacts;
}

/** Executes an operation on a server. Rejects with a `SkillgateError`, or with the reason of the call's signal. */
export async function callOperation(managed: ManagedConnection, call: OperationCall): Promise<unknown> {
  const { operation, facts, context } = call;
  const answer = await send(managed, call);
  if (answer !== "session expired") return operation.valueOf(answer.result, facts, context.addNote);
  // The server did not process the call; it is still repeated only if that is harmless.
  await managed.wake();
  const again = operation.isRepeatable ? await send(managed, call) : "session expired";
  if (again !== "session expired") return operation.valueOf(again.result, facts, context.addNote);
  throw serverGoneError(facts, "lost the session; a new one is open, call again");
}

/** Creates the error of a call to a server that is not available. */
export function serverGoneError(facts: Partial<CallFacts>, why: string): SkillgateError {
  const message = sentence("SERVER_GONE", `"${facts.server}" ${why}`);
  return new SkillgateError("SERVER_GONE", message, { ...facts, error: why });
}

/** Describes only the state: the reason is for the user, and may contain output of the server. */
export function describeState({ kind }: ConnectionState): string {
  return `is ${kind === "error" ? "down" : kind}`;
}

/** The result as the server sent it, or the session expired and a new one is being opened. */
type ServerAnswer = { readonly result: unknown } | "session expired";

async function send(
  managed: ManagedConnection,
  { operation, input, context, facts }: OperationCall,
): Promise<ServerAnswer> {
  const { state } = managed;
  if (state.kind !== "connected") throw managed.accountError ?? serverGoneError(facts, describeState(state));
  const { connection } = state;
  try {
    const result = await connection.requestDuring(context, (requests) => operation.send(requests, input, context));
    return { result };
  } catch (thrown) {
    if (context.signal.aborted) throw context.signal.reason;
    const { explainFailure } = await import("./call-failure.ts");
    const failure = await explainFailure(thrown, connection, facts, managed.secrets);
    if (failure.kind === "answered") throw failure.error;
    if (failure.kind === "session expired") {
      managed.renew(connection);
      return "session expired";
    }
    managed.lost(connection, failure.why);
    throw serverGoneError(facts, failure.why);
  }
}
