import { escapeControls } from "../../../shared/visible-text.ts";
import { lines, table } from "../text/layout.ts";
import type { Paint } from "../terminal/terminal.ts";
import { getColumns, WordWriter } from "./word-wrap.ts";

/** Shows Markdown while it arrives. */
export interface MarkdownWriter {
  add(text: string): void;
  /** Writes what was held back, and ends the line. */
  end(): void;
}

/** Text in which no mark is complete is held back up to this many units. */
const MAX_HELD_UNITS = 600;

/** The beginning of a line that may become a heading, a list, a quote, a fence or a rule. */
const OPEN_BLOCK = /^[ \t]*(?:#{1,6}|[-*+_ ]+|\d{1,9}[.)]?|`+|~+|>)?[ \t]*$/;
const FENCE = /^[ \t]*(`{3,}|~{3,})/;
const TABLE_ROW = /^[ \t]*\|/;
const RULE = /^[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const HEADING = /^#{1,6}[ \t]+/;
const LIST_ITEM = /^([ \t]*)([-*+]|\d{1,9}[.)])[ \t]+/;
const QUOTE = /^[ \t]*>[ \t]?/;

/** Parts of a line: code and strong text of limited length, spaces, words, and marks that mean nothing. */
const CODE = /^`([^`\n]{1,500})`/;
const STRONG = /^\*\*(?=[^\s*])([^\n]{0,500}?[^\s*])\*\*/;
const SPACES = /^[ \t]+/;
const WORD = /^[^\s`*]+/;
const OPEN_MARK = /^(?:`[^`\n]*|\*\*[^\n]*|\*)$/;

interface MarkdownOptions {
  readonly write: (text: string) => void;
  readonly paint: Paint;
  /** Returns the columns of the terminal. */
  readonly getWidth: () => number;
}

/**
 * Creates a writer that shows a word when it is complete, and breaks lines between words. Marks become colours; without
 * colours they stay. Characters that a terminal obeys are shown as escapes.
 */
export function createMarkdownWriter(options: MarkdownOptions): MarkdownWriter {
  return new MarkdownLines(options);
}

class MarkdownLines implements MarkdownWriter {
  readonly #write: (text: string) => void;
  readonly #paint: Paint;
  readonly #getWidth: () => number;
  readonly #words: WordWriter;
  #pending = "";
  #isInLine = false;
  /** The mark that ends a block of code. */
  #fence: string | undefined;
  #rows: string[] = [];
  #style: (text: string) => string = String;

  constructor({ write, paint, getWidth }: MarkdownOptions) {
    this.#write = write;
    this.#paint = paint;
    this.#getWidth = getWidth;
    this.#words = new WordWriter(write, getWidth);
  }

  add(text: string): void {
    this.#pending += escapeControls(text.replaceAll("\r\n", "\n"));
    while (this.#pending !== "" && this.#takeNext()) {
      // each step takes a part of the held text
    }
  }

  end(): void {
    if (this.#pending !== "" || this.#isInLine) this.add("\n");
    this.#endTable();
    this.#fence = undefined;
  }

  /** Returns false if more text is needed. */
  #takeNext(): boolean {
    return this.#isInLine ? this.#takePart() : this.#takeBlock();
  }

  #takeBlock(): boolean {
    const end = this.#pending.indexOf("\n");
    const line = end < 0 ? this.#pending : this.#pending.slice(0, end);
    if (this.#fence !== undefined || FENCE.test(line)) return this.#takeLine(end, (row) => this.#writeCode(row));
    if (TABLE_ROW.test(line)) return this.#takeLine(end, (row) => void this.#rows.push(row));
    if (end < 0 && OPEN_BLOCK.test(line) && line.length < MAX_HELD_UNITS) return false;
    this.#endTable();
    if (RULE.test(line))
      return this.#takeLine(end, () => this.#write(`${this.#paint.dim("─".repeat(RULE_COLUMNS))}\n`));
    this.#startLine(line);
    return true;
  }

  #takeLine(end: number, use: (row: string) => void): boolean {
    if (end < 0) return false;
    const row = this.#pending.slice(0, end);
    this.#pending = this.#pending.slice(end + 1);
    use(row);
    return true;
  }

  #writeCode(row: string): void {
    const mark = FENCE.exec(row)?.[1];
    const isMark = this.#fence === undefined || (mark?.startsWith(this.#fence) === true && row.trim() === mark);
    if (isMark) this.#fence = this.#fence === undefined ? mark : undefined;
    if (!this.#paint.isColorSupported) this.#write(`${row}\n`);
    else if (!isMark) this.#write(`  ${this.#paint.cyan(row)}\n`);
  }

  #endTable(): void {
    if (this.#rows.length === 0) return;
    const text = formatTable(this.#rows, this.#getWidth());
    this.#rows = [];
    this.#write(`${text}\n`);
  }

  /** Takes the mark of a block. */
  #startLine(line: string): void {
    const { dim, bold, isColorSupported } = this.#paint;
    this.#isInLine = true;
    this.#style = String;
    const [mark = ""] = HEADING.exec(line) ?? LIST_ITEM.exec(line) ?? QUOTE.exec(line) ?? [];
    if (mark === "") return;
    this.#pending = this.#pending.slice(mark.length);
    if (HEADING.test(line)) {
      this.#style = bold;
      if (!isColorSupported) this.#words.startLine(mark, mark.replaceAll(/./g, " "));
    } else if (QUOTE.test(line)) this.#words.startLine(isColorSupported ? dim("│ ") : "> ", "  ");
    else {
      const markText = isColorSupported ? mark.replace(/[-*+](?=[ \t]+$)/, "•") : mark;
      this.#words.startLine(markText, " ".repeat(getColumns(mark)));
    }
  }

  #takePart(): boolean {
    const pending = this.#pending;
    if (pending.startsWith("\n")) {
      this.#words.endLine();
      this.#isInLine = false;
      return this.#take(1);
    }
    const { cyan, bold, isColorSupported } = this.#paint;
    const code = CODE.exec(pending);
    if (code !== null) return this.#takeSpan(code, isColorSupported ? cyan : undefined);
    const strong = STRONG.exec(pending);
    if (strong !== null) return this.#takeSpan(strong, isColorSupported ? bold : undefined);
    if (OPEN_MARK.test(pending) && pending.length < MAX_HELD_UNITS) return false;
    const spaces = SPACES.exec(pending)?.[0];
    if (spaces !== undefined) {
      this.#words.addSpaces(spaces);
      return this.#take(spaces.length);
    }
    const word = WORD.exec(pending)?.[0] ?? pending.slice(0, 1);
    if (word.length === pending.length && word.length < MAX_HELD_UNITS) return false;
    this.#words.addPiece({ text: word, painted: this.#style(word) });
    return this.#take(word.length);
  }

  /** Adds the words of code or strong text; without a style, with its marks. */
  #takeSpan([whole, inner = ""]: RegExpExecArray, style: ((text: string) => string) | undefined): boolean {
    const text = style === undefined ? whole : inner.replaceAll("`", "");
    for (const part of text.match(/[ \t]+|[^ \t]+/g) ?? [])
      if (part.trim() === "") this.#words.addSpaces(part);
      else this.#words.addPiece({ text: part, painted: (style ?? this.#style)(part) });
    return this.#take(whole.length);
  }

  #take(length: number): true {
    this.#pending = this.#pending.slice(length);
    return true;
  }
}

const RULE_COLUMNS = 20;

/** Aligns the cells of a table; a table that is too wide for the terminal stays as it was written. */
function formatTable(rows: readonly string[], columns: number): string {
  const cells = rows.map((row) =>
    row
      .trim()
      .replace(/^\||\|$/g, "")
      .split("|")
      .map((cell) => cell.trim()),
  );
  const isDivider = (row: readonly string[]): boolean => row.every((cell) => /^:?-+:?$/.test(cell));
  const aligned = table(cells.filter((row) => !isDivider(row)));
  return aligned.every((row) => getColumns(row) <= columns) ? lines(aligned) : rows.join("\n");
}
