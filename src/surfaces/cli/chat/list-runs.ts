import type { AgentEvent } from "../../../agent/index.ts";

/** A program of the conversation. */
export interface ChatProgram {
  readonly step: string;
  readonly code: string;
  readonly calls: readonly { readonly path: string; readonly outcome: string; readonly durationMs: number }[];
  /** Absent while it runs, and if it was stopped. */
  readonly result?: { readonly isError: boolean; readonly text: string };
  readonly runId?: string;
}

/** Lists the programs of a conversation, in their order. */
export function listRuns(events: readonly AgentEvent[]): readonly ChatProgram[] {
  const programs = events.filter((event) => event.type === "code");
  return programs.map(({ step, code }) => {
    const calls = events.flatMap((event) =>
      event.type === "call_ended" && event.step === step
        ? [{ path: event.path, outcome: event.outcome, durationMs: event.durationMs }]
        : [],
    );
    const end = events.find((event) => event.type === "result" && event.step === step);
    if (end?.type !== "result") return { step, code, calls };
    const { isError, text, outcome } = end;
    return { step, code, calls, result: { isError, text }, ...(outcome && { runId: outcome.runId }) };
  });
}
