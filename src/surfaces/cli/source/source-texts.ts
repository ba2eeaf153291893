import type { SourceStatus } from "../../../providers/sources/index.ts";
import type { Paint } from "../terminal/terminal.ts";
import { count, lines } from "../text/layout.ts";

/** Lines for the state of an API. */
export function describeSource(status: SourceStatus, paint: Paint): readonly string[] {
  const { name, kind, skill, title, version, server, operations, left, problems, changes, error } = status;
  if (error !== undefined && operations === 0) return [`${paint.red("✗")} ${name}: ${error}`];
  return [
    `${paint.green("✓")} ${name}: ${skill}, ${countMethods(status)} of ${title} ${version}`.trimEnd(),
    `  ${server ?? `no server: write sources.${name}.server`}`,
    ...(left > 0 ? [`  ${count(left, NOUNS[kind])} left out by include and exclude`] : []),
    ...(changes.length > 0 ? [`  ${describeChanges(status)}: skillgate source check ${name}`] : []),
    ...(problems.length > 0 ? [`  ${count(problems.length, "problem")}: skillgate source check ${name}`] : []),
    ...(error === undefined ? [] : [`${paint.red("✗")} ${error}`]),
  ];
}

/** The word for an operation of each kind of API. */
const NOUNS = { openapi: "operation", graphql: "root field" } as const;

/** `12 methods`; of a GraphQL API, `2 methods for 310 root fields`. */
export function countMethods({ kind, methods, operations, left }: SourceStatus): string {
  const own = count(methods, "method");
  return kind === "graphql" ? `${own} for ${count(operations - left, NOUNS[kind])}` : own;
}

function describeChanges({ kind, changes, holdsChanges }: SourceStatus): string {
  const words = `${count(changes.length, NOUNS[kind])} changed, added or removed since they were accepted`;
  return holdsChanges ? `${words}, and held back` : words;
}

/** Lines for the credentials that operations want and that the settings do not have, with the account to write. */
export function describeSecurity({ name, security }: SourceStatus): readonly string[] {
  return security.flatMap(({ scheme, operations, says, account }) => {
    const wants = `${count(operations, "operation")} ${operations === 1 ? "wants" : "want"} ${scheme}: ${says}`;
    if (account === null) return [wants];
    return [
      `${wants}. No account is set; write into settings.yaml:`,
      `  accounts: { ${name}: ${account} }`,
      `  sources: { ${name}: { account: ${name} } }`,
      ...(account.includes("grant: client") ? [] : [`  and then: skillgate account connect ${name}`]),
    ];
  });
}

/** Lines for the differences of one operation. */
export function describeChange({ name, kind, differences }: SourceStatus["changes"][number]): string {
  return lines([`  ${name} was ${kind}`, ...differences.map((difference) => `    ${difference}`)]);
}
