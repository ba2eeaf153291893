import { createSourceText } from "../../shared/source-text.ts";
import type { Position } from "../../model/outcome.ts";
import type { Edit } from "../../model/snippet.ts";

/** Text with edits in it, and the way back. */
export interface EditedProgram {
  readonly code: string;
  /** From a place in `code` to the place in the text without the edits. */
  readonly place: (line: number, column: number) => Position;
}

/**
 * Writes edits into a text between an opening and a closing. Wraps may stand inside of each other and at one place; parts
 * that are replaced stand apart.
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
  return { code, place: mapOffset(code, pieces, text) };
}

/** A part of the code: text that was there, or text that was written. */
interface Piece {
  /** Where it stands in the code. */
  readonly at: number;
  /** Where it stood, or what it was written at. */
  readonly from: number;
  readonly isCopy: boolean;
  readonly text: string;
}

interface TextChange {
  readonly at: number;
  readonly until: number;
  readonly text: string;
}

/** At one place: what closes goes first, the inner before the outer; then what opens, the outer before the inner. */
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

/** The tables are made when the first error asks. */
function mapOffset(code: string, pieces: readonly Piece[], text: string): EditedProgram["place"] {
  const inCode = createSourceText(code);
  const inText = createSourceText(text);
  return (line, column) => {
    const offset = inCode.offset({ line, column });
    const piece = pieces[lastAtOrBefore(pieces, offset)];
    if (piece === undefined) return { line: 1, column: 0 };
    return inText.position(piece.isCopy ? piece.from + offset - piece.at : piece.from);
  };
}

function lastAtOrBefore(pieces: readonly Piece[], offset: number): number {
  let [low, high] = [0, pieces.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((pieces[middle]?.at ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
