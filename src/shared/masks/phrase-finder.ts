/** Part of a text: from `start` up to, not including, `end`. */
export interface TextPart {
  readonly start: number;
  readonly end: number;
}

/** A text that is looked for. */
export interface Phrase {
  readonly text: string;
  /** Found only where no letter, digit or underscore is beside it. */
  readonly standsAlone?: boolean;
  /** In base64, the character before or after the phrase may hold bits of it: it belongs to the match. */
  readonly takesBefore?: boolean;
  readonly takesAfter?: boolean;
}

/** Characters of a phrase that the search compares first. Shorter phrases are not found. */
export const MIN_PHRASE_UNITS = 8;

/** Characters whose hash decides how far the search may move on. */
const BLOCK_UNITS = 3;

const MAX_SHIFT = MIN_PHRASE_UNITS - BLOCK_UNITS + 1;

/** Longer phrases are found in pieces, which bounds the time for a text that resembles a phrase. */
const MAX_PIECE_UNITS = 64;

const MIN_TABLE_SIZE = 1 << 10;
const MAX_TABLE_SIZE = 1 << 20;

/** Entries of the table for each phrase, so that most are free. */
const TABLE_ENTRIES = 64;

/**
 * Finds many phrases in one pass over a text, by the method of Wu and Manber: for each three characters, a table says how far
 * the next phrase can begin at the earliest, so most characters are never looked at.
 */
export class PhraseFinder {
  #shifts = new Uint8Array(MIN_TABLE_SIZE).fill(MAX_SHIFT);
  /** By the first characters of phrases, their lengths, the longest first. */
  readonly #lengths = new Map<string, number[]>();
  readonly #pieces = new Map<string, Phrase>();

  add(phrase: Phrase): void {
    for (const piece of toPieces(phrase)) {
      if (this.#pieces.has(piece.text)) continue;
      this.#pieces.set(piece.text, piece);
      this.#addLength(piece.text);
      if (this.#pieces.size * TABLE_ENTRIES > this.#shifts.length && this.#shifts.length < MAX_TABLE_SIZE)
        this.#enlarge();
      else this.#addShifts(piece.text);
    }
  }

  /** Returns where phrases are, in order; phrases that overlap or touch are one part. */
  find(text: string): readonly TextPart[] {
    const shifts = this.#shifts;
    const mask = shifts.length - 1;
    const found: TextPart[] = [];
    for (let end = MIN_PHRASE_UNITS; end <= text.length;) {
      const shift = shifts[hashBlock(text, end) & mask] ?? 0;
      if (shift === 0) {
        const span = this.#findAt(text, end - MIN_PHRASE_UNITS);
        if (span !== undefined) addSpan(found, span);
      }
      end += shift || 1;
    }
    return found;
  }

  #addLength(text: string): void {
    const head = text.slice(0, MIN_PHRASE_UNITS);
    const lengths = this.#lengths.get(head);
    if (lengths === undefined) this.#lengths.set(head, [text.length]);
    else if (!lengths.includes(text.length))
      lengths.splice(lengths.findLastIndex((length) => length > text.length) + 1, 0, text.length);
  }

  #enlarge(): void {
    this.#shifts = new Uint8Array(this.#shifts.length * 4).fill(MAX_SHIFT);
    for (const text of this.#pieces.keys()) this.#addShifts(text);
  }

  #addShifts(text: string): void {
    const mask = this.#shifts.length - 1;
    for (let end = BLOCK_UNITS; end <= MIN_PHRASE_UNITS; end++) {
      const block = hashBlock(text, end) & mask;
      this.#shifts[block] = Math.min(this.#shifts[block] ?? 0, MIN_PHRASE_UNITS - end);
    }
  }

  /** Returns the longest phrase that begins at a place. */
  #findAt(text: string, start: number): TextPart | undefined {
    for (const length of this.#lengths.get(text.slice(start, start + MIN_PHRASE_UNITS)) ?? []) {
      const phrase = this.#pieces.get(text.slice(start, start + length));
      const span = phrase && matchPhrase(phrase, text, start);
      if (span !== undefined) return span;
    }
    return undefined;
  }
}

/** Adds a part of a text to those that begin before it. */
export function addSpan(spans: TextPart[], { start, end }: TextPart): void {
  const last = spans.at(-1);
  if (last === undefined || start > last.end) spans.push({ start, end });
  else if (end > last.end) spans[spans.length - 1] = { start: last.start, end };
}

/** A number for the block of a text that ends at a place. */
function hashBlock(text: string, end: number): number {
  return (
    Math.imul(text.charCodeAt(end - 3), 0x9e5) ^ Math.imul(text.charCodeAt(end - 2), 0x2f) ^ text.charCodeAt(end - 1)
  );
}

function toPieces(phrase: Phrase): readonly Phrase[] {
  const { text } = phrase;
  if (text.length < MIN_PHRASE_UNITS) return [];
  if (text.length <= MAX_PIECE_UNITS) return [phrase];
  const starts = Array.from({ length: Math.ceil(text.length / MAX_PIECE_UNITS) }, (_, index) =>
    Math.min(index * MAX_PIECE_UNITS, text.length - MIN_PHRASE_UNITS),
  );
  return starts.map((start, index) => ({
    text: text.slice(start, start + MAX_PIECE_UNITS),
    takesBefore: index === 0 && phrase.takesBefore === true,
    takesAfter: index === starts.length - 1 && phrase.takesAfter === true,
  }));
}

function matchPhrase(
  { text: { length }, standsAlone = false, takesBefore = false, takesAfter = false }: Phrase,
  text: string,
  start: number,
): TextPart | undefined {
  const end = start + length;
  if (standsAlone && (isWord(text.charAt(start - 1)) || isWord(text.charAt(end)))) return undefined;
  return {
    start: takesBefore && isBase64(text.charAt(start - 1)) ? start - 1 : start,
    end: takesAfter && isBase64(text.charAt(end)) ? end + 1 : end,
  };
}

function isWord(character: string): boolean {
  return /^\w$/.test(character);
}

function isBase64(character: string): boolean {
  return /^[\w+/-]$/.test(character);
}
