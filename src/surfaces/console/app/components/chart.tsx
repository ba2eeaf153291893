import { formatCount, formatDuration } from "./text.tsx";

/** One line of a chart. */
export interface ChartSeries {
  readonly label: string;
  /** A colour of the style, such as `--accent`. */
  readonly color: string;
  readonly values: readonly (number | null)[];
  readonly isFilled?: boolean;
}

interface ChartProps {
  /** Describes the chart to readers who do not see it. */
  readonly label: string;
  /** Milliseconds since 1970. */
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly unit: "count" | "duration";
  /** Receives the time of the value that is clicked. A link beside the chart opens the same for readers without a pointer. */
  readonly onPick?: (time: number) => void;
}

let clock: Intl.DateTimeFormat | undefined;

function formatClock(time: number): string {
  clock ??= new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
  return clock.format(time);
}

/** Lines over time. */
export function Chart({ label, times, series, unit, onPick }: ChartProps) {
  const format = unit === "duration" ? formatDuration : formatCount;
  const top = findTop(
    series.flatMap(({ values }) => values),
    unit,
  );
  const last = series.map(({ label: name, values }) => {
    const value = values.findLast((each) => each !== null) ?? undefined;
    return `${name}: ${value === undefined ? "no value" : format(value)}`;
  });
  return (
    <div class="chart" role="img" aria-label={`${label}. Last values: ${last.join(", ")}`}>
      <div class="row muted small">
        {series.map(({ label: name, color }) => (
          <span key={name}>
            <i class="chart-key" style={{ background: `var(${color})` }} />
            {name}
          </span>
        ))}
      </div>
      <div class="chart-axis chart-values">
        {[4, 3, 2, 1, 0].map((part) => (
          <span key={part}>{format((top * part) / 4)}</span>
        ))}
      </div>
      <svg
        viewBox={`0 0 ${times.length - 1} ${top}`}
        preserveAspectRatio="none"
        class={onPick === undefined ? undefined : "chart-open"}
        onClick={(event) => pick(event, times, onPick)}
      >
        {series.map(({ label: name, color, values, isFilled = false }) => (
          <g key={name} style={{ stroke: `var(${color})`, fill: `var(${color})` }}>
            {isFilled && <path class="chart-area" d={`${drawLine(values, top)}V${top}H0Z`} />}
            <path class="chart-line" d={drawLine(values, top)} />
            {unit === "duration" && <path class="chart-line chart-points" d={drawPoints(values, top)} />}
          </g>
        ))}
      </svg>
      <div class="chart-axis chart-times">
        {times
          .filter((_, at) => at % 15 === 14)
          .map((time) => (
            <span key={time}>{formatClock(time)}</span>
          ))}
      </div>
    </div>
  );
}

function pick({ currentTarget, clientX }: MouseEvent, times: readonly number[], onPick: ChartProps["onPick"]): void {
  const { left, width } = (currentTarget as Element).getBoundingClientRect();
  const time = times[Math.round(((clientX - left) / width) * (times.length - 1))];
  if (time !== undefined) onPick?.(time);
}

/** Returns a value above all that divides into four round parts. */
function findTop(values: readonly (number | null)[], unit: ChartProps["unit"]): number {
  const max = Math.max(...values.map((value) => value ?? 0));
  const step = 10 ** Math.floor(Math.log10((max || 4) / 4));
  const smallest = unit === "count" ? Math.max(step, 1) : step;
  return Math.max(1, Math.ceil((max * 1.05) / (smallest * 4))) * smallest * 4;
}

/** Draws the values; a line ends where a value is missing. */
function drawLine(values: readonly (number | null)[], top: number): string {
  return values
    .map((value, at) => value !== null && `${(values[at - 1] ?? null) === null ? "M" : "L"}${at} ${top - value}`)
    .filter(Boolean)
    .join("");
}

/** Draws each value as a point: a line of no length with round ends. */
function drawPoints(values: readonly (number | null)[], top: number): string {
  return values.map((value, at) => (value === null ? "" : `M${at} ${top - value}h0`)).join("");
}
