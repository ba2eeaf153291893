import type { TimelineCall } from "../../../runs/index.ts";
import { escaped, lines, milliseconds, table } from "../text/layout.ts";
import type { Paint } from "../terminal/terminal.ts";

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
