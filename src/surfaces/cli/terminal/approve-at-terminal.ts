import type { ApprovalAnswer, Approve } from "../../../model/approval.ts";
import { approvalQuestion, parseApprovalAnswer } from "../text/approval-texts.ts";
import { escaped } from "../text/layout.ts";

/**
 * Asks the user to approve calls, one at a time. `ask` reads the answer to a question, and returns an empty text if its signal
 * aborts. `signal` fires when the command is interrupted.
 */
export function createTerminalApprove(
  ask: (question: string, closed: AbortSignal) => Promise<string>,
  signal: AbortSignal,
): Approve {
  let last: Promise<unknown> = Promise.resolve();
  return (request, closed) => {
    const answer = last.then(async (): Promise<ApprovalAnswer | undefined> => {
      if (closed.aborted) return undefined; // while another question was at the terminal
      const line = await ask(approvalQuestion(request), AbortSignal.any([signal, closed]));
      if (!closed.aborted || signal.aborted) return parseApprovalAnswer(line);
      process.stderr.write(`\n${escaped(String(closed.reason))}\n`);
      return undefined;
    });
    last = answer;
    return answer;
  };
}
