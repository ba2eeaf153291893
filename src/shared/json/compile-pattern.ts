const PATTERN_CHARACTERS = 10_000;

/**
 * Compiles in Unicode mode, as JSON Schema requires, else in the older mode, which allows needless escapes. Returns `undefined` if
 * neither can, and for what the older mode takes for other letters: `\A`, `\p{L}` and `[[:alpha:]]` of Perl.
 */
export function compilePattern(source: string): RegExp | undefined {
  if (source.length > PATTERN_CHARACTERS) return undefined;
  for (const flags of isForeign(source) ? ["u"] : ["u", ""]) {
    try {
      return new RegExp(source, flags);
    } catch {
      // Invalid in this mode; the caller reports a pattern that is invalid in both modes.
    }
  }
  return undefined;
}

function isForeign(source: string): boolean {
  const escapes = source.match(/\\./gs) ?? [];
  return escapes.some((escape) => FOREIGN_ESCAPE.test(escape)) || /\[:\^?[a-z]+:\]/.test(source);
}

/** The escape of a letter that has no meaning of its own without Unicode mode. */
const FOREIGN_ESCAPE = /\\[^\W\d_bBcdDfknrsStuvwWx]/;
