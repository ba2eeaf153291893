import { findFirstIndex } from "../../shared/binary-search.ts";
import { createSourceText } from "../../shared/source-text.ts";
import type { Edit, Program, CodeSegment } from "../../model/program.ts";

/** The edited text, with a mapping back to the original. */
export type EditedProgram = Pick<Program, "code" | "segments" | "toSourcePosition">;

/**
 * Applies edits to a text, and adds an opening and a closing. Wraps may nest and start at the same offset; replacements must
 * not overlap.
 */
export function applyEdits(
  text: string,
  edits: readonly Edit[],
  around: { readonly opening: string; readonly closing: string },
): EditedProgram {
  const segments: CodeSegment[] = [];
  const texts: string[] = [];
  let length = 0;
  const write = (written: string, from: number, isCopy: boolean): void => {
    if (written === "") return;
    segments.push({ at: length, from, isCopy });
    texts.push(written);
    length += written.length;
  };
  write(around.opening, 0, false);
  let at = 0;
  for (const change of toChanges(edits)) {
    write(text.slice(at, change.at), at, true);
    write(change.text, change.at, false);
    at = Math.max(at, change.until);
  }
  write(text.slice(at), at, true);
  write(around.closing, text.length, false);
  const code = texts.join("");
  return { code, segments, toSourcePosition: createPositionMap(code, segments, text) };
}

interface TextChange {
  readonly at: number;
  readonly until: number;
  readonly text: string;
}

/** Sorts changes. At the same offset: closings first, inner before outer; then openings, outer before inner. */
function toChanges(edits: readonly Edit[]): readonly TextChange[] {
  const ordered = edits.flatMap((edit, index): readonly (TextChange & { readonly rank: readonly number[] })[] => {
    const { start, end } = edit;
    if (edit.kind === "replace") return [{ at: start, until: end, text: edit.text, rank: [start, 2, 0, index] }];
    const opening = { at: start, until: start, text: edit.before, rank: [start, 1, -end, index] };
    return edit.after === ""
      ? [opening]
      : [opening, { at: end, until: end, text: edit.after, rank: [end, 0, -start, -index] }];
  });
  return ordered.sort((a, b) => compare(a.rank, b.rank));
}

function compare(a: readonly number[], b: readonly number[]): number {
  const differing = a.findIndex((value, index) => value !== b[index]);
  return differing < 0 ? 0 : (a[differing] ?? 0) - (b[differing] ?? 0);
}

/** Maps positions to the original text, whose line breaks count; the line tables are created on first use. */
export function createPositionMap(
  code: string,
  segments: readonly CodeSegment[],
  text: string,
): EditedProgram["toSourcePosition"] {
  const inCode = createSourceText(code);
  const inText = createSourceText(text);
  return (line, column) => {
    const offset = inCode.offset({ line, column });
    const segment = segments[Math.max(0, findFirstIndex(segments, ({ at }) => at > offset) - 1)];
    if (segment === undefined) return { line: 1, column: 0 };
    return inText.position(segment.isCopy ? segment.from + offset - segment.at : segment.from);
  };
}
