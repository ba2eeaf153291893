import type { RunRecord, TimelineCall } from "../../../runs/index.ts";
import type { RecordedRunFacts } from "../../../runtime.ts";
import type { RunStatus } from "../../../store/index.ts";
import type { CommandResult } from "../command.ts";
import type { CliSession } from "../session.ts";
import type { Paint } from "../terminal/terminal.ts";
import { count, escaped, formatSecond, lines, milliseconds, shortened, table } from "../text/layout.ts";
import { findRun, openRuns } from "./find-run.ts";

export async function showRun(session: CliSession, id: string): Promise<CommandResult> {
  const runtime = await openRuns(session);
  const run = await findRun(runtime, id);
  const { content } = await runtime.runs.show(run.id);
  if (content === undefined) throw new TypeError("Nothing is hidden from the owner");
  const { record, timeline: calls } = content;
  const { source } = record.header;
  const { outcome } = record;
  const { version, input } = record.header;
  const facts = {
    ...run,
    version,
    source,
    ...(input !== undefined && { input }),
    timeline: calls,
    ...(outcome && { outcome }),
  };
  return {
    json: runtime.secrets.maskTexts(facts),
    text: runtime.secrets.maskText(runText(run, record, calls, session.paint.out)),
  };
}

function runText(
  run: RecordedRunFacts,
  { header, outcome }: RunRecord,
  calls: readonly TimelineCall[],
  paint: Paint,
): string {
  const { id, state, created, updated, ended, continues } = run;
  const facts = [
    `began ${formatSecond(created)}`,
    `${ended === null ? "last written" : "ended"} after ${milliseconds((ended ?? updated) - created)}`,
    `${count(run.calls, "call")}, ${count(run.effects, "effect")}`,
    `caller ${escaped(header.caller.id)}`,
    `skillgate ${escaped(header.version)}`,
    ...(continues === null ? [] : [`continues run ${continues}`]),
  ];
  return lines([
    `Run ${paint.cyan(id)} ${stateText(state, paint)}`,
    paint.dim(facts.join(" · ")),
    "",
    ...sourceLines(header.source, calls, paint),
    ...(header.input === undefined
      ? []
      : [" ", `input ${escaped(shortened(JSON.stringify(header.input), INPUT_UNITS))}`]),
    " ",
    timelineText(calls, paint),
    ...(outcome === undefined ? [] : [" ", outcome.text]),
  ]);
}

/** Characters of the input that are shown. */
const INPUT_UNITS = 1_000;

/** The source with the numbers of the calls that each line has made. */
function sourceLines(source: string, calls: readonly TimelineCall[], paint: Paint): readonly string[] {
  return source.split("\n").map((text, index) => {
    const ids = calls.filter(({ line }) => line === index + 1).map(({ id }) => id);
    const mark = ids.length === 0 ? "" : paint.dim(`  ← ${ids.length === 1 ? "call" : "calls"} ${ids.join(", ")}`);
    return `${paint.dim(String(index + 1).padStart(4))}  ${escaped(text)}${mark}`;
  });
}

export interface RunListFlags {
  readonly state?: RunStatus;
  readonly limit: number;
}

export async function listRuns(session: CliSession, { state, limit }: RunListFlags): Promise<CommandResult> {
  const { runs: recorded, secrets } = await openRuns(session);
  const runs = secrets.maskTexts(await recorded.list({ limit, ...(state !== undefined && { state }) }));
  return { json: { runs }, text: runs.length === 0 ? NOTHING : runsText(runs, session.paint.out) };
}

const NOTHING = "No recorded runs. A run without an effect is recorded only with the setting runs.record: full";

const TITLE_UNITS = 60;
const SHORT_ID_UNITS = 8;

function runsText(runs: readonly RecordedRunFacts[], paint: Paint): string {
  const isShort = new Set(runs.map(({ id }) => id.slice(0, SHORT_ID_UNITS))).size === runs.length;
  return lines(
    table(
      runs.map(({ id, state, created, calls, effects, caller, title }) => [
        paint.cyan(isShort ? id.slice(0, SHORT_ID_UNITS) : id),
        stateText(state, paint),
        paint.dim(formatSecond(created)),
        `${count(calls, "call")}, ${count(effects, "effect")}`,
        escaped(caller),
        escaped(shortened(title, TITLE_UNITS)),
      ]),
    ),
  );
}

/** Colours a state by what it asks of the reader. */
export function stateText(state: RunStatus, paint: Paint): string {
  if (state === "completed") return paint.green(state);
  return state === "waiting" || state === "running" || state === "refused" ? paint.yellow(state) : paint.red(state);
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
