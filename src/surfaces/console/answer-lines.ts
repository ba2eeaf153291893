import type { Context } from "hono";

import { followCredential } from "../http/index.ts";
import { toProblem } from "./problem.ts";
import type { ConsoleEnvironment } from "./services.ts";

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
