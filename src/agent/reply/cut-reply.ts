import { type CodeBlock, findCodeBlocks } from "../../frontend/index.ts";
import { findPrograms } from "./fences.ts";

/** Maximum programs of one reply. */
export const MAX_PROGRAMS = 3;

/**
 * Cuts a streamed reply behind its programs, because a model that does not stop there invents their results. Blocks that
 * follow each other directly count as the programs of one reply.
 */
export class ReplyCutter {
  readonly #word: string;
  #text = "";
  /** The end of the text, as long as the word could begin in it; `undefined` once the word was found. */
  #tail: string | undefined = "";
  #shownUnits = 0;
  #isCut = false;

  /** `word` marks the fences of programs. */
  constructor(word: string) {
    this.#word = word;
  }

  /** Whether the rest of the reply is not wanted. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** The reply so far, without the part that was cut off. */
  get text(): string {
    return this.#text;
  }

  /** Returns the part of the reply that can be shown. */
  push(delta: string): string {
    if (this.#isCut) return "";
    this.#text += delta;
    if (!this.#findWord(delta)) {
      this.#shownUnits = this.#text.length;
      return delta;
    }
    const programs = findPrograms(this.#text, this.#word);
    const closed = programs.filter((block) => isComplete(this.#text, block));
    const last = closed.at(-1);
    if (last === undefined || programs.length > closed.length) return this.#show(this.#text.length);
    const rest = this.#text.slice(last.end).trimStart();
    this.#isCut = closed.length >= MAX_PROGRAMS || !mayBecomeProgram(rest, this.#word);
    if (this.#isCut) this.#text = this.#text.slice(0, last.end);
    return this.#show(last.end);
  }

  /** Returns the rest at the end of the reply; text between the last program and the end is dropped. */
  end(): string {
    const last = findPrograms(this.#text, this.#word).at(-1);
    if (last !== undefined) this.#text = this.#text.slice(0, last.end);
    return this.#show(this.#text.length);
  }

  /** Searches only the end of the text: to search all of a long one for each delta takes minutes. */
  #findWord(delta: string): boolean {
    if (this.#tail === undefined) return true;
    const tail = this.#tail + delta;
    this.#tail = tail.includes(this.#word) ? undefined : tail.slice(-this.#word.length);
    return this.#tail === undefined;
  }

  #show(end: number): string {
    const text = this.#text.slice(this.#shownUnits, end);
    this.#shownUnits = Math.max(this.#shownUnits, end);
    return text;
  }
}

/** True if the line of the closing fence is complete. */
function isComplete(text: string, { isClosed, end }: CodeBlock): boolean {
  return isClosed && text[end] === "\n";
}

function mayBecomeProgram(rest: string, word: string): boolean {
  const beginning = rest.slice(0, 3);
  if (!"```".startsWith(beginning) && !"~~~".startsWith(beginning)) return false;
  if (!rest.includes("\n")) return true;
  const [block] = findCodeBlocks(rest, true);
  return block?.start === 0 && block.info.includes(word) && !isComplete(rest, block);
}
