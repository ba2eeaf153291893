const PATTERN_CHARACTERS = 10_000;

/** Compiles in Unicode mode, as JSON Schema requires, else in the older mode, which allows needless escapes; `undefined` if neither can. */
export function compilePattern(source: string): RegExp | undefined {
  if (source.length > PATTERN_CHARACTERS) return undefined;
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(source, flags);
    } catch {
      // Invalid in this mode; the caller reports a pattern that is invalid in both modes.
    }
  }
  return undefined;
}
