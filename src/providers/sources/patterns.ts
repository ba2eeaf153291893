import { createPathMatcher } from "../../model/permissions.ts";
import type { OperationRow } from "./catalog-file.ts";
import { VERBS } from "./openapi/operation.ts";

const VERB = new RegExp(`^(${VERBS.join("|")})\\s+(.*)$`, "is");

/**
 * True if a pattern of the settings names an operation: `GET *`, `POST /search/*`, `/repos/*`, `repos_*` (its method) or a tag, which
 * may have spaces. `*` stands for any characters.
 */
export function matchesOperation(pattern: string, { verb, path, name, tags }: OperationRow): boolean {
  const text = pattern.trim();
  const [, wantedVerb = verb, rest = text] = VERB.exec(text) ?? [];
  const isNamed = (rest.startsWith("/") || rest === "*" ? [path] : [name, ...tags]).some(createPathMatcher(rest));
  return (isNamed && wantedVerb.toLowerCase() === verb) || tags.includes(text);
}
