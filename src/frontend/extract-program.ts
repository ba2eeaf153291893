import { blankOut, blankOutAround, type Span } from "./blank-out.ts";
import { CODE, iterateLines } from "./fences.ts";
import { parseProgram, type ParsedProgram } from "./parse-program.ts";

/** A program that was found inside a text that does not parse as a whole. */
interface ProgramText {
  readonly result: ParsedProgram;
  /** The text that was ignored. */
  readonly note: string;
}

/** The reasoning that some models write before the program. */
const THINKING = /^\s*<(think|thinking|thought|reasoning|scratchpad)>[^]*?<\/\1>/i;

/** Tags that models are trained to put around code. */
const OPENING =
  /<(tool_code|code|execute|execute_code|execute_python|code_execution|run_code|run|program|python|ipython|javascript|js|typescript|script)(?:\s[^<>\n]{0,100})?>/gi;

/** Words that begin lines of code, also in Python. */
const KEYWORD =
  /^(?:import|from|def|class|if|for|while|elif|else|try|except|finally|with|raise|assert|lambda|pass|export|del|global|print|switch|case|do|yield)\b/;

/** `- Then`, `2. Then` or `"Then`, without any character that only code has. */
const SENTENCE = /^(?:[-*•#>]+\s+|\d{1,3}[.)]\s+)?["'“(*_]*\p{L}[^;{}=<>]*$/u;

/** Looks for the program between the tags, or between the sentences, of a text that could not be parsed. */
export function extractProgram(text: string): ProgramText | undefined {
  const thought = THINKING.exec(text)?.[0] ?? "";
  const visible = blankOut(text, [{ start: 0, end: thought.length }]);
  const tagged = betweenTags(visible);
  const inside = tagged === undefined ? visible : blankOutAround(visible, tagged.content);
  const what = tagged === undefined ? "Thoughts before the program were" : `The text outside <${tagged.name}> was`;
  if (inside !== text) {
    const result = parseProgram(inside);
    if (result.kind === "read") return { result, note: `${what} ignored` };
  }
  const program = withoutSentences(inside);
  const result = program === undefined ? undefined : parseProgram(program);
  return result?.kind === "read" ? { result, note: "The sentences around the program were ignored" } : undefined;
}

/** The content of the only such tag; `undefined` if there is not exactly one. */
function betweenTags(text: string): { readonly name: string; readonly content: Span } | undefined {
  const [opening, ...others] = text.matchAll(OPENING);
  const name = opening?.[1];
  if (opening === undefined || name === undefined || others.length > 0) return undefined;
  const start = opening.index + opening[0].length;
  const end = text.indexOf(`</${name}>`, start);
  return { name: name.toLowerCase(), content: { start, end: end < 0 ? text.length : end } };
}

/** Blanks the sentences at both ends of the text; `undefined` if there are none, or if no code is left. */
function withoutSentences(text: string): string | undefined {
  const lines = [...iterateLines(text)];
  const isBlank = ({ start, end }: Span): boolean => text.slice(start, end).trim() === "";
  const isOutside = (line: Span): boolean => isBlank(line) || isSentence(text.slice(line.start, line.end).trim());
  const first = lines.findIndex((line) => !isOutside(line));
  const last = lines.findLastIndex((line) => !isOutside(line));
  const [from, to] = [lines[first], lines[last]];
  if (from === undefined || to === undefined) return undefined;
  const program = { start: from.start, end: to.end };
  const isWhole = isBlank({ start: 0, end: program.start }) && isBlank({ start: program.end, end: text.length });
  return isWhole || !CODE.test(text.slice(program.start, program.end)) ? undefined : blankOutAround(text, program);
}

/** True for three words, for two words with final punctuation, and for a title that ends with a colon. */
function isSentence(line: string): boolean {
  if (line.length > 1_000 || KEYWORD.test(line) || CODE.test(line) || !SENTENCE.test(line)) return false;
  if (/^\p{Lu}\p{L}*:$/u.test(line)) return true;
  const words = line.split(/\s+/).filter((word) => /^["'“(*_`]*\p{L}[\p{L}'’`*_-]*[.,:!?)"'”*_`]*$/u.test(word));
  return words.length >= (/[.:!?]["'”)*_]*$/.test(line) ? 2 : 3);
}
