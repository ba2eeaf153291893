import { type DocumentNode, GraphQLError, Lexer, parse, Source, type Token, TokenKind } from "graphql";

import type { QueryProblem } from "../../../../model/skill.ts";
import { printableName } from "../../../../shared/source-text.ts";
import { MAX_MESSAGE_UNITS, TEXT_LIMITS } from "./limits.ts";

/** Parses a text within the limits of its length, its tokens and its brackets. */
export function parseText(text: string): { readonly document: DocumentNode } | { readonly problem: QueryProblem } {
  const { units } = TEXT_LIMITS;
  if (text.length > units)
    return { problem: createProblem(`The text has ${text.length} characters; at most ${units} can be sent`, [0, 0]) };
  try {
    const problem = measureTokens(text);
    return problem === undefined ? { document: parse(text) } : { problem };
  } catch (error) {
    if (error instanceof GraphQLError) return { problem: explainSyntaxError(error, text) };
    throw error;
  }
}

export function createProblem(
  message: string,
  range: readonly [number, number],
  suggestions: readonly string[] = [],
): QueryProblem {
  return { message: printableName(message, MAX_MESSAGE_UNITS), range, suggestions };
}

/** Reads the tokens before the parser does, which calls itself for each bracket. */
function measureTokens(text: string): QueryProblem | undefined {
  const lexer = new Lexer(new Source(text));
  let depth = 0;
  for (let count = 0; ; count++) {
    const token = lexer.advance();
    if (token.kind === TokenKind.EOF) return undefined;
    depth += getStep(token);
    if (count >= TEXT_LIMITS.tokens)
      return createProblem(
        `The text has more than ${TEXT_LIMITS.tokens} tokens; select fewer fields, and pass values as variables`,
        [token.start, token.end],
      );
    if (depth > TEXT_LIMITS.brackets)
      return createProblem(`More than ${TEXT_LIMITS.brackets} brackets are open here; select fewer levels`, [
        token.start,
        token.end,
      ]);
  }
}

function getStep({ kind }: Token): number {
  if (kind === TokenKind.BRACE_L || kind === TokenKind.BRACKET_L || kind === TokenKind.PAREN_L) return 1;
  if (kind === TokenKind.BRACE_R || kind === TokenKind.BRACKET_R || kind === TokenKind.PAREN_R) return -1;
  return 0;
}

/** `Syntax Error: Expected Name, found "}".` has the place of one token. */
function explainSyntaxError({ message, positions }: GraphQLError, text: string): QueryProblem {
  const start = Math.min(positions?.[0] ?? 0, text.length);
  const sentence = message.replace(/^Syntax Error: /, "").replace(/\.$/, "");
  return createProblem(`The text is not GraphQL: ${sentence}`, [start, findWordEnd(text, start)]);
}

function findWordEnd(text: string, start: number): number {
  const word = /[\w$@]+|[^]?/y;
  word.lastIndex = start;
  return start + (word.exec(text)?.[0].length ?? 0);
}
