import { calculationError, type BinaryOperator, type Numeric } from "./arithmetic.ts";

/** An expression as a tree. */
export type Expression =
  | { readonly kind: "number"; readonly value: Numeric }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "call"; readonly name: string; readonly arguments: readonly Expression[] }
  | { readonly kind: "list"; readonly items: readonly Expression[] }
  | { readonly kind: "negative"; readonly operand: Expression }
  | {
      readonly kind: "operation";
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    };

const MAX_DEPTH = 20;

/**
 * Python's expression grammar, as far as arithmetic goes:
 *
 * ```
 * sum     = product (("+" | "-") product)*
 * product = signed (("*" | "/" | "//" | "%") signed)*
 * signed  = ("+" | "-") signed | power
 * power   = operand ["**" signed]
 * operand = number | name | name "(" items ")" | "(" sum ")" | "[" items "]"
 * ```
 *
 * So `-2**2` is -4, `2**-1` is 0.5 and `2**3**2` is 512.
 */
export function parse(source: string): Expression {
  const tokens = tokenize(source);
  let at = 0;
  let depth = 0;

  const whole = sum();
  if (at < tokens.length) throw invalid(source);
  return whole;

  function sum(): Expression {
    let left = product();
    for (let operator = take("+", "-"); operator; operator = take("+", "-")) {
      left = { kind: "operation", operator, left, right: product() };
    }
    return left;
  }

  function product(): Expression {
    let left = signed();
    for (let operator = take("*", "/", "//", "%"); operator; operator = take("*", "/", "//", "%")) {
      left = { kind: "operation", operator, left, right: signed() };
    }
    return left;
  }

  function signed(): Expression {
    if (take("+")) return deeper(signed);
    if (take("-")) return { kind: "negative", operand: deeper(signed) };
    return power();
  }

  function power(): Expression {
    const left = operand();
    return take("**") ? { kind: "operation", operator: "**", left, right: deeper(signed) } : left;
  }

  function operand(): Expression {
    if (take("(")) return closed(deeper(sum), ")");
    if (take("[")) return { kind: "list", items: items("]") };
    const token = tokens[at++];
    if (token?.kind === "number") return { kind: "number", value: token.value };
    if (token?.kind !== "name") throw invalid(source);
    return take("(") ? { kind: "call", name: token.name, arguments: items(")") } : { kind: "name", name: token.name };
  }

  /** Parses expressions up to the closing bracket; like in Python, a trailing comma is allowed. */
  function items(bracket: ")" | "]"): readonly Expression[] {
    const found: Expression[] = [];
    while (!take(bracket)) {
      found.push(deeper(sum));
      if (!take(",")) return closed(found, bracket);
    }
    return found;
  }

  function closed<T>(inside: T, bracket: ")" | "]"): T {
    if (!take(bracket)) throw invalid(source);
    return inside;
  }

  function deeper(rule: () => Expression): Expression {
    if (++depth > MAX_DEPTH) throw calculationError(`expression too deep (max ${MAX_DEPTH} levels)`);
    const inside = rule();
    depth--;
    return inside;
  }

  function take<const S extends string>(...symbols: readonly S[]): S | undefined {
    const token = tokens[at];
    const found = token?.kind === "symbol" ? symbols.find((symbol) => symbol === token.symbol) : undefined;
    if (found) at++;
    return found;
  }
}

type Token =
  | { readonly kind: "number"; readonly value: Numeric }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "symbol"; readonly symbol: string };

const DIGITS = String.raw`\d(?:_?\d)*`;
const FLOAT = String.raw`(?:(?:${DIGITS})?\.${DIGITS}|${DIGITS}\.)(?:[eE][+-]?${DIGITS})?|${DIGITS}[eE][+-]?${DIGITS}`;
const TOKEN = String.raw`(?<float>${FLOAT})|(?<int>${DIGITS})|(?<name>[A-Za-z_]\w*)|(?<symbol>\*\*|\/\/|[-+*/%(),[\]])`;

/** Rejects leading zeros like Python, where 010 could be read as octal; a number of only zeros is valid. */
const LEADING_ZERO = /^0[0_]*[1-9]/;

function tokenize(source: string): readonly Token[] {
  const pattern = new RegExp(String.raw`\s*(?:${TOKEN}|$)`, "y");
  const tokens: Token[] = [];
  while (pattern.lastIndex < source.length) {
    const groups = pattern.exec(source)?.groups;
    if (!groups) throw invalid(source);
    const { float, int, name, symbol } = groups;
    if (int && LEADING_ZERO.test(int)) throw invalid(source);
    if (float) tokens.push({ kind: "number", value: Number(float.replaceAll("_", "")) });
    else if (int) tokens.push({ kind: "number", value: BigInt(int.replaceAll("_", "")) });
    else if (name) tokens.push({ kind: "name", name });
    else if (symbol) tokens.push({ kind: "symbol", symbol });
  }
  return tokens;
}

function invalid(source: string): Error {
  const hint = source.includes("^") ? " (use ** for powers)" : "";
  return new Error(`Invalid expression: ${source}${hint}`);
}
