import { Lexer } from "../package/yaml.ts";

/**
 * Limit on the tokens of a text: its texts, marks, spaces and line feeds, of which a block of text is one. The parser takes 7 µs for each,
 * and for mistakes more.
 */
const MAX_TOKENS = 20_000;

/** Limit on the lists and objects in one another, of both forms. */
const MAX_LEVELS = 100;

/** More levels have more spaces. */
const MAX_INDENT = 4 * MAX_LEVELS;

/** The lexer writes it before the text of a scalar. */
const SCALAR = "\u001F";

/** Says what is too much in a text of YAML, before it is parsed; `undefined` if it fits. Reads no further than the limits. */
export function findYamlExcess(text: string): string | undefined {
  let tokens = 0;
  let flowLevels = 0;
  /** Marks without a text between them: each is a list or an object in that before it. */
  let marks = 0;
  let previous = "";
  for (const token of new Lexer().lex(text)) {
    if (++tokens > MAX_TOKENS)
      return `it has more than ${MAX_TOKENS} names, values and marks of YAML: write large data as a text, after |`;
    if (previous === SCALAR) marks = 0;
    else {
      if (token === "[" || token === "{") flowLevels++;
      else if (token === "]" || token === "}") flowLevels--;
      else if (token === "-" || token === "?" || token === ":") marks++;
      else if (token === "," || token.endsWith("\n")) marks = 0;
      const isIndented = previous.endsWith("\n") && /^ +$/.test(token) && token.length > MAX_INDENT;
      if (isIndented || flowLevels > MAX_LEVELS || marks > MAX_LEVELS) return "it is nested too deeply";
    }
    previous = token;
  }
  return undefined;
}
