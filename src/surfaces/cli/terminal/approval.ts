import type { RuntimeOptions } from "../../../runtime/options.ts";
import { askYesNo, isAtTerminal } from "./ask-line.ts";
import { approvalQuestion } from "../text/output.ts";

type Approve = NonNullable<RuntimeOptions["approve"]>;

/** Asks the user at the terminal to approve calls, one at a time; `undefined` without a terminal. */
export function approvalAtTerminal(signal: AbortSignal): Approve | undefined {
  if (!isAtTerminal()) return undefined;
  let asked: Promise<unknown> = Promise.resolve();
  return (request) => {
    const answer = asked.then(() => askYesNo(approvalQuestion(request), signal));
    asked = answer;
    return answer;
  };
}
