import type { OperationRow } from "./catalog-file.ts";

/**
 * True if a pattern of the settings names an operation: `GET *`, `POST /search/*`, `/repos/*`, `repos_*` (its method) or a tag.
 * `*` stands for any characters.
 */
export function matchesOperation(pattern: string, { verb, path, name, tags }: OperationRow): boolean {
  const [, wantedVerb, rest = ""] = /^(?:([A-Za-z]+)\s+)?(.*)$/s.exec(pattern.trim()) ?? [];
  if (wantedVerb !== undefined && wantedVerb !== "*" && wantedVerb.toLowerCase() !== verb) return false;
  const subjects = rest.startsWith("/") ? [path] : [name, ...tags, ...(rest === "*" ? [path] : [])];
  return subjects.some((subject) => matchesText(rest, subject));
}

/** Compares from left to right, each part at its first place: without a regular expression that could take long. */
function matchesText(pattern: string, text: string): boolean {
  const [first = "", ...parts] = pattern.split("*");
  const last = parts.pop();
  if (last === undefined) return pattern === text;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
