import { createPathMatcher } from "../../model/permissions.ts";
import type { OperationRow } from "./catalog-file.ts";

/**
 * True if a pattern of the settings names an operation: `GET *`, `POST /search/*`, `/repos/*`, `repos_*` (its method) or a tag.
 * `*` stands for any characters.
 */
export function matchesOperation(pattern: string, { verb, path, name, tags }: OperationRow): boolean {
  const [, wantedVerb, rest = ""] = /^(?:([A-Za-z]+)\s+)?(.*)$/s.exec(pattern.trim()) ?? [];
  if (wantedVerb !== undefined && wantedVerb !== "*" && wantedVerb.toLowerCase() !== verb) return false;
  const subjects = rest.startsWith("/") ? [path] : [name, ...tags, ...(rest === "*" ? [path] : [])];
  return subjects.some(createPathMatcher(rest));
}
