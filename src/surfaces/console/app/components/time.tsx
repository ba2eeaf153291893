interface TimeProps {
  /** Milliseconds since 1970. */
  readonly at: number;
}

const FORMATS = {
  clock: { timeStyle: "medium" },
  date: { dateStyle: "medium", timeStyle: "short" },
  whole: { dateStyle: "full", timeStyle: "long" },
} as const;

const formatters = new Map<keyof typeof FORMATS, Intl.DateTimeFormat>();

/** Creating a formatter takes milliseconds, so each is created when it is first used. */
function formatDate(date: Date, name: keyof typeof FORMATS): string {
  const formatter = formatters.get(name) ?? new Intl.DateTimeFormat(undefined, FORMATS[name]);
  formatters.set(name, formatter);
  return formatter.format(date);
}

/** A moment in the time zone of the reader; the whole date is its title. */
export function Time({ at }: TimeProps) {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  return (
    <time dateTime={date.toISOString()} title={formatDate(date, "whole")}>
      {formatDate(date, isToday ? "clock" : "date")}
    </time>
  );
}

/** Formats a duration in the unit that suits it: `340 µs`, `12 ms`, `1.4 s`, `3 min`. */
export function formatDuration(ms: number): string {
  if (ms < 1) return `${Math.round(ms * 1_000)} µs`;
  if (ms < 1_000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.round(ms / 60_000)} min`;
}
