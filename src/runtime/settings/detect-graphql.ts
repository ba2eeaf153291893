import type { SourceSettings } from "../options.ts";

/** The ends of the names of schema files. */
const SCHEMA_FILE = /\.(?:graphqls?|gql)$/i;

/** Facts about the document of an API that is added. */
interface AddedDocument {
  /** A URL, or a file. */
  readonly location: string;
  /** The text of a file. */
  readonly text?: string | undefined;
  /** The address of its requests. */
  readonly server?: string | undefined;
  /** It is a GraphQL API, whatever its name says. */
  readonly isGraphql: boolean;
}

/**
 * Returns the settings for the document of an API, and for its server. `undefined` for a schema of GraphQL without a server: it does
 * not say where its API is.
 */
export function describeAddedDocument({
  location,
  text = "",
  server,
  isGraphql,
}: AddedDocument): SourceSettings | undefined {
  if (!isGraphql && !isGraphqlName(location) && !isSchemaText(text))
    return { openapi: location, ...(server !== undefined && { server }) };
  if (server !== undefined) return { graphql: server, schema: location };
  return isUrl(location) && !SCHEMA_FILE.test(new URL(location).pathname) ? { graphql: location } : undefined;
}

/** True for a saved introspection, and for SDL. YAML has a colon behind such words. */
export function isSchemaText(text: string): boolean {
  const start = text.slice(0, 100_000);
  if (/^\uFEFF?\s*\{/.test(start)) return /^\uFEFF?\s*\{\s*(?:"data"\s*:\s*\{\s*)?"__schema"\s*:/.test(start);
  return /^(?:extend\s+)?(?:schema\b|(?:type|interface|enum|input)\s+\w+)[^:\n]*\{/m.test(start);
}

/** True for the URL of an endpoint or a schema, and for a file of SDL, as far as their names say it. */
function isGraphqlName(location: string): boolean {
  const path = isUrl(location) ? new URL(location).pathname : location;
  return SCHEMA_FILE.test(path) || (isUrl(location) && /\/graphql\/?$/i.test(path));
}

const isUrl = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text);
