import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

import { formatDuration } from "./text.tsx";

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
}

const HEIGHT_PX = 160;

let clock: Intl.DateTimeFormat | undefined;

function formatClock(seconds: number): string {
  clock ??= new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
  return clock.format(seconds * 1_000);
}

/** Lines over time, which adapt to the width of the page and to its colours. */
export function Chart({ label, times, series, unit }: ChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const newest = useRef<uPlot.AlignedData>([[]]);
  const data: uPlot.AlignedData = [times.map((time) => time / 1_000), ...series.map(({ values }) => [...values])];
  newest.current = data;

  useEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    let stop = (): void => {};
    let isGone = false;
    void import("uplot").then(({ default: Plot }) => {
      if (isGone) return;
      stop = followColors(() => {
        plot.current?.destroy();
        plot.current = new Plot(createOptions(element, series, unit), newest.current, element);
      });
    });
    const observer = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    observer.observe(element);
    return () => {
      isGone = true;
      observer.disconnect();
      stop();
      plot.current?.destroy();
      plot.current = null;
    };
  }, []);
  useEffect(() => plot.current?.setData(data));
  return (
    <figure class="chart">
      <div class="chart-legend" aria-hidden="true">
        {series.map(({ label, color }) => (
          <span key={label}>
            <i class="chart-key" style={{ background: `var(${color})` }} />
            {label}
          </span>
        ))}
      </div>
      <div ref={host} style={{ minHeight: `${HEIGHT_PX}px` }} role="img" aria-label={describe(label, series, unit)} />
    </figure>
  );
}

/** Draws now and whenever the colours of the page change. Returns a function that ends this. */
function followColors(draw: () => void): () => void {
  draw();
  const colors = matchMedia("(prefers-color-scheme: dark)");
  colors.addEventListener("change", draw);
  const themes = new MutationObserver(draw);
  themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => {
    themes.disconnect();
    colors.removeEventListener("change", draw);
  };
}

function describe(label: string, series: readonly ChartSeries[], unit: ChartProps["unit"]): string {
  const parts = series.map(({ label, values }) => {
    const last = values.findLast((value) => value !== null);
    return `${label}: ${last === undefined || last === null ? "no value" : format(last, unit)}`;
  });
  return `${label}. Last values: ${parts.join(", ")}`;
}

function format(value: number, unit: ChartProps["unit"]): string {
  return unit === "duration" ? formatDuration(value) : value.toLocaleString();
}

function createOptions(element: HTMLElement, series: readonly ChartSeries[], unit: ChartProps["unit"]): uPlot.Options {
  const style = getComputedStyle(element);
  /** The canvas does not know the variables of the style. */
  const color = (name: string): string => {
    element.style.color = `var(${name})`;
    return style.color;
  };
  const axis = {
    stroke: color("--text-muted"),
    font: `12px ${style.fontFamily}`,
    grid: { stroke: color("--line"), width: 1 },
    ticks: { show: false },
  };
  return {
    width: Math.max(element.clientWidth, 100),
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { y: false, points: { size: 6 } },
    padding: [8, 8, 0, 0],
    scales: { y: { range: (_plot, _min, max) => [0, Math.max(max * 1.15, unit === "count" ? 4 : 1)] } },
    axes: [
      { ...axis, values: (_plot, splits) => splits.map(formatClock) },
      { ...axis, size: 56, values: (_plot, splits) => splits.map((value) => format(value, unit)) },
    ],
    series: [
      {},
      ...series.map(({ label, color: name, isFilled = false }) => ({
        label,
        stroke: color(name),
        width: 1.5,
        spanGaps: false,
        points: { show: unit === "duration", size: 5 },
        ...(isFilled && { fill: `color-mix(in srgb, ${color(name)} 16%, transparent)` }),
      })),
    ],
  };
}
