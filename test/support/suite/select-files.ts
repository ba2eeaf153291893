/**
 * True if a file with this text has tests of the part, so that no other file is loaded. Tags are found in every form that the
 * runner accepts: a test with a tag that is not found would run in no part.
 */
export function hasTestsOf(part: string, text: string): boolean {
  if (part === "usual") return !/^\s*(?:\/\/|\*)\s*@module-tag\s+rest\b/m.test(text);
  return (
    part === "all" || /@module-tag\s+(?:rest|repeated)\b|\btags:\s*(?:\[[^\]]*)?["'](?:rest|repeated)["']/.test(text)
  );
}
