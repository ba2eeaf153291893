import { getMessage, type SkillgateError } from "../../errors.ts";
import { isRecord } from "../../model/json.ts";
import { type Document, isMap, isScalar, Lexer, LineCounter, parseDocument } from "../package/yaml.ts";
import { describeUnknownField } from "../suggest.ts";

/** Creates the error for a mistake in a file, at a line that counts from 1. */
export type FailAtLine = (line: number, why: string) => SkillgateError;

/** The fields of a YAML file whose names are fixed, with their lines. */
export interface YamlFields {
  readonly values: Readonly<Record<string, unknown>>;
  /** Returns the line of a field, or the first line if there is no such field. */
  readonly getLine: (field: string) => number;
}

/** Reads a YAML file of fields, and throws what `fail` creates for a mistake. */
export function readYamlFields(text: string, names: readonly string[], fail: FailAtLine): YamlFields {
  const excess = findYamlExcess(text);
  if (excess !== undefined) throw fail(1, excess);
  const lines = new LineCounter();
  const document = readDocument(text, lines, fail);
  const [mistake] = [...document.errors, ...document.warnings];
  if (mistake !== undefined) throw fail(lines.linePos(mistake.pos[0]).line, mistake.message);
  const { contents } = document;
  if (!isMap(contents)) throw fail(1, `the file must have fields, such as ${names.slice(0, 2).join(": and ")}:`);
  const offsets = new Map<string, number>();
  for (const { key } of contents.items) {
    const name = isScalar(key) ? String(key.value) : "";
    const offset = isScalar(key) ? (key.range?.[0] ?? 0) : 0;
    const { line } = lines.linePos(offset);
    if (offsets.has(name)) throw fail(line, `the field ${name} appears twice`);
    if (!names.includes(name)) throw fail(line, `unknown field ${describeUnknownField(name, names)}`);
    offsets.set(name, offset);
  }
  const values = toPlainValue(document, fail);
  if (!isRecord(values)) throw fail(1, "the file must have fields");
  return { values, getLine: (field) => lines.linePos(offsets.get(field) ?? 0).line };
}

/** Without a look at repeated keys: the parser compares every key with every other one. */
function readDocument(text: string, lineCounter: LineCounter, fail: FailAtLine): Document {
  try {
    return parseDocument(text, { schema: "core", uniqueKeys: false, prettyErrors: false, lineCounter });
  } catch (error) {
    throw fail(1, error instanceof RangeError ? "it is nested too deeply" : getMessage(error));
  }
}

/** Aliases are refused: a few of them can stand for a very large value. */
function toPlainValue(document: Document, fail: FailAtLine): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    const isAlias = error instanceof ReferenceError;
    throw fail(
      1,
      isAlias ? "aliases, such as *name, are not allowed: write the value itself" : "it is nested too deeply",
    );
  }
}

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
function findYamlExcess(text: string): string | undefined {
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
