import type { SourceFinding } from "../shared/source-text.ts";
import { blankOutAround, type Span } from "./blank-out.ts";
import { ParseFailure } from "./limits/bounded-parser.ts";
import { parseJavaScript } from "./limits/parser.ts";

/** The program inside Markdown, or the reason why it is unclear which block is the program. */
export type FencedCode =
  | { readonly kind: "text"; readonly text: string; readonly notes: readonly string[] }
  | { readonly kind: "unclear"; readonly finding: SourceFinding };

/** A fenced block: its whole span and the span between its fences. */
export interface CodeBlock extends Span {
  readonly language: string;
  /** The words behind the opening fence; the first is the language. */
  readonly info: string;
  readonly content: Span;
  /** True if the closing fence is there. */
  readonly isClosed: boolean;
}

const LANGUAGES: ReadonlySet<string> = new Set(
  "js javascript jsx mjs cjs node ecmascript ts typescript tsx mts tool_code tool-code toolcode".split(" "),
);

const LINE_OF_CODE = /^\s*(`{1,3})(?:(?:js|javascript|ts|typescript|tool_code)\s+)?([^`\n]+)\1\s*$/;
const DEVICE = /\b(?:devices?|default_api)\s*(?:\?\.|[.[])/;
/** Matches text that only code contains. */
export const CODE =
  /\b(?:devices?|default_api)\s*(?:\?\.|[.[])|;\s*$|^\s*(?:const|let|var|return|await|function|async|for|while|throw|if)\b/m;

/**
 * Removes Markdown fences and a language tag that stands alone in the first line. Blanks everything outside, so that
 * lines and columns stay. Takes one block: the only one, the only JavaScript block, or the only one that uses `device`.
 */
export function removeFences(text: string): FencedCode {
  const blocks = findCodeBlocks(text);
  if (blocks.length === 0) return { kind: "text", text: withoutTag(withoutTicks(text)), notes: [] };
  const stray = strayFence(text, blocks);
  if (stray !== undefined) return { kind: "text", text: withoutTag(blankOutAround(text, stray)), notes: [] };
  const filled = blocks.filter(({ content }) => text.slice(content.start, content.end).trim() !== "");
  const chosen = choose(text, filled);
  if (chosen === undefined) return { kind: "unclear", finding: tooManyBlocks(filled) };
  const outside = codeOutside(text, blocks);
  if (outside !== undefined) return { kind: "unclear", finding: outside };
  const ignoredBlocks = filled.length - 1;
  const notes =
    ignoredBlocks > 0 ? [`Only one of ${filled.length} code blocks was read, the one ${whyChosen(chosen)}`] : [];
  return { kind: "text", text: withoutTag(blankOutAround(text, chosen.content)), notes };
}

/** True for a block that may be a program: it is marked as JavaScript or not marked, and uses `device`. */
export function mayBeProgram(text: string, { language, content }: CodeBlock): boolean {
  return (language === "" || LANGUAGES.has(language)) && DEVICE.test(text.slice(content.start, content.end));
}

/** Three backticks at the start of a line are always a fence; in code, tildes are one only if the text begins with them. */
export function findCodeBlocks(text: string, tildes = text.trimStart().startsWith("~~~")): readonly CodeBlock[] {
  if (!tildes && !text.includes("```")) return [];
  const blocks: CodeBlock[] = [];
  let open: Opening | undefined;
  for (const { start, end } of iterateLines(text)) {
    const line = text.slice(start, end);
    if (open === undefined) {
      open = matchOpening(line, start, tildes);
    } else if (isClosing(line, open.fence)) {
      const content = { start: open.content, end: start };
      blocks.push({ start: open.start, end, language: open.language, info: open.info, content, isClosed: true });
      open = undefined;
    }
  }
  if (open !== undefined) {
    const content = { start: open.content, end: text.length };
    const { start, language, info } = open;
    blocks.push({ start, end: text.length, language, info, content, isClosed: false });
  }
  return blocks;
}

interface Opening {
  readonly start: number;
  readonly fence: string;
  readonly language: string;
  readonly info: string;
  /** Offset of the code. */
  readonly content: number;
}

/** Parses the line of an opening fence; some models write code in the same line. */
function matchOpening(line: string, start: number, tildes: boolean): Opening | undefined {
  const fence = (tildes ? /^[ \t]*(`{3,}|~{3,})/ : /^[ \t]*(`{3,})/).exec(line);
  if (fence?.[1] === undefined) return undefined;
  const rest = line.slice(fence[0].length);
  if (rest.includes("`")) return undefined;
  const language = rest.trimStart().split(/\s/, 1)[0] ?? "";
  const code = rest.slice(rest.indexOf(language) + language.length);
  const content = start + line.length - (CODE.test(code) ? code.length : 0);
  return { start, fence: fence[1], language: language.toLowerCase(), info: rest.trim(), content };
}

export function* iterateLines(text: string): Iterable<Span> {
  let start = 0;
  while (start <= text.length) {
    const feed = text.indexOf("\n", start);
    const end = feed < 0 ? text.length : feed;
    yield { start, end };
    start = end + 1;
  }
}

function isClosing(line: string, fence: string): boolean {
  const bare = line.trim();
  return bare.length >= fence.length && bare === (fence[0] ?? "").repeat(bare.length);
}

/** Finds a single closing fence without an opening fence; returns the text before it. */
function strayFence(text: string, blocks: readonly CodeBlock[]): Span | undefined {
  const [block] = blocks;
  if (blocks.length > 1 || block === undefined || block.language !== "" || block.end < text.length) return undefined;
  if (text.slice(block.content.start).trim() !== "" || text.slice(0, block.start).trim() === "") return undefined;
  return { start: 0, end: block.start };
}

function choose(text: string, blocks: readonly CodeBlock[]): CodeBlock | undefined {
  if (blocks.length <= 1)
    return blocks[0] ?? { start: 0, end: 0, language: "", info: "", content: { start: 0, end: 0 }, isClosed: true };
  const labelled = blocks.filter(({ language }) => LANGUAGES.has(language));
  if (labelled.length === 1) return labelled[0];
  const pool = labelled.length > 1 ? labelled : blocks;
  const using = pool.filter(({ content }) => DEVICE.test(text.slice(content.start, content.end)));
  return using.length === 1 ? using[0] : undefined;
}

function whyChosen({ language }: CodeBlock): string {
  return LANGUAGES.has(language) ? `marked ${language}` : "that uses device";
}

function tooManyBlocks(blocks: readonly CodeBlock[]): SourceFinding {
  const second = blocks[1] ?? { start: 0, end: 0 };
  return {
    code: "SYNTAX",
    values: `${blocks.length} code blocks; cannot tell which one to run`,
    start: second.start,
    end: second.start + 3,
    fix: "Send one block with the whole program",
  };
}

/** Finds code outside the blocks. The text around the blocks counts as prose, so such code would silently not run. */
function codeOutside(text: string, blocks: readonly CodeBlock[]): SourceFinding | undefined {
  let at = 0;
  for (const { start, end } of [...blocks, { start: text.length, end: text.length }]) {
    const found = codeIn(text, { start: at, end: start });
    if (found !== undefined) {
      const values = "found code outside the code block";
      return { code: "SYNTAX", values, ...found, fix: "Send all code in one block, with only prose around it" };
    }
    at = end;
  }
  return undefined;
}

function codeIn(text: string, span: Span): Span | undefined {
  const part = text.slice(span.start, span.end);
  if (!CODE.test(part)) return undefined;
  if (parses(part)) return trimmed(text, span);
  for (const line of iterateLines(part)) {
    const code = part.slice(line.start, line.end);
    if (DEVICE.test(code) && parses(code)) {
      return trimmed(text, { start: span.start + line.start, end: span.start + line.end });
    }
  }
  return undefined;
}

function parses(code: string): boolean {
  try {
    parseJavaScript(code);
    return true;
  } catch (thrown) {
    if (thrown instanceof ParseFailure) return false;
    throw thrown;
  }
}

function trimmed(text: string, { start, end }: Span): Span {
  const part = text.slice(start, end);
  return { start: start + part.length - part.trimStart().length, end: start + part.trimEnd().length };
}

/** Removes backticks around a program of one line; it would otherwise parse as a template string. */
function withoutTicks(text: string): string {
  const match = LINE_OF_CODE.exec(text);
  const code = match?.[2];
  // Where only the `${…}` parts contain code, the template string itself is meant.
  if (code === undefined || !DEVICE.test(code.replace(/\$\{.*\}/, ""))) return text;
  const start = text.indexOf(code);
  return blankOutAround(text, { start, end: start + code.length });
}

function withoutTag(text: string): string {
  const match = /^\s*([\w-]{2,12}):?[ \t]*\r?\n/.exec(text);
  if (match?.[1] === undefined || !LANGUAGES.has(match[1].toLowerCase())) return text;
  return text.slice(match[0].length).trim() === ""
    ? text
    : blankOutAround(text, { start: match[0].length, end: text.length });
}
