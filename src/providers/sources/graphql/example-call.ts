import type { OperationRow } from "../catalog-file.ts";
import type { ExampleQuery } from "./compile/example-query.ts";

/** Writes an example as a call: `device.TrackerGraph.query({ query: "{ viewer { id } }" })`, with the text in a template. */
export function formatExampleCall(
  skill: string,
  { verb }: Pick<OperationRow, "verb">,
  { query, variables }: ExampleQuery,
): string {
  const values = variables === undefined ? "" : `, variables: ${formatValue(variables)}`;
  return `device.${skill}.${verb === "mutation" ? "mutate" : "query"}({ query: \`${query}\`${values} })`;
}

/** A value as a literal of JavaScript. The names of a schema are identifiers. */
function formatValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatValue).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${name}: ${formatValue(member)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}
