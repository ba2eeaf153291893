import { useState } from "preact/hooks";

import { escapeControls } from "../../../../shared/visible-text.ts";

/** UTF-16 units that are shown before the reader asks for all. */
const SHORT_UNITS = 4_000;

interface TextProps {
  readonly value: string;
  /** UTF-16 units at which the text is cut. */
  readonly limit?: number;
}

/**
 * Text that Skillgate did not write: of a server, a model, a file. It is isolated from the direction of the text around it, its
 * invisible characters are shown as escapes, and a long one is cut until the reader asks for all.
 */
export function Text({ value, limit = SHORT_UNITS }: TextProps) {
  const [isWhole, setWhole] = useState(false);
  const isLong = value.length > limit;
  const shownText = escapeControls(isLong && !isWhole ? value.slice(0, limit).toWellFormed() : value);
  return (
    <>
      <bdi>{shownText}</bdi>
      {isLong && !isWhole && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          … show all {formatCount(value.length)} characters
        </button>
      )}
    </>
  );
}

export function formatCount(count: number): string {
  return count < 1_000 ? String(count) : count.toLocaleString();
}
