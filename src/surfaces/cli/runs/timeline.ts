import type { Ledger, LedgerCall } from "../../../runs/index.ts";
import type { ApprovalRow } from "../../../store/index.ts";
import { escaped, lines, milliseconds, table } from "../text/layout.ts";
import type { Paint } from "../terminal/terminal.ts";

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
  findLine: (call: LedgerCall) => number | undefined,
): readonly TimelineCall[] {
  const since = (time: number): number => Math.max(0, time - header.time);
  return [...calls.values()]
    .toSorted((a, b) => a.id - b.id)
    .map((call) => {
      const { id, path, args, isEffect, outcome, answer, time, endTime } = call;
      const line = findLine(call);
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

function createWait(
  { id, created, answeredAt, state, expires }: ApprovalRow,
  since: (time: number) => number,
): TimelineCall["waits"][number] {
  const end = state === "pending" ? undefined : (answeredAt ?? expires);
  return { approval: id, from: since(created), ...(end !== undefined && { to: since(end) }) };
}

const BAR_UNITS = 40;

/** Draws each call as a bar: `█` while it works, `░` while a person is asked. */
export function timelineText(calls: readonly TimelineCall[], paint: Paint): string {
  if (calls.length === 0) return paint.dim("No calls");
  const total = Math.max(
    1,
    ...calls.flatMap(({ from, to = from, waits }) => [to, ...waits.map((wait) => wait.to ?? wait.from)]),
  );
  const rows = calls.map((call) => [
    `${String(call.id).padStart(4)}${call.isEffect ? paint.yellow("!") : " "}`,
    escaped(call.path),
    call.line === undefined ? "" : paint.dim(`line ${call.line}`),
    spanText(call),
    drawBar(call, total),
    endText(call, paint),
  ]);
  return lines([
    ...table(rows),
    paint.dim(`0 to ${milliseconds(total)}; ! may have had an effect; ░ waits for a person`),
  ]);
}

function spanText({ from, to }: TimelineCall): string {
  return `${from}–${to ?? "…"} ms`;
}

function drawBar({ from, to, waits }: TimelineCall, total: number): string {
  const toCell = (time: number): number => Math.min(BAR_UNITS - 1, Math.floor((time / total) * BAR_UNITS));
  const last = toCell(to ?? total);
  return Array.from({ length: BAR_UNITS }, (_, cell) => {
    if (cell < toCell(from) || cell > last) return " ";
    const isWaiting = waits.some(
      (wait) => cell >= toCell(wait.from) && cell < Math.max(toCell(wait.to ?? total), toCell(wait.from) + 1),
    );
    return isWaiting ? "░" : "█";
  }).join("");
}

function endText({ end, waits }: TimelineCall, paint: Paint): string {
  const open = waits.find(({ to }) => to === undefined);
  if (open !== undefined) return paint.yellow(`waits for approval ${open.approval}`);
  if (end === "ok") return paint.green(end);
  return end === "unfinished" ? paint.yellow("no end") : paint.red(end);
}
