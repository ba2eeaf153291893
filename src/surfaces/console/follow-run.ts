import type { Caller } from "../../model/caller.ts";
import type { Outcome } from "../../model/outcome.ts";
import type { RunOptions } from "../../runtime.ts";
import { toPlainValue } from "../../shared/value-encoding.ts";
import type { SendLine } from "./answer-lines.ts";
import { findApproval, summarizeApproval } from "./api/approvals.ts";
import type { RunLine } from "./messages.ts";
import type { ConsoleServices } from "./services.ts";

/** Creates what a run needs to report its events to a browser, and to ask the person there. Secrets are masked. */
export function createRunListeners(
  { runtime, questions }: Pick<ConsoleServices, "runtime" | "questions">,
  caller: Caller,
  send: SendLine<RunLine>,
): Required<Pick<RunOptions, "observer" | "approve">> {
  const { secrets } = runtime;
  const showQuestion = (id: string): void => {
    findApproval(runtime, id, caller).then(
      (approval) => send({ kind: "approval", approval: summarizeApproval(approval) }),
      () => {}, // the store cannot be read, which the run reports
    );
  };
  return {
    approve: questions.createApprove(caller, showQuestion),
    observer: {
      onStart: (runId) => send({ kind: "start", runId }),
      onCallStart: (path, id) => send({ kind: "call-start", id, path }),
      onCallEnd: (call) => send({ kind: "call-end", call }),
      onOutput: (text) => send({ kind: "output", text: secrets.maskText(text) }),
      log: (path, level, text) => send({ kind: "log", path, level, text: secrets.maskText(text) }),
      progress: (path, done, total, text) =>
        send({
          kind: "progress",
          path,
          done,
          ...(total !== undefined && { total }),
          ...(text !== undefined && { text: secrets.maskText(text) }),
        }),
    },
  };
}

/** Returns an outcome with a value of plain JSON, and without secrets. */
export function describeOutcome(outcome: Outcome, { runtime }: Pick<ConsoleServices, "runtime">): Outcome {
  const plain =
    outcome.kind === "completed" && outcome.value !== undefined
      ? { ...outcome, value: toPlainValue(outcome.value) }
      : outcome;
  return runtime.secrets.maskTexts<Outcome>(plain);
}
