import { hidePlace, sentence, SkillgateError } from "../errors.ts";
import { type AnswerFacts, shownFacts } from "../model/run-observer.ts";
import type { Call, Route } from "./call.ts";

/** A call by name; `call` is `undefined` if the name is unknown. */
export interface NamedCall {
  readonly name: string;
  readonly call: Call | undefined;
  /** Why the call cannot be made, if the reason is not an unknown name. */
  readonly obstacle?: string;
}

/** The result of one call in the form that surfaces return. */
export type CallResult =
  | {
      readonly success: true;
      readonly data: unknown;
      /** In seconds. */
      readonly execution_time: number;
      readonly tool_name: string;
      /** Present only if the answer came from the cache. */
      readonly cached?: true;
      /** Present only if there are notes. */
      readonly notes?: readonly string[];
    }
  | {
      readonly success: false;
      readonly data: null;
      readonly error: string;
      /** In seconds. */
      readonly execution_time: number;
      readonly tool_name: string;
    };

/** Runs calls in sequence or in parallel. The results are in the order of the calls; a failed call gives a failed result. */
export async function runCalls(
  route: Route,
  calls: readonly NamedCall[],
  { parallel }: { readonly parallel: boolean },
): Promise<readonly CallResult[]> {
  if (parallel) return Promise.all(calls.map((each) => runCall(route, each)));
  const results: CallResult[] = [];
  for (const each of calls) results.push(await runCall(route, each));
  return results;
}

/** Runs a call outside of a run. Returns its value, its notes and whether it came from the cache. */
export async function answerTo(call: Call, route: Route): Promise<AnswerFacts & { readonly value: unknown }> {
  const notes = new Set<string>();
  let cached = false;
  const value = await route({
    ...call,
    addNote: (text) => notes.add(text),
    onEnded: (entry) => void (cached = entry.cached),
  });
  return { value, cached, notes: [...notes] };
}

async function runCall(
  route: Route,
  { name, call, obstacle = `Unknown tool: ${name}` }: NamedCall,
): Promise<CallResult> {
  const started = performance.now();
  const measured = (): { execution_time: number; tool_name: string } => ({
    execution_time: (performance.now() - started) / 1_000,
    tool_name: name,
  });
  if (call === undefined) return { success: false, data: null, error: obstacle, ...measured() };
  try {
    const { value, ...facts } = await answerTo(call, route);
    return { success: true, data: value, ...measured(), ...shownFacts(facts) };
  } catch (error) {
    return { success: false, data: null, error: getCallerMessage(error), ...measured() };
  }
}

/** Returns the message for a caller. An error that is not a `SkillgateError` is an internal one: its message is hidden. */
function getCallerMessage(thrown: unknown): string {
  const error = hidePlace(thrown);
  return error instanceof SkillgateError
    ? error.message
    : sentence("CALL_FAILED", "the runtime could not make the call");
}
