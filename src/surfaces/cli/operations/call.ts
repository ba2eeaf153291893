import type { Method } from "../../../model/catalog.ts";
import { type AnswerFacts, shownFacts } from "../../../model/run-observer.ts";
import type { Runtime } from "../../../runtime.ts";
import { parseInput } from "../input/call-input.ts";
import type { CommandResult } from "../terminal/terminal.ts";
import { valueText } from "../text/output.ts";
import { noteLines } from "../text/run-texts.ts";
import { throwUnknown } from "../unknown-path.ts";
import { UsageError } from "../usage-error.ts";
import type { CallOperation, OperationContext } from "./operation.ts";

export async function performCall(
  { path, input }: CallOperation,
  { runtime, whenKnown, signal, paint, options }: OperationContext,
): Promise<CommandResult> {
  if (runtime.catalog.method(path) === undefined) await whenKnown();
  const method = methodAt(runtime, path);
  let facts: AnswerFacts = { cached: false, notes: [] };
  const value = await runtime.call(method.path, parseInput(input, method.parameters), {
    ...options,
    signal,
    observer: { answered: (answer) => void (facts = answer) },
  });
  return {
    exit: "ok",
    json: { path: method.path, value: value ?? null, ...shownFacts(facts) },
    text: valueText(value),
    asides: noteLines(facts.notes, paint),
  };
}

function methodAt(runtime: Runtime, path: string): Method {
  throwUnknown(runtime, path);
  const method = runtime.catalog.method(runtime.describe(path).path);
  if (method === undefined)
    throw new UsageError(`Cannot call ${JSON.stringify(path)}: name one method, as in Skill.method`);
  return method;
}
