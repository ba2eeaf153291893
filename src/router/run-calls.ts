import { sentence, SkillgateError } from "../errors.ts";
import { type AnswerFacts, shownFacts } from "../model/run-observer.ts";
import type { Call, Route } from "./call.ts";

/** A call by its name; `undefined` where nothing has that name. */
export interface NamedCall {
  readonly name: string;
  readonly call: Call | undefined;
  /** Why there is none, where that is more than that nothing has that name. */
  readonly obstacle?: string;
}

/** How one call ended, where that is shown (X7). */
export type CallResult =
  | {
      readonly success: true;
      readonly data: unknown;
      /** In seconds. */
      readonly execution_time: number;
      readonly tool_name: string;
      /** Only if it is. */
      readonly cached?: true;
      /** Only if there are any. */
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

/** Many calls, one after the other or all at once; the results are in the order of the calls, and a failure is one (X3). */
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

/** A call outside of a run: its value, and what is known of it besides. */
export async function answerTo(call: Call, route: Route): Promise<AnswerFacts & { readonly value: unknown }> {
  const notes = new Set<string>();
  let cached = false;
  const value = await route({
    ...call,
    addNote: (text) => notes.add(text),
    ended: (entry) => void (cached = entry.cached),
  });
  return { value, cached, notes: [...notes] };
}

async function runCall(
  route: Route,
  { name, call, obstacle = `Unknown tool: ${name}` }: NamedCall,
): Promise<CallResult> {
  const started = performance.now();
  const told = (): { execution_time: number; tool_name: string } => ({
    execution_time: (performance.now() - started) / 1_000,
    tool_name: name,
  });
  if (call === undefined) return { success: false, data: null, error: obstacle, ...told() };
  try {
    const { value, ...facts } = await answerTo(call, route);
    return { success: true, data: value, ...told(), ...shownFacts(facts) };
  } catch (error) {
    return { success: false, data: null, error: wordsOf(error), ...told() };
  }
}

/** An error that is not a `SkillgateError` is one of the host itself, whose words are not for a caller. */
function wordsOf(error: unknown): string {
  return error instanceof SkillgateError
    ? error.message
    : sentence("CALL_FAILED", "the runtime could not make the call");
}
