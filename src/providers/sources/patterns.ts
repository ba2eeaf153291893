import { createPathMatcher } from "../../model/permissions.ts";
import type { OperationRow } from "./catalog-file.ts";
import { VERBS } from "./openapi/operation.ts";

/** The facts that patterns name an operation by. */
export type OperationNames = Pick<OperationRow, "verb" | "path" | "name" | "tags">;

const VERB = new RegExp(`^(${VERBS.join("|")})\\s+(.*)$`, "is");

/**
 * True if a pattern of the settings names an operation: `GET *`, `POST /search/*`, `/repos/*`, `repos_*` (its method) or a tag, which
 * may have spaces; for a root field of GraphQL, `query:*` or `createIssue*`. `*` stands for any characters.
 */
export function matchesOperation(pattern: string, { verb, path, name, tags }: OperationNames): boolean {
  const text = pattern.trim();
  if (verb === "query" || verb === "mutation") return [name, path].some(createPathMatcher(text));
  const [, wantedVerb = verb, rest = text] = VERB.exec(text) ?? [];
  const isNamed = (rest.startsWith("/") || rest === "*" ? [path] : [name, ...tags]).some(createPathMatcher(rest));
  return (isNamed && wantedVerb.toLowerCase() === verb) || tags.includes(text);
}
