import type { RunRecord, TimelineCall } from "../../../runs/index.ts";
import type { RecordedRunFacts } from "../../../runtime.ts";
import type { CliSession } from "../session.ts";
import type { CommandResult, Paint } from "../terminal/terminal.ts";
import { count, escaped, lines, milliseconds } from "../text/layout.ts";
import { findRun, openRuns } from "./find-run.ts";
import { stateText, timeText } from "./list.ts";
import { timelineText } from "./timeline.ts";

export async function showRun(session: CliSession, id: string): Promise<CommandResult> {
  const runtime = await openRuns(session);
  const run = await findRun(runtime, id);
  const record = await runtime.runs.record(run.id);
  const { approvals } = await runtime.database();
  const { createTimeline } = await import("../../../runs/index.ts");
  const { source } = record.header;
  const calls = createTimeline(record, await approvals.listOfRun(run.id));
  const { outcome } = record;
  const facts = { ...run, version: record.header.version, source, timeline: calls, ...(outcome && { outcome }) };
  return {
    exit: "ok",
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
    `began ${timeText(created)}`,
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
    " ",
    timelineText(calls, paint),
    ...(outcome === undefined ? [] : [" ", outcome.text]),
  ]);
}

/** The source with the numbers of the calls that each line has made. */
function sourceLines(source: string, calls: readonly TimelineCall[], paint: Paint): readonly string[] {
  return source.split("\n").map((text, index) => {
    const ids = calls.filter(({ line }) => line === index + 1).map(({ id }) => id);
    const mark = ids.length === 0 ? "" : paint.dim(`  ← ${ids.length === 1 ? "call" : "calls"} ${ids.join(", ")}`);
    return `${paint.dim(String(index + 1).padStart(4))}  ${escaped(text)}${mark}`;
  });
}
