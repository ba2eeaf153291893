/**
 * Limits of one text. Queries for pages of lists, as the documentation of public APIs shows them, have at most 7 levels and 100
 * fields.
 */
export const TEXT_LIMITS = {
  /** UTF-16 units: as long as a program may be by default. */
  units: 64 << 10,
  /** A standard introspection query has 350. */
  tokens: 8_000,
  /** Brackets in brackets, of selections and values: the parser calls itself for each. */
  brackets: 100,
  /** Fields in fields; a root field is level 1. */
  levels: 12,
  /** Fields, each as often as its fragment is spread: a server resolves, and an answer has, each. */
  fields: 2_000,
  /** Aliases, counted as fields are: one text could call one root field as often. */
  aliases: 200,
} as const;

/** Mistakes that are reported for one text. */
export const MAX_PROBLEMS = 20;

/** UTF-16 units of a message: names and values of a text can be long. */
export const MAX_MESSAGE_UNITS = 500;
