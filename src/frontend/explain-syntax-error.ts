import type { SourceFinding } from "../shared/source-text.ts";
import { PARSE_LIMITS, type ParseFailure } from "./limits/bounded-parser.ts";
import type { Habit } from "./habit.ts";
import { findPythonImport, PYTHON_EXPRESSIONS, PYTHON_STATEMENTS } from "./python.ts";

/** What a text that cannot be parsed most likely is, and what to write instead. The first that fits is told. */
const COMMON_MISTAKES: readonly Habit[] = [
  {
    line: /^\s*(?:import|export)\b/,
    code: "MODULE_FORBIDDEN",
    fix: "Leave it out: everything is on device, call await device.Skill.method(…)",
  },
  ...PYTHON_STATEMENTS,
  {
    message: /'with' in strict mode/,
    says: "with is not allowed",
    fix: "Use a variable, or take the names out: const { a, b } = object",
  },
  {
    message: /Deleting local variable/,
    says: "a variable cannot be deleted",
    fix: "Set it to undefined, or delete a property: delete object.key",
  },
  {
    message: /octal/i,
    says: "a number or an escape in the old octal form",
    fix: "Write 0o17 for octal numbers and \\x1F for characters",
  },
  {
    message: /keyword 'yield' is reserved/,
    says: "yield outside of a generator",
    fix: "Write yield only inside of function* …",
  },
  { message: /await/, says: "await is not allowed here", fix: "Await the value before, and use the variable here" },
  { message: /has already been declared|Argument name clash/, fix: "Use another name, or assign without const or let" },
  {
    line: /^\s*[A-Z][\w'’]*,?(?:\s+[\w'’]+[,:]?){3,}/,
    says: "a sentence where code was expected",
    fix: "Send only the program, or put it between ``` fences",
  },
  {
    line: /(?:^|return|[=(,?:])\s*<\/?[A-Za-z][\w.]*[\s>/]/,
    says: "a tag",
    fix: "Send only code; JSX and HTML are not available",
  },
  {
    message: /Unterminated template/,
    says: "a template string that does not end",
    fix: "Close it with a backtick; write \\` for one inside",
  },
  {
    message: /Unterminated string/,
    says: "a string that does not end in its line",
    fix: "Close it, write \\n for a line feed, or use a template string",
  },
  {
    message: /Unterminated regular expression/,
    says: "a regular expression that does not end",
    fix: "Close it with /; write \\/ for a slash inside",
  },
  { message: /Unterminated comment/, says: "a comment that does not end", fix: "Close it with */" },
  { message: /^Invalid regular expression/, fix: "Correct the pattern; escape the characters ^$\\.*+?()[]{}| with \\" },
  {
    here: /^@/,
    code: "NODE_FORBIDDEN",
    says: "decorator",
    fix: "Leave it out, or call the function yourself: const Decorated = decorate(Plain)",
  },
  {
    here: /^n/,
    message: /Unicode escape/,
    line: /\\n/,
    says: "a line feed that is written as \\n",
    fix: "Send real line feeds, not their escapes",
  },
  {
    here: /^(?:\.\.\.|[)\]};,])/,
    line: /(?:^|[[({,\s])\.\.\.\s*(?:[)\]},;]|$)/,
    says: "three dots in place of code",
    fix: "Write out what the dots stand for",
  },
  { here: /^[“”‘’„‚«»]/, says: "a typographic quotation mark", fix: "Write straight quotation marks: \" or '" },
  { here: /^#!/, says: "a line for the shell", fix: "Leave the line out" },
  { line: /^\s*#|\s#(?!\w)/, says: "# begins no comment here", fix: "Write // before comments" },
  ...PYTHON_EXPRESSIONS,
  {
    line: /^\s*(?:using|await using)\s/,
    code: "NODE_FORBIDDEN",
    says: "using",
    fix: "Write const, and try { … } finally { … }",
  },
  {
    line: /^\s*["']?[\w$-]+["']?\s*:|^\s*\{/,
    here: /^:/,
    says: "an object where a statement was expected",
    fix: "Write return before an object: return { … }",
  },
];

/** What the parser says, with what it did not know: which bracket is open, and which habit it met. */
export function explainFailure(text: string, { code, message, at }: ParseFailure): SourceFinding {
  const place = { start: at, end: Math.min(at + 1, text.length) };
  if (code === "DEPTH_LIMIT")
    return { code, values: `the limit is about ${Math.floor(PARSE_LIMITS.nesting / 9)} brackets`, ...place };
  if (code !== "SYNTAX") return { code, values: message, ...place };
  const imported = importAt(text, at) ?? importAt(text, text.slice(0, at).trimEnd().length);
  if (imported !== undefined) return imported;
  if (text.slice(at).trim() === "") return explainEnd(text, message, place);
  const here = text.slice(at, at + 200);
  const line = lineAt(text, at);
  const habit = COMMON_MISTAKES.find(
    (each) =>
      (each.message === undefined || each.message.test(message)) &&
      (each.line === undefined || each.line.test(line)) &&
      (each.here === undefined || each.here.test(here)),
  );
  const says = habit?.says ?? (habit?.code === undefined ? lowerFirst(message) : line.trim().slice(0, 60));
  return { code: habit?.code ?? "SYNTAX", values: says, ...place, ...(habit && { fix: habit.fix }) };
}

/** The import of Python in the line of a place. The parser misses nothing before the first word after `import os`. */
function importAt(text: string, at: number): SourceFinding | undefined {
  const line = lineAt(text, at);
  const found = findPythonImport(line);
  if (found === undefined) return undefined;
  const start = text.lastIndexOf("\n", at - 1) + 1 + line.search(/\S/);
  return { ...found, start, end: start + line.trim().length };
}

/** A text that ends too early was often cut off. */
function explainEnd(
  text: string,
  message: string,
  place: { readonly start: number; readonly end: number },
): SourceFinding {
  const open = openBracket(text);
  const values =
    open === undefined
      ? lowerFirst(message)
      : `the text ends before the ${text[open]} in line ${lineNumber(text, open)} is closed`;
  return { code: "SYNTAX", values, ...place, fix: "Send the whole program, with every bracket closed" };
}

/** The innermost bracket that is still open at the end. Strings and comments are left out, as far as one look tells. */
function openBracket(text: string): number | undefined {
  const open: number[] = [];
  for (const { 0: found, index } of text.matchAll(/\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[([{}\])]/g)) {
    if (found === "(" || found === "[" || found === "{") open.push(index);
    else if (found === ")" || found === "]" || found === "}") open.pop();
  }
  return open.at(-1);
}

function lineNumber(text: string, at: number): number {
  return text.slice(0, at).split("\n").length;
}

/** At most 200 characters before and after. */
function lineAt(text: string, at: number): string {
  const start = Math.max(text.lastIndexOf("\n", at - 1) + 1, at - 200);
  const feed = text.indexOf("\n", at);
  return text.slice(start, Math.min(feed < 0 ? text.length : feed, at + 200));
}

function lowerFirst(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1);
}
