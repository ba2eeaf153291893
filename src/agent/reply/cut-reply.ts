import { type CodeBlock, findCodeBlocks, findProgramBlocks } from "../../frontend/index.ts";

/** Maximum programs of one reply. */
export const MAX_PROGRAMS = 3;

/** The beginning of a block that may become a program. */
const PROGRAM_OPENING =
  /^```[ \t]*(?:[jt]sx?|mjs|cjs|mts|node|javascript|typescript|ecmascript|tool[_-]?code)?[ \t]*\n/i;

/**
 * Cuts a streamed reply behind its programs, because a model that does not stop there invents their results. Blocks that
 * follow each other directly count as the programs of one reply.
 */
export class ReplyCutter {
  #text = "";
  #shownUnits = 0;
  #isCut = false;

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
    if (!this.#text.includes("```")) return this.#show(this.#text.length);
    const programs = findProgramBlocks(this.#text);
    const closed = programs.filter((block) => isComplete(this.#text, block));
    const last = closed.at(-1);
    if (last === undefined || programs.length > closed.length) return this.#show(this.#text.length);
    const rest = this.#text.slice(last.end).trimStart();
    this.#isCut = closed.length >= MAX_PROGRAMS || !mayBecomeProgram(rest);
    if (this.#isCut) this.#text = this.#text.slice(0, last.end);
    return this.#show(last.end);
  }

  /** Returns the rest at the end of the reply; text between the last program and the end is dropped. */
  end(): string {
    const last = findProgramBlocks(this.#text).at(-1);
    if (last !== undefined) this.#text = this.#text.slice(0, last.end);
    return this.#show(this.#text.length);
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

function mayBecomeProgram(rest: string): boolean {
  if ("```".startsWith(rest.slice(0, 3))) {
    if (!rest.includes("\n")) return true;
    const [block] = findCodeBlocks(rest);
    return PROGRAM_OPENING.test(rest) && block !== undefined && !isComplete(rest, block);
  }
  return false;
}
