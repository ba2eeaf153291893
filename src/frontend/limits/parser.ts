import { tsPlugin } from "@sveltejs/acorn-typescript";
import { type Expression, type Options, Parser, type Program as Tree } from "acorn";
import { withLimits, ParseFailure, withoutLineLookup } from "./bounded-parser.ts";

/**
 * Parses a module that allows `return` at the top level and `await` in any function; the gatekeeper handles an `await`
 * that JavaScript forbids. Throws `ParseFailure`.
 */
export function parseJavaScript(text: string): Tree {
  return parseWith(JavaScript, text, {});
}

/** Parses TypeScript with the same options. The tree has node types that acorn does not declare. */
export function parseTypeScript(text: string): Tree {
  return parseWith(TypeScript, text, { locations: true });
}

/** Parses the expression that begins at `at`; ignores the text after it. */
export function parseExpressionAt(text: string, at: number): Expression {
  return orFailure(() => JavaScript.parseExpressionAt(text, at, OPTIONS));
}

/** Returns the result of `parse`, or the `ParseFailure` that it throws. */
export function attempt<Result>(parse: () => Result): Result | ParseFailure {
  try {
    return parse();
  } catch (thrown) {
    if (thrown instanceof ParseFailure) return thrown;
    throw thrown;
  }
}

const OPTIONS: Options = {
  ecmaVersion: 17,
  sourceType: "module",
  allowReturnOutsideFunction: true,
  allowAwaitOutsideFunction: true,
  allowHashBang: false,
};

const JavaScript = Parser.extend(withoutLineLookup, withLimits({ readings: 1 }));

/** Backtracks on some texts, so tokens and names are counted more than once. */
const TypeScript = Parser.extend(withoutLineLookup, tsPlugin(), withLimits({ readings: 1.5 }));

function parseWith(parser: typeof Parser, text: string, options: Partial<Options>): Tree {
  return orFailure(() => parser.parse(text, { ...OPTIONS, ...options }));
}

function orFailure<Result>(parse: () => Result): Result {
  try {
    return parse();
  } catch (thrown) {
    if (thrown instanceof ParseFailure) throw thrown;
    if (thrown instanceof RangeError) throw new ParseFailure("DEPTH_LIMIT", "nested too deeply", 0);
    const at = thrown instanceof SyntaxError && "pos" in thrown && typeof thrown.pos === "number" ? thrown.pos : 0;
    throw new ParseFailure("SYNTAX", thrown instanceof Error ? thrown.message : "unreadable", at);
  }
}
