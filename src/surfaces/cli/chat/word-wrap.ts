import { stripVTControlCharacters } from "node:util";

/** Characters that fill two columns of a terminal. */
const WIDE =
  /[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303F\uFF01-\uFF60]/gu;

/** Characters that fill none: combining marks, joiners and variation selectors. */
const NARROW = /[\p{M}\p{Default_Ignorable_Code_Point}]/gu;

/** Returns the number of columns that a text without colours fills. */
export function getColumns(text: string): number {
  const visible = text.replace(NARROW, "");
  return (visible.match(/[^]/gu)?.length ?? 0) + (visible.match(WIDE)?.length ?? 0);
}

/** The beginning of a line that its further rows keep free: spaces, and the number of a line of code. */
const MARGIN = /^ *(?:\d+ {2})?/;

/** Breaks lines that are longer than `width` columns between words. Colours do not count. */
export function wrapLines(text: string, width: number): string {
  return text
    .split("\n")
    .map((line) => wrapLine(line, width))
    .join("\n");
}

function wrapLine(line: string, width: number): string {
  const visible = stripVTControlCharacters(line);
  if (getColumns(visible) <= width) return line;
  const indent = " ".repeat(Math.min(MARGIN.exec(visible)?.[0].length ?? 0, Math.floor(width / 2)));
  let wrapped = "";
  let columns = 0;
  for (const [word] of line.matchAll(/\s*\S+/g)) {
    const length = getColumns(stripVTControlCharacters(word));
    if (columns > indent.length && columns + length > width) {
      wrapped += `\n${indent}${word.trimStart()}`;
      columns = indent.length + getColumns(stripVTControlCharacters(word.trimStart()));
    } else {
      wrapped += word;
      columns += length;
    }
  }
  return wrapped;
}

/** A part of a word: its text, and the same with colours. */
export interface Piece {
  readonly text: string;
  readonly painted: string;
}

/** Writes words, and breaks lines between them. Words are written when they are complete. */
export class WordWriter {
  readonly #write: (text: string) => void;
  readonly #getWidth: () => number;
  #column = 0;
  #spaces = "";
  #word = "";
  #wordColumns = 0;
  /** Begins each further line of a paragraph. */
  #indent = "";

  constructor(write: (text: string) => void, getWidth: () => number) {
    this.#write = write;
    this.#getWidth = getWidth;
  }

  /** Begins a line with a mark that is not broken, such as that of a list; `indent` begins the lines after it. */
  startLine(mark: string, indent: string): void {
    this.#write(mark);
    this.#column = getColumns(indent);
    this.#indent = indent;
  }

  addPiece({ text, painted }: Piece): void {
    this.#word += painted;
    this.#wordColumns += getColumns(text);
  }

  addSpaces(spaces: string): void {
    this.endWord();
    this.#spaces += spaces;
  }

  endWord(): void {
    if (this.#wordColumns === 0 && this.#word === "") return;
    const isTooLong = this.#column + this.#spaces.length + this.#wordColumns > this.#getWidth();
    if (isTooLong && this.#column > getColumns(this.#indent)) {
      this.#write(`\n${this.#indent}${this.#word}`);
      this.#column = getColumns(this.#indent) + this.#wordColumns;
    } else {
      this.#write(this.#spaces + this.#word);
      this.#column += this.#spaces.length + this.#wordColumns;
    }
    [this.#spaces, this.#word, this.#wordColumns] = ["", "", 0];
  }

  endLine(): void {
    this.endWord();
    this.#write("\n");
    [this.#spaces, this.#indent, this.#column] = ["", "", 0];
  }

  /** True if nothing was written on the line. */
  get isAtLineStart(): boolean {
    return this.#column === 0 && this.#word === "";
  }
}
