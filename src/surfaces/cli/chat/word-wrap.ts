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
