import { sentence, SkillgateError } from "../../errors.ts";
import type { CallContext } from "../../model/skill.ts";
import type { Link, LinkState } from "./link.ts";
import type { Input, Operation } from "./operations.ts";
import type { CallFacts } from "./results.ts";

/** One call of an operation. */
export interface Performance {
  readonly operation: Operation;
  readonly input: Input;
  readonly context: CallContext;
  readonly facts: CallFacts;
}

/** Asks a server for something. Rejects with a `SkillgateError`, or with the reason of the call's signal. */
export async function perform(link: Link, call: Performance): Promise<unknown> {
  const { operation, facts } = call;
  const answer = await send(link, call);
  if (answer !== "session expired") return operation.valueOf(answer.result, facts);
  // The server did not look at the call; even so it is made again only where that cannot do harm.
  await link.wake();
  const again = operation.isRepeatable ? await send(link, call) : "session expired";
  if (again !== "session expired") return operation.valueOf(again.result, facts);
  throw gone(facts, "had forgotten the session; it has a new one, call again");
}

/** The error of a call to a server that is not there. */
export function gone(facts: Partial<CallFacts>, why: string): SkillgateError {
  const message = sentence("SERVER_GONE", `"${facts.server}" ${why}`);
  return new SkillgateError("SERVER_GONE", message, { ...facts, error: why });
}

/** No more than that: why a server is down is for people, and may hold what it has printed. */
export function absence({ kind }: LinkState): string {
  return `is ${kind === "error" ? "down" : kind}`;
}

/** The result as the server sent it; or it did not look at the call, and a new session is under way. */
type Answer = { readonly result: unknown } | "session expired";

async function send(link: Link, { operation, input, context, facts }: Performance): Promise<Answer> {
  const { state } = link;
  if (state.kind !== "connected") throw gone(facts, absence(state));
  const { connection } = state;
  try {
    return { result: await operation.send(connection, input, context) };
  } catch (thrown) {
    if (context.signal.aborted) throw context.signal.reason;
    const { explainFailure } = await import("./call-failure.ts");
    const failure = await explainFailure(thrown, connection, facts, link.secrets);
    if (failure.kind === "answered") throw failure.error;
    if (failure.kind === "session expired") {
      link.renew(connection);
      return "session expired";
    }
    link.lost(connection, failure.why);
    throw gone(facts, failure.why);
  }
}
