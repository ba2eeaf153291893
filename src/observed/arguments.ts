import { asksForResponse, type Method } from "../model/catalog.ts";

/** Maximum values of the arguments that are read, and maximum length of a text that may be a name. */
const MAX_VALUES = 200;
const NAME_UNITS = 60;

const QUERY_PARAMETER = /^(?:sql|statement|stmt|cypher|gql|graphql)$/i;

/** A query text, as opposed to the words of a search: `SELECT a FROM b`, `MATCH (n)`, `{ users { id } }`. */
const QUERY_TEXT =
  /^\s*(?:(?:select|with|insert|update|delete|explain)\b[^]*\b(?:from|into|set|select|values)\b|select\b|pragma\b|match\s*\(|query\s*[\w({]*\s*[({]|\{)/i;

/** True if the arguments decide what members a result has, as in SQL. */
export function decidesMembers(method: Method, args: readonly unknown[]): boolean {
  const { parameters } = method;
  if (asksForResponse(method, args)) return true;
  if (parameters.some(({ name }) => QUERY_PARAMETER.test(name))) return true;
  return parameters.some(({ name }) => /^query$/i.test(name)) && listTexts(args).some((text) => QUERY_TEXT.test(text));
}

/** Returns the texts and numbers in arguments that a result may have as names: `["BTC"]` and `{ BTC: 1 }`. */
export function collectDataNames(args: readonly unknown[]): ReadonlySet<string> {
  return new Set(
    listTexts(args).flatMap((text) => (text.length <= 4 * NAME_UNITS ? [text, ...text.split(/[\s,;]+/)] : [])),
  );
}

/** Returns the texts and numbers inside of arguments, without the names of parameters. */
function listTexts(args: readonly unknown[]): readonly string[] {
  const texts: string[] = [];
  const open: unknown[] = [...args];
  for (let count = 0; open.length > 0 && count < MAX_VALUES; count++) {
    const value = open.pop();
    if (typeof value === "string" || typeof value === "number") texts.push(String(value));
    else if (typeof value === "object" && value !== null) open.push(...Object.values(value).slice(0, MAX_VALUES));
  }
  return texts;
}
