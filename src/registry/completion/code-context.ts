/** Where the end of an unfinished program stands, as far as completion needs it. */
export interface CodeContext {
  /** The brackets that are open at the end, the outermost first. */
  readonly open: readonly OpenBracket[];
  /** The string that is open at the end: its quote and the text after it. */
  readonly string?: { readonly quote: string; readonly text: string };
}

export interface OpenBracket {
  readonly bracket: "(" | "[" | "{";
  /** Offset of the bracket. */
  readonly start: number;
  /** The key before the value at the end, in an object. */
  readonly key?: string;
  /** The keys of the object that have a value. */
  readonly keys: readonly string[];
  /** The number of commas before the end. */
  readonly index: number;
}

interface BracketState {
  readonly bracket: OpenBracket["bracket"];
  readonly start: number;
  readonly keys: string[];
  key: string | undefined;
  index: number;
}

/** Matches comments, complete strings and names, and else one character. */
const TOKEN =
  /\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|[A-Za-z_$][\w$]*|\s+|[^]/g;

const CLOSING = new Set([")", "]", "}"]);

/** Reads an unfinished program up to its end. Text in templates and regular expressions is not read as code. */
export function readCodeContext(code: string): CodeContext {
  const open: BracketState[] = [];
  let before = "";
  for (const { 0: token, index } of code.matchAll(TOKEN)) {
    const top = open.at(-1);
    if (token === '"' || token === "'" || token === "`")
      return { open: open.map(toOpenBracket), string: { quote: token, text: code.slice(index + 1) } };
    if (token === "(" || token === "[" || token === "{") {
      open.push({ bracket: token, start: index, keys: [], key: undefined, index: 0 });
    } else if (CLOSING.has(token)) {
      open.pop();
    } else if (token === "," && top !== undefined) {
      top.index++;
      top.key = undefined;
    } else if (token === ":" && top?.bracket === "{" && top.key === undefined) {
      top.key = before.replaceAll(/^["']|["']$/g, "");
      top.keys.push(top.key);
    }
    if (token.trim() !== "") before = token;
  }
  return { open: open.map(toOpenBracket) };
}

const CALLEE = /[A-Za-z_$][\w$]*(?:\s*\??\.\s*[A-Za-z_$][\w$]*)*\s*$/;
const MAX_CALLEE_UNITS = 300;

/** Returns the code directly before a parenthesis, such as `device.Skill.method`. */
export function readCallee(code: string, { start }: OpenBracket): string {
  const before = code.slice(Math.max(0, start - MAX_CALLEE_UNITS), start);
  return (CALLEE.exec(before)?.[0] ?? "").replaceAll(/\s|\?/g, "");
}

function toOpenBracket({ key, ...bracket }: BracketState): OpenBracket {
  return { ...bracket, ...(key !== undefined && { key }) };
}
