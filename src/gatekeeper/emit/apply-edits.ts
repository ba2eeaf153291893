import { findFirstIndex } from "../../shared/binary-search.ts";
import { createSourceText } from "../../shared/source-text.ts";
import type { Position } from "../../model/outcome.ts";
import type { Edit } from "../../model/snippet.ts";

/** The edited text, with a mapping back to the original. */
export interface EditedProgram {
  readonly code: string;
  /** Maps a position in `code` to the position in the original text. */
  readonly toSourcePosition: (line: number, column: number) => Position;
}

/**
 * Applies edits to a text, and adds an opening and a closing. Wraps may nest and start at the same offset; replacements must
 * not overlap.
 */
export function applyEdits(
  text: string,
  edits: readonly Edit[],
  around: { readonly opening: string; readonly closing: string },
): EditedProgram {
  const pieces: Piece[] = [];
  let length = 0;
  const write = (written: string, from: number, isCopy: boolean): void => {
    if (written === "") return;
    pieces.push({ at: length, from, isCopy, text: written });
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
  const code = pieces.map((piece) => piece.text).join("");
  return { code, toSourcePosition: mapOffset(code, pieces, text) };
}

/** A part of the code: original or inserted text. */
interface Piece {
  /** The offset in the code. */
  readonly at: number;
  /** The offset in the original text. */
  readonly from: number;
  readonly isCopy: boolean;
  readonly text: string;
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

/** Maps positions to the original text; the line tables are created on first use. */
function mapOffset(code: string, pieces: readonly Piece[], text: string): EditedProgram["toSourcePosition"] {
  const inCode = createSourceText(code);
  const inText = createSourceText(text);
  return (line, column) => {
    const offset = inCode.offset({ line, column });
    const piece = pieces[Math.max(0, findFirstIndex(pieces, ({ at }) => at > offset) - 1)];
    if (piece === undefined) return { line: 1, column: 0 };
    return inText.position(piece.isCopy ? piece.from + offset - piece.at : piece.from);
  };
}
