import { tsPlugin } from "@sveltejs/acorn-typescript";
import { type Expression, type Options, Parser, type Program as Tree } from "acorn";
import { withLimits, ParseFailure, withoutLineLookup } from "./bounded-parser.ts";

/**
 * Parses a module in which `return` may stand at the top, and `await` in any function: the gatekeeper decides what to
 * do about those where it cannot be. Throws `ParseFailure`.
 */
export function parseJavaScript(text: string): Tree {
  return parseWith(JavaScript, text, {});
}

/** The same for TypeScript. The tree has nodes that acorn does not know. */
export function parseTypeScript(text: string): Tree {
  return parseWith(TypeScript, text, { locations: true });
}

/** The expression that begins at a place; what comes after it is not looked at. */
export function parseExpressionAt(text: string, at: number): Expression {
  return orFailure(() => JavaScript.parseExpressionAt(text, at, OPTIONS));
}

/** What a parser gives, or why it gives nothing. */
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

/** This one tries several readings of some texts, so that tokens and names are seen more than once. */
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
