import type { CallContext } from "../model/skill.ts";
import { inputOf, type GuardedCall, type Stage } from "./call.ts";
import { failureOf } from "./failure.ts";

export interface DispatchOptions {
  /** The settings of a skill (L9). */
  readonly settingsOf: (skill: string) => Readonly<Record<string, unknown>>;
  /** Values that no guest may read in an error. */
  readonly secrets: () => readonly string[];
}

/** The innermost stage: the provider itself. What it throws becomes an error that a guest may read. */
export function dispatch({ settingsOf, secrets }: DispatchOptions): Stage {
  return async (call) => {
    const { skill, method } = call;
    const { context, close } = contextOf(call, settingsOf(method.skill));
    try {
      return { value: await skill.provided.invoke(method.definition, inputOf(call), context), cached: false };
    } catch (error) {
      throw failureOf(error, call, secrets());
    } finally {
      close();
    }
  };
}

/** What a method is told about its call. After `close`, and after its signal has fired, nobody listens to it any more. */
function contextOf(call: GuardedCall, settings: CallContext["settings"]): { context: CallContext; close: () => void } {
  let open = true;
  const isHeard = (): boolean => open && !call.signal.aborted;
  const context: CallContext = {
    caller: call.caller,
    runId: call.runId,
    callId: `${call.runId}/${call.id}`,
    signal: call.signal,
    settings,
    log: (level, text) => isHeard() && call.log(level, text),
    progress: (done, total, text) => isHeard() && call.progress(done, total, text),
    ...(call.client !== undefined && { client: call.client }),
    ...(call.wire !== undefined && { wire: call.wire }),
  };
  return { context: Object.freeze(context), close: () => (open = false) };
}
