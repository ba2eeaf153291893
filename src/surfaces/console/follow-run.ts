import type { Context } from "hono";

import type { Outcome } from "../../model/outcome.ts";
import type { RunOptions } from "../../runtime.ts";
import type { RuntimeView } from "../../runtime/api/view.ts";
import { toPlainValue } from "../../shared/values/value-encoding.ts";
import { followCredential } from "../http/index.ts";
import { findApproval, summarizeApproval } from "./api/approvals.ts";
import type { RunLine } from "./program-messages.ts";
import { toProblem } from "./problem.ts";
import type { ConsoleEnvironment, ConsoleServices } from "./services.ts";

/** Creates what a run needs to report its events to a browser, and to ask the person there. Secrets are masked. */
export function createRunListeners(
  { questions }: Pick<ConsoleServices, "questions">,
  view: RuntimeView,
  send: SendLine<RunLine>,
): Required<Pick<RunOptions, "observer" | "approve">> {
  const { secrets } = view;
  const showQuestion = (id: string): void => {
    findApproval(view, id).then(
      (approval) => send({ kind: "approval", approval: summarizeApproval(approval) }),
      () => {}, // the store cannot be read, which the run reports
    );
  };
  return {
    approve: questions.createApprove(view.caller, showQuestion),
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
export function describeOutcome(outcome: Outcome, { secrets }: RuntimeView): Outcome {
  const plain =
    outcome.kind === "completed" && outcome.value !== undefined
      ? { ...outcome, value: toPlainValue(outcome.value) }
      : outcome;
  return secrets.maskTexts<Outcome>(plain);
}

/** Sends one JSON object a line; does nothing when the browser has left. */
export type SendLine<Line> = (line: Line) => void;

/**
 * Answers with lines of JSON while `work` lasts. `signal` aborts when the browser leaves, at the logout and at the end of the
 * credential. An error is the last line: `{ "kind": "problem", "problem": … }`.
 */
export function answerLines<Line>(
  c: Context<ConsoleEnvironment>,
  work: (send: SendLine<Line>, signal: AbortSignal) => Promise<void>,
): Response {
  const controller = new AbortController();
  const ended = c.get("ended");
  const signals = ended === undefined ? [controller.signal] : [controller.signal, ended];
  const { signal, stop } = followCredential(AbortSignal.any(signals), c.get("life"));
  c.env.outgoing.once("close", () => controller.abort());
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async start(stream) {
      const send = (line: unknown): void => {
        if (!controller.signal.aborted) stream.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
      };
      try {
        await work(send, signal);
      } catch (thrown) {
        send({ kind: "problem", problem: toProblem(thrown) });
      }
      stop();
      if (!controller.signal.aborted) stream.close();
    },
    cancel: () => controller.abort(),
  });
  return c.body(body, 200, { "content-type": "application/x-ndjson", "x-accel-buffering": "no" });
}
