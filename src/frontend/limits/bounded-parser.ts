import { type Options, type Parser, type TokenType, tokTypes } from "acorn";
import type { ErrorCode } from "../../errors.ts";

/** Size limits of one program. Real programs stay far below; above them, parsers and engines get slow or crash. */
export const PARSE_LIMITS = Object.freeze({
  /** Reading and checking as many takes less than 50 ms of the event loop. */
  tokens: 16_000,
  /** Declared names. Acorn and QuickJS compare each with all others of its scope. */
  bindings: 2_000,
  /** Nested parser calls, weighted by their stack size; about 100 nested brackets. */
  nesting: 1_000,
  regexCharacters: 4_000,
  regexNesting: 100,
  /** The maximum of QuickJS. */
  regexGroups: 254,
});

/** A parse error with its offset. Not a `SyntaxError`, so that the parser does not backtrack and try again. */
export class ParseFailure extends Error {
  readonly code: ErrorCode;
  readonly at: number;

  constructor(code: ErrorCode, message: string, at: number) {
    super(message);
    this.code = code;
    this.at = at;
  }
}

/**
 * Changes two things in acorn. Acorn looks up the line of each error, which takes time proportional to the text for every
 * failed attempt. It also catches stack overflows; if V8 compiles something at that moment (a regular expression, for
 * example), the process aborts.
 */
export function withoutLineLookup(Base: typeof Parser): typeof Parser {
  const raise = (at: number, message: string): never => {
    throw Object.assign(Object.create(SyntaxError.prototype) as SyntaxError, { message, pos: at }); // needs no stack
  };
  class Sober extends (Base as unknown as CoreClass) {
    raise(at: number, message: string): never {
      return raise(at, message);
    }

    raiseRecoverable(at: number, message: string): never {
      return raise(at, message);
    }

    catchStackOverflow<Result>(parse: () => Result): Result {
      return parse();
    }
  }
  return Sober as unknown as typeof Parser;
}

/** Adds `PARSE_LIMITS` to a parser, so that it stops long before a stack overflow. */
export function withLimits({ readings }: { readonly readings: number }): (Base: typeof Parser) => typeof Parser {
  return (Base) => {
    const Core = Base as unknown as CoreClass;
    class Bounded extends Core {
      nesting = 0;
      #tokens = 0;
      #names = 0;
      #regex: RegexState | undefined;

      /** Always true: the gatekeeper handles an `await` in a function that is not async. */
      get canAwait(): boolean {
        return true;
      }

      override nextToken(): void {
        if (++this.#tokens > PARSE_LIMITS.tokens * readings) {
          throw new ParseFailure("SOURCE_LIMIT", `more than ${PARSE_LIMITS.tokens} tokens`, this.pos);
        }
        super.nextToken();
      }

      override declareName(name: string, kind: number, at: number): void {
        if (++this.#names > PARSE_LIMITS.bindings * readings) {
          throw new ParseFailure("SOURCE_LIMIT", `more than ${PARSE_LIMITS.bindings} declared names`, at);
        }
        super.declareName(name, kind, at);
      }

      /** Skips the creation of a `RegExp`, which can take V8 seconds for a hostile pattern. */
      override readRegexp(): void {
        this.#regex = undefined;
        try {
          super.readRegexp();
        } catch (thrown) {
          if (this.#regex === undefined || thrown !== VALIDATED) throw thrown;
          const { source: pattern, flags } = this.#regex;
          this.finishToken(tokTypes.regexp, { pattern, flags, value: null });
        }
      }

      override validateRegExpPattern(state: RegexState): void {
        checkRegexSize(state);
        super.validateRegExpPattern(state);
        this.#regex = state;
        throw VALIDATED;
      }
    }
    for (const [name, weight] of countedMethods(Base.prototype)) countNesting(Bounded.prototype, name, weight);
    return Bounded as unknown as typeof Parser;
  };
}

const VALIDATED = new Error("the regular expression is well-formed");

function checkRegexSize({ source, flags, start }: RegexState): void {
  const refuse = (what: string): never => {
    throw new ParseFailure("SOURCE_LIMIT", `a regular expression ${what}`, start);
  };
  if (source.length > PARSE_LIMITS.regexCharacters) refuse(`of more than ${PARSE_LIMITS.regexCharacters} characters`);
  const { deepest, groups } = measureRegex(source, flags.includes("v"));
  if (deepest > PARSE_LIMITS.regexNesting) refuse(`that nests deeper than ${PARSE_LIMITS.regexNesting}`);
  if (groups > PARSE_LIMITS.regexGroups) refuse(`with more than ${PARSE_LIMITS.regexGroups} groups`);
}

/** Counts the nesting depth and the capturing groups. Classes nest only with the flag `v`. */
function measureRegex(source: string, classesNest: boolean): { readonly deepest: number; readonly groups: number } {
  let [depth, deepest, groups, classes] = [0, 0, 0, 0];
  for (let at = 0; at < source.length; at++) {
    const character = source[at];
    if (character === "\\") at++;
    else if (character === "[" && (classes === 0 || classesNest)) [depth, classes] = [depth + 1, classes + 1];
    else if (character === "]" && classes > 0) [depth, classes] = [depth - 1, classes - 1];
    else if (character === "(" && classes === 0) {
      depth++;
      if (source[at + 1] !== "?" || /^\?<[^=!]/.test(source.slice(at + 1, at + 4))) groups++;
    } else if (character === ")" && classes === 0) depth--;
    deepest = Math.max(deepest, depth);
  }
  return { deepest, groups };
}

/** Lists the methods through which every recursion of the parser passes; the TypeScript methods have weight 1. */
function* countedMethods(prototype: object): Iterable<readonly [name: string, weight: number]> {
  const names = new Set<string>();
  for (let level: unknown = prototype; level instanceof Object; level = Object.getPrototypeOf(level)) {
    for (const name of Object.getOwnPropertyNames(level)) {
      if (names.has(name)) continue;
      names.add(name);
      if (Object.hasOwn(WEIGHTS, name)) yield [name, WEIGHTS[name] ?? 1];
      else if (name.startsWith("tsParse")) yield [name, 1];
    }
  }
}

function countNesting(prototype: object, name: string, weight: number): void {
  type ParserMethod = (
    this: ParserCore & { nesting: number },
    a: unknown,
    b: unknown,
    c: unknown,
    d: unknown,
    e: unknown,
  ) => unknown;
  const original = Reflect.get(prototype, name) as ParserMethod;
  const counted: ParserMethod = function counted(a, b, c, d, e) {
    if ((this.nesting += weight) > PARSE_LIMITS.nesting) {
      throw new ParseFailure("DEPTH_LIMIT", "nested too deeply", this.start);
    }
    try {
      return original.call(this, a, b, c, d, e);
    } finally {
      this.nesting -= weight;
    }
  };
  Reflect.set(prototype, name, counted);
}

/** Stack size of one call of each parser method, in units of about 300 bytes. */
const WEIGHTS: Readonly<Record<string, number>> = {
  parseStatement: 8,
  parseMaybeAssign: 3,
  parseMaybeUnary: 3,
  parseExprAtom: 3,
  parseExprOp: 1,
  parseBindingAtom: 9,
};

/** The part of acorn's parser that its plugins build on; acorn does not declare it. */
interface ParserCore {
  pos: number;
  start: number;
  nextToken(): void;
  declareName(name: string, kind: number, at: number): void;
  readRegexp(): void;
  validateRegExpPattern(state: RegexState): void;
  finishToken(type: TokenType, value: unknown): void;
}

interface RegexState {
  readonly source: string;
  readonly flags: string;
  readonly start: number;
}

type CoreClass = new (options: Options, input: string, startPosition?: number) => ParserCore;
