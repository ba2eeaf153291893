import { useState } from "preact/hooks";

import { escapeControls } from "../../../../shared/visible-text.ts";

/** UTF-16 units that are shown before the reader asks for all. */
const SHORT_UNITS = 4_000;

interface TextProps {
  readonly value: string;
  /** UTF-16 units at which the text is cut. */
  readonly limit?: number;
  /** The element around the text; default: none. */
  readonly in?: "code" | "div" | "dt" | "li" | "p" | "small" | "span" | "strong";
  readonly class?: string;
  /** Makes the text a link within the console. */
  readonly href?: string;
}

/**
 * Text that Skillgate did not write: of a server, a model, a file. It is isolated from the direction of the text around it, its
 * invisible characters are shown as escapes, and a long one is cut until the reader asks for all.
 */
export function Text({ value, limit = SHORT_UNITS, in: Element, class: className, href }: TextProps) {
  const [isWhole, setWhole] = useState(false);
  const isLong = value.length > limit;
  const shownText = escapeControls(isLong && !isWhole ? value.slice(0, limit).toWellFormed() : value);
  const text = (
    <>
      {href === undefined ? (
        <bdi>{shownText}</bdi>
      ) : (
        <a href={href}>
          <bdi>{shownText}</bdi>
        </a>
      )}
      {isLong && !isWhole && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          … show all {formatCount(value.length)} characters
        </button>
      )}
    </>
  );
  return Element === undefined ? text : <Element class={className}>{text}</Element>;
}

interface CodeProps extends Pick<TextProps, "value" | "limit" | "class"> {
  /** Describes the text to readers who do not see it. */
  readonly label?: string;
}

/** A block of text that Skillgate did not write, as it was written. It scrolls, also by key. */
export function Code({ value, limit = SHORT_UNITS, class: className = "", label }: CodeProps) {
  return (
    <pre class={`code ${className}`} tabIndex={0} aria-label={label}>
      <Text value={value} limit={limit} />
    </pre>
  );
}

const FORMATS = {
  clock: { timeStyle: "medium" },
  moment: { day: "numeric", month: "short", hour: "numeric", minute: "2-digit" },
  date: { dateStyle: "medium" },
  whole: { dateStyle: "full", timeStyle: "long" },
} as const;

const formatters = new Map<keyof typeof FORMATS, Intl.DateTimeFormat>();

/** Creating a formatter takes milliseconds, so each is created when it is first used. */
function formatDate(date: Date, name: keyof typeof FORMATS): string {
  const formatter = formatters.get(name) ?? new Intl.DateTimeFormat(undefined, FORMATS[name]);
  formatters.set(name, formatter);
  return formatter.format(date);
}

/**
 * A moment, in milliseconds since 1970, in the time zone of the reader: its time today, the day before it in this year, else the
 * date. The whole is its title.
 */
export function Time({ at }: { readonly at: number | null }) {
  if (at === null) return <span class="muted">never</span>;
  const date = new Date(at);
  const now = new Date();
  const isThisYear = date.getFullYear() === now.getFullYear();
  const form = date.toDateString() === now.toDateString() ? "clock" : isThisYear ? "moment" : "date";
  return (
    <time dateTime={date.toISOString()} title={formatDate(date, "whole")}>
      {formatDate(date, form)}
    </time>
  );
}

/** Formats a duration in the unit that suits it: `340 µs`, `12 ms`, `1.4 s`, `3 min`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return "0 ms";
  if (ms < 1) return `${Math.round(ms * 1_000)} µs`;
  if (ms < 1_000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.round(ms / 60_000)} min`;
}

export function formatCount(count: number): string {
  return count < 1_000 ? String(count) : count.toLocaleString();
}

/** `1 call`, `2 calls`. */
export function countNoun(count: number, noun: string): string {
  return `${formatCount(count)} ${count === 1 ? noun : `${noun}s`}`;
}
