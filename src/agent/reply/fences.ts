import { randomInt } from "node:crypto";

import { type CodeBlock, findCodeBlocks, mayBeProgram } from "../../frontend/index.ts";

/** Characters of words, without those that look alike. */
const CHARACTERS = "abcdefghijkmnpqrstuvwxyz23456789";
const WORD_UNITS = 6;

/**
 * Creates the word that the fences of programs carry in one conversation. Texts from outside do not know it, so a reply that
 * quotes one runs nothing.
 */
export function createFenceWord(): string {
  const characters = Array.from({ length: WORD_UNITS }, () => CHARACTERS[randomInt(CHARACTERS.length)]);
  return `run-${characters.join("")}`;
}

/** Finds the blocks whose fence carries the word. */
export function findPrograms(text: string, word: string): readonly CodeBlock[] {
  return findCodeBlocks(text, true).filter((block) => isProgram(text, block, word));
}

function isProgram(text: string, block: CodeBlock, word: string): boolean {
  return block.info.split(/[\s:]+/).includes(word) && readProgram(text, block, word).trim() !== "";
}

/** Returns the code of a block; some models begin it in the line of the fence. */
export function readProgram(text: string, { content }: CodeBlock, word: string): string {
  const code = text.slice(content.start, content.end);
  const inLine = code.trimStart();
  return (inLine.startsWith(word) ? inLine.slice(word.length) : code).replace(/^[ \t]*\n/, "");
}

/** A line of code outside of a fence. */
const CODE_LINE = /^\s*(?:(?:const|let|var)\s+[\w$]+\s*=\s*)?(?:await\s+)?devices?\s*\./;

/** Finds texts that a model may have meant as programs, though they are not in a fence with the word. */
export function findUnmarkedPrograms(text: string): readonly string[] {
  const blocks = findCodeBlocks(text, true);
  if (blocks.length === 0) return CODE_LINE.test(text) ? [text] : [];
  const likely = blocks.filter((block) => mayBeProgram(text, block));
  return likely.map(({ content }) => text.slice(content.start, content.end));
}

/** Formats what a model reads after a program without the word. */
export function formatFenceLesson(word: string): string {
  return `Nothing was run: a program runs only in a block that begins with the line
\`\`\`js ${word}
If your block is a program, send it again so. If it is a part of your answer, send the whole answer again.`;
}

/** Returns a result as a model may read it: its fences and tags of tool calls are broken, and it does not have the word. */
export function breakFences(text: string, word: string): string {
  return text
    .replaceAll(/`{3,}|~{3,}/g, (fence) => fence.split("").join(" "))
    .replaceAll(/<(\/?(?:tool|function)_calls?>)/g, "< $1")
    .replaceAll(word, "run-…");
}
