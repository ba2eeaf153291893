import type { ComponentChildren } from "preact";

import { StatusBadge } from "../elements.tsx";
import { countNoun, formatDuration, Text } from "../text.tsx";

/** A call on a chart of calls. Times are in milliseconds since the run began. */
export interface ChartedCall {
  readonly id: number;
  readonly path: string;
  readonly from: number;
  /** Missing for a call without an end. */
  readonly to?: number;
  readonly end: "ok" | "error" | "refused" | "unfinished";
  readonly isEffect?: boolean;
  readonly line?: number;
  /** When a person was asked. */
  readonly waits?: readonly { readonly from: number; readonly to?: number }[];
  readonly note?: string;
}

interface CallTimelineProps<Call extends ChartedCall> {
  readonly calls: readonly Call[];
  /** Milliseconds until now, for a run that lasts; default: until the last end. */
  readonly until?: number | undefined;
  /** Renders the part below a call. */
  readonly renderDetail?: (call: Call) => ComponentChildren;
}

/** Calls that are drawn; a run may have 10,000. */
const MAX_DRAWN = 500;

/** Each call as a bar over time; the parts in which it waits for a person are hatched. */
export function CallTimeline<Call extends ChartedCall>({ calls, until = 0, renderDetail }: CallTimelineProps<Call>) {
  const total = calls.reduce(
    (end, { from, to = from, waits = [] }) => Math.max(end, to, ...waits.map((wait) => wait.to ?? wait.from)),
    Math.max(1, until),
  );
  const toStyle = (from: number, to: number) => ({
    insetInlineStart: `${(from / total) * 100}%`,
    inlineSize: `max(3px, ${(Math.max(0, to - from) / total) * 100}%)`,
  });
  return (
    <>
      <ol class="stack" aria-label={`Calls from 0 to ${formatDuration(total)}`}>
        {calls.slice(0, MAX_DRAWN).map((call) => {
          const { id, path, from, to = total, end, isEffect = false, line, waits = [], note } = call;
          return (
            <li key={id} id={`call-${id}`} class="timeline-call stack-tight">
              <div class="row">
                <span class="muted">{id}</span>
                <Text in="code" class="timeline-path" value={path} limit={120} />
                {isEffect && <span class="timeline-effect">effect</span>}
                {line !== undefined && <span class="muted">line {line}</span>}
                <span class="timeline-time muted">{describeTime(call)}</span>
                {end === "unfinished" ? <StatusBadge label="no end yet" tone="busy" /> : <StatusBadge label={end} />}
              </div>
              <div class="timeline-track" aria-hidden="true">
                <span class={`timeline-bar timeline-${end}`} style={toStyle(from, to)} />
                {waits.map((wait, at) => (
                  <span key={at} class="timeline-bar timeline-wait" style={toStyle(wait.from, wait.to ?? total)} />
                ))}
              </div>
              {note !== undefined && <Text in="p" class="muted" value={note} limit={300} />}
              {renderDetail?.(call)}
            </li>
          );
        })}
      </ol>
      {calls.some(({ waits = [] }) => waits.length > 0) && (
        <p class="row muted small">
          <span class="timeline-key timeline-wait" aria-hidden="true" /> waits for a person
        </p>
      )}
      {calls.length > MAX_DRAWN && <p class="muted">… and {countNoun(calls.length - MAX_DRAWN, "more call")}</p>}
    </>
  );
}

/** Returns the duration of a call without the time in which it waited for persons. */
function describeTime({ from, to, waits = [] }: ChartedCall): string {
  if (to === undefined) return "…";
  const waitedMs = sumWaits(waits, to);
  const workedMs = formatDuration(Math.max(0, to - from - waitedMs));
  return waitedMs === 0 ? workedMs : `${workedMs}, and waited ${formatDuration(waitedMs)}`;
}

/** Returns for how long persons were asked, until `now` where there is no answer. Times at once count once. */
export function sumWaits(waits: NonNullable<ChartedCall["waits"]>, now: number): number {
  let [sum, last] = [0, 0];
  for (const { from, to = now } of waits.toSorted((a, b) => a.from - b.from)) {
    sum += Math.max(0, to - Math.max(from, last));
    last = Math.max(last, to);
  }
  return sum;
}
