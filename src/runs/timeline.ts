import type { ApprovalRow } from "../store/index.ts";
import type { Ledger, LedgerCall } from "./ledger.ts";

/** A call on the timeline of its run. Times are in milliseconds since the run began. */
export interface TimelineCall {
  readonly id: number;
  readonly path: string;
  /** The line of the call in the source; missing if several lines may have made it. */
  readonly line?: number;
  readonly arguments: string;
  readonly isEffect: boolean;
  readonly end: "ok" | "error" | "refused" | "unfinished";
  readonly from: number;
  /** Missing for a call without an end. */
  readonly to?: number;
  /** When a person was asked. */
  readonly waits: readonly { readonly from: number; readonly to?: number; readonly approval: string }[];
}

/** Orders the calls of a ledger by their numbers, with the times of their questions to persons. */
export function createTimeline(
  { header, calls }: Pick<Ledger, "header" | "calls">,
  approvals: readonly ApprovalRow[],
): readonly TimelineCall[] {
  const since = (time: number): number => Math.max(0, time - header.time);
  return [...calls.values()]
    .toSorted((a, b) => a.id - b.id)
    .map((call) => {
      const { id, path, args, isEffect, outcome, answer, time, endTime } = call;
      const line = findLine(call, header.source);
      const own = approvals.filter(({ callId }) => callId === id);
      return {
        id,
        path,
        ...(line !== undefined && { line }),
        arguments: args,
        isEffect,
        end: outcome ?? (answer === undefined ? "unfinished" : answer.ok ? "ok" : "error"),
        from: since(time),
        ...(endTime !== undefined && { to: since(endTime) }),
        waits: own.map((approval) => createWait(approval, since)),
      };
    });
}

/** The number of the only line of the source that can have made a call: it names the method, and its texts and numbers. */
function findLine({ path, args }: LedgerCall, source: string): number | undefined {
  const naming = source.split("\n").flatMap((text, index) => (text.includes(path) ? [{ text, line: index + 1 }] : []));
  const literals = args.match(/"(?:[^"\\]|\\.)+"|-?\d[\d.]*/g) ?? [];
  const exact = naming.filter(({ text }) => literals.every((literal) => text.includes(literal.replaceAll('"', ""))));
  const possible = naming.length === 1 ? naming : exact;
  return possible.length === 1 ? possible[0]?.line : undefined;
}

function createWait(
  { id, created, answeredAt, state, expires }: ApprovalRow,
  since: (time: number) => number,
): TimelineCall["waits"][number] {
  const end = state === "pending" ? undefined : (answeredAt ?? expires);
  return { approval: id, from: since(created), ...(end !== undefined && { to: since(end) }) };
}
