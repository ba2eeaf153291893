import type { SourceFinding } from "../shared/source-text.ts";
import { PARSE_LIMITS, type ParseFailure } from "./limits/bounded-parser.ts";
import type { Habit } from "./habit.ts";
import { findPythonImport, PYTHON_EXPRESSIONS, PYTHON_STATEMENTS } from "./python.ts";
import { truncateText } from "../shared/format-text.ts";

const ESCAPED = { says: "an escape of HTML", fix: "Write the characters themselves: <, > and &" };

/** Common mistakes in a text that cannot be parsed, each with a fix. The first match is reported. */
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
    fix: "Use a variable, or destructure: const { a, b } = object",
  },
  {
    message: /Deleting local variable/,
    says: "a variable cannot be deleted",
    fix: "Set it to undefined, or delete a property: delete object.key",
  },
  {
    message: /octal/i,
    says: "a legacy octal number or escape",
    fix: "Write 0o17 for octal numbers and \\x1F for characters",
  },
  {
    message: /keyword 'yield' is reserved/,
    says: "yield outside of a generator",
    fix: "Write yield only inside of function* …",
  },
  { message: /await/, says: "await is not allowed here", fix: "Await the value first, then use the variable here" },
  {
    line: /^\s*(?:if|else|for|while)\b[^{]*\bfunction\b/,
    here: /^function\b/,
    says: "a function declaration without braces",
    fix: "Put it into braces: if (…) { function … }",
  },
  {
    line: /(?:^|[{;])\s*(?:static\s+)?accessor\s+[#\w$]/,
    says: "an accessor field",
    fix: "Leave accessor out: a field does the same",
  },
  { message: /has already been declared|Argument name clash/, fix: "Use another name, or assign without const or let" },
  {
    line: /^\s*[A-Z][\w'’]*,?(?:\s+[\w'’]+[,:]?){3,}/,
    says: "a sentence where code was expected",
    fix: "Send only the program, or put it between ``` fences",
  },
  {
    line: /(?:^|return|=>|&&|[=(,?:])\s*<\/?[A-Za-z][\w.]*[\s>/]/,
    says: "a JSX or HTML tag",
    fix: "Send only code; JSX and HTML are not available",
  },
  {
    message: /Unterminated template/,
    says: "an unterminated template string",
    fix: "Close it with a backtick; write \\` for one inside",
  },
  {
    message: /Unterminated string/,
    says: "an unterminated string",
    fix: "Close it, write \\n for a line feed, or use a template string",
  },
  {
    message: /Unterminated regular expression/,
    says: "an unterminated regular expression",
    fix: "Close it with /; write \\/ for a slash inside",
  },
  { message: /Unterminated comment/, says: "an unterminated comment", fix: "Close it with */" },
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
    says: "a line feed written as \\n",
    fix: "Send real line feeds instead of escapes",
  },
  {
    here: /^(?:\.\.\.|[)\]};,])/,
    line: /(?:^|[[({,\s])\.\.\.\s*(?:[)\]},;]|$)/,
    says: "three dots in place of code",
    fix: "Write the omitted code",
  },
  { here: /^[“”‘’„‚«»]/, says: "a typographic quotation mark", fix: "Write straight quotation marks: \" or '" },
  { here: /^#!/, says: "a shebang line", fix: "Remove the line" },
  { line: /^\s*#|\s#(?!\w)/, says: "# does not begin a comment", fix: "Write // before comments" },
  ...PYTHON_EXPRESSIONS,
  {
    line: /^\s*(?:using|await using)\s/,
    code: "NODE_FORBIDDEN",
    says: "using",
    fix: "Write const, and try { … } finally { … }",
  },
  {
    line: /^\s*\{?\s*"(?:code|program|script|source)"\s*:\s*"/,
    here: /^:/,
    says: "JSON around the program",
    fix: "Send the program itself: the text in the JSON, without its quotation marks and escapes",
  },
  { here: /^&(?:amp|gt|lt);/, ...ESCAPED },
  { before: /&(?:amp|gt|lt)$/, here: /^;/, ...ESCAPED },
  {
    before: /["'`]$/,
    here: /^[\w$]/,
    says: "a word directly after a string",
    fix: "Write \\ before a quotation mark inside of the string, or a comma or + after the string",
  },
  {
    line: /^\s*["']?[\w$-]+["']?\s*:|^\s*\{/,
    here: /^:/,
    says: "an object where a statement was expected",
    fix: "Write return before an object: return { … }",
  },
];

/** Turns a parse failure into a finding; adds the unclosed bracket or the common mistake, if either is found. */
export function explainFailure(text: string, { code, message, at }: ParseFailure): SourceFinding {
  const range = { start: at, end: Math.min(at + 1, text.length) };
  if (code === "DEPTH_LIMIT")
    return { code, values: `the limit is about ${Math.floor(PARSE_LIMITS.nesting / 9)} nested brackets`, ...range };
  if (code !== "SYNTAX") return { code, values: message, ...range };
  const imported = importAt(text, at) ?? importAt(text, text.slice(0, at).trimEnd().length);
  if (imported !== undefined) return imported;
  if (text.slice(at).trim() === "") return explainEnd(text, message, range);
  const here = text.slice(at, at + 200);
  const line = lineAt(text, at);
  const before = text.slice(Math.max(text.lastIndexOf("\n", at - 1) + 1, at - 200), at);
  const habit = COMMON_MISTAKES.find(
    (each) =>
      (each.message === undefined || each.message.test(message)) &&
      (each.line === undefined || each.line.test(line)) &&
      (each.here === undefined || each.here.test(here)) &&
      (each.before === undefined || each.before.test(before)),
  );
  const says = habit?.says ?? (habit?.code === undefined ? lowerFirst(message) : truncateText(line.trim(), 60));
  return { code: habit?.code ?? "SYNTAX", values: says, ...range, ...(habit && { fix: habit.fix }) };
}

/** Finds a Python import in the line at `at`. The parser fails only at the first word after `import os`. */
function importAt(text: string, at: number): SourceFinding | undefined {
  const line = lineAt(text, at);
  const found = findPythonImport(line);
  if (found === undefined) return undefined;
  const start = text.lastIndexOf("\n", at - 1) + 1 + line.search(/\S/);
  return { ...found, start, end: start + line.trim().length };
}

/** Explains a failure at the end of the text: the text was often cut off. */
function explainEnd(
  text: string,
  message: string,
  range: { readonly start: number; readonly end: number },
): SourceFinding {
  const open = openBracket(text);
  const values =
    open === undefined
      ? lowerFirst(message)
      : `the text ends before the ${text[open]} in line ${lineNumber(text, open)} is closed`;
  return { code: "SYNTAX", values, ...range, fix: "Send the whole program, with every bracket closed" };
}

/** Finds the innermost bracket that is open at the end. Ignores strings in quotation marks and line comments. */
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

/** The line at `at`, with at most 200 characters on each side. */
function lineAt(text: string, at: number): string {
  const start = Math.max(text.lastIndexOf("\n", at - 1) + 1, at - 200);
  const feed = text.indexOf("\n", at);
  return text.slice(start, Math.min(feed < 0 ? text.length : feed, at + 200));
}

function lowerFirst(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1);
}
