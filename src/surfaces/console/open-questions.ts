import type { ApprovalAnswer, ApprovalRequest, Approve } from "../../model/approval.ts";
import { type Caller, mayAdminister, OWNER } from "../../model/caller.ts";

/** The questions of runs that persons have started in a browser. Each may answer those of the own runs. */
export interface OpenQuestions {
  /** Creates the function that asks the person who starts a run; `onChange` hears of each question, and when it is closed. */
  createApprove(caller: Caller, onChange: (id: string) => void): Approve;
  /** Answers a question of the caller; returns false for any other. */
  answer(id: string, caller: Caller, answer: ApprovalAnswer): boolean;
}

interface OpenQuestion {
  readonly callerId: string;
  readonly resolve: (answer: ApprovalAnswer | undefined) => void;
}

export function createOpenQuestions(): OpenQuestions {
  const questions = new Map<string, OpenQuestion>();
  return {
    createApprove: (caller, onChange) => (request, closed) => {
      const { id } = request;
      onChange(id);
      closed.addEventListener("abort", () => onChange(id), { once: true });
      if (!mayAnswer(caller, request)) return undefined;
      return new Promise((resolve) => {
        const finish = (answer: ApprovalAnswer | undefined): void => {
          questions.delete(id);
          resolve(answer);
        };
        questions.set(id, { callerId: caller.id, resolve: finish });
        closed.addEventListener("abort", () => finish(undefined), { once: true });
      });
    },
    answer(id, caller, answer) {
      const question = questions.get(id);
      if (question?.callerId !== caller.id) return false;
      question.resolve(answer);
      return true;
    },
  };
}

/** An administrator answers through the records, as in every other place. The caller of a run is no administrator for it. */
function mayAnswer(caller: Caller, { approval }: ApprovalRequest): boolean {
  return approval === "user" || (mayAdminister(caller, "write") && caller.id === OWNER.id);
}
