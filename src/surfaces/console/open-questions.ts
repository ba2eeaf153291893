import type { Approve } from "../../model/approval.ts";
import type { Caller } from "../../model/caller.ts";

/** The questions about calls of runs that persons have started in a browser: each may answer those of the own runs. */
export interface OpenQuestions {
  /**
   * Creates the function that asks the person who starts a run. It leaves the answer to the records, as every other place does.
   * `onChange` hears of each question, and when it is closed.
   */
  createApprove(caller: Caller, onChange: (id: string) => void): Approve;
  /** True if the caller was asked this question, and it is open. */
  has(id: string, caller: Caller): boolean;
}

export function createOpenQuestions(): OpenQuestions {
  const askedCallers = new Map<string, string>();
  return {
    createApprove:
      (caller, onChange) =>
      ({ id }, closed) => {
        askedCallers.set(id, caller.id);
        onChange(id);
        return new Promise((resolve) => {
          const end = (): void => {
            askedCallers.delete(id);
            onChange(id);
            resolve(undefined);
          };
          closed.addEventListener("abort", end, { once: true });
        });
      },
    has: (id, caller) => askedCallers.get(id) === caller.id,
  };
}
