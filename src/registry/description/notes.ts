import type { Method } from "../../model/catalog.ts";
import type { MethodRule } from "../../model/policy.ts";
import { METADATA_DEFAULTS, RESPONSE_ARGUMENT } from "../../model/skill.ts";
import { formatMethodAccess } from "../../shared/names/method-paths.ts";

/** Returns notes on the policy of a method, one sentence each. */
export function listNotes(method: Method, rule: MethodRule): readonly string[] {
  const { metadata } = method;
  const { deprecated } = metadata;
  const { decision, approval, requiredScopes, rateLimit, cooldownSeconds, timeoutMs } = rule;
  return [
    decision === "deny" ? "Denied: the policy allows no call" : "",
    deprecated === false ? "" : `Deprecated: ${deprecated}`,
    approval === "none"
      ? ""
      : `Needs the approval of ${approval === "user" ? "the user" : "an administrator"} for each call`,
    requiredScopes.length === 0 ? "" : `Requires the scopes ${requiredScopes.join(", ")}`,
    rateLimit === 0 ? "" : `At most ${rateLimit} calls per minute`,
    cooldownSeconds === 0 ? "" : `Wait at least ${cooldownSeconds}s between calls`,
    timeoutMs === METADATA_DEFAULTS.timeoutMs ? "" : `Times out after ${timeoutMs / 1_000}s`,
    formatDestructive(method),
    ...describeResponse(method),
  ].filter((note) => note !== "");
}

/** Says what a method of an API gives beside the body of an answer. */
function describeResponse({ path, response }: Method): readonly string[] {
  if (response === undefined) return [];
  const members = response.items === undefined ? "" : ", next: the arguments of the next page or null";
  const whole = `With ${RESPONSE_ARGUMENT}: true it returns { status, headers, body${members} }`;
  if (response.items === undefined) return [whole];
  const pages = `${formatMethodAccess(path)}.pages({ … }, { items: 100 })`;
  return [whole, `It gives one page; ${pages} calls it for each page, and returns one list`];
}

/** A method for statements of a query language has one mark for all of them, although most statements read. */
function formatDestructive({ name, description, metadata, definition, parameters }: Method): string {
  if (!metadata.destructive) return "";
  if (definition.queryText !== undefined) return "Destructive with some root fields, whose descriptions say so";
  const isOfLanguage = QUERY_LANGUAGE.test(`${name.replaceAll("_", " ")} ${description}`);
  const statement = parameters.find(
    (parameter) => STATEMENT_NAME.test(parameter.name) || (isOfLanguage && parameter.name === "query"),
  );
  if (statement === undefined) return "Destructive: may change or delete data permanently";
  return `Also reads. Destructive if ${statement.name} is a statement that changes or deletes data`;
}

const STATEMENT_NAME = /^(?:sql|statement|cypher|sparql)(?:_?(?:query|text|statement))?s?$/i;
const QUERY_LANGUAGE = /\b(?:sql|cypher|sparql|graphql|gremlin|bigquery|postgres|mysql|sqlite)/i;
