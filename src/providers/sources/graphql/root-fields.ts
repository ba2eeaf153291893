import type { MissingMethod, QueryProblem } from "../../../model/skill.ts";
import { quote } from "../../../shared/format-text.ts";
import type { OperationRow } from "../catalog-file.ts";
import { type OfferedOperations, type OperationChange, whyOperationMissing } from "../operation-changes.ts";
import type { SourceConfig } from "../source-config.ts";
import type { CheckedDocument, QueryKind } from "./check/index.ts";

/** The methods of a GraphQL API. */
export const GRAPH_METHODS = ["query", "mutate"] as const;

export type GraphMethodName = (typeof GRAPH_METHODS)[number];

/** Returns the kind of the operations that a method sends. */
export function toOperationKind(method: GraphMethodName): QueryKind {
  return method === "mutate" ? "mutation" : "query";
}

/** Lists the names of the parts that a text contains, each as often as it is selected. */
export function listPartNames(
  method: GraphMethodName,
  { fields, queryFields = [] }: Pick<CheckedDocument, "fields" | "queryFields">,
): readonly string[] {
  return [...fields.map((field) => `${method}:${field}`), ...queryFields.map((field) => `query:${field}`)];
}

/** The root field of a part: `createIssue` of `mutate:createIssue`. */
function getFieldName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

/** The root fields that a skill offers, and the reasons why it does not offer others. */
export class RootFields {
  /** By the names of parts: `mutate:createIssue`. */
  readonly rows: ReadonlyMap<string, OperationRow>;
  readonly #source: string;
  readonly #missing: ReadonlyMap<string, OperationChange>;

  constructor(
    config: Pick<SourceConfig, "name" | "changes">,
    { rows, changes }: Pick<OfferedOperations, "rows"> & { readonly changes: readonly OperationChange[] },
  ) {
    const missing = changes.filter(({ kind }) => kind === "removed" || config.changes === "hold");
    this.#source = config.name;
    this.#missing = new Map(missing.map((change) => [change.name, change]));
    this.rows = new Map([...rows].filter(([name]) => !this.#missing.has(name)));
  }

  /** Lists the root fields of a method. */
  list(method: GraphMethodName): readonly OperationRow[] {
    return [...this.rows].filter(([name]) => name.startsWith(`${method}:`)).map(([, row]) => row);
  }

  /** Says why a root field is held or gone, or a method of which all root fields are. */
  whyMissing(name: string): MissingMethod | undefined {
    const change = this.#missing.get(name);
    if (change !== undefined) return whyOperationMissing(change, this.#source);
    const isPart = (part: string): boolean => part.startsWith(`${name}:`);
    if ([...this.rows.keys()].some(isPart)) return undefined;
    const ofMethod = [...this.#missing].flatMap(([part, each]) => (isPart(part) ? [each] : []));
    return whyAllMissing(ofMethod, this.#source);
  }

  /** Adds the problems of the root fields that the skill does not offer to those of a text. */
  addProblems(method: GraphMethodName, document: CheckedDocument): readonly QueryProblem[] {
    const { problems } = document;
    const others = [...new Set(listPartNames(method, document))].filter((name) => !this.rows.has(name));
    const own = others.flatMap((name) => this.#findProblem(name, getFieldName(name), problems));
    // The schema does not have a field that was removed; the reason says more than the names that are similar.
    const removed = others.filter((name) => this.whyMissing(name)?.code === "METHOD_REMOVED");
    const isOfRemoved = ({ message }: QueryProblem): boolean =>
      removed.some((name) => message.includes(`Cannot query field "${getFieldName(name)}"`));
    return [...own, ...problems.filter((problem) => !isOfRemoved(problem))];
  }

  #findProblem(name: string, field: string, problems: readonly QueryProblem[]): readonly QueryProblem[] {
    const missing = this.whyMissing(name);
    if (missing !== undefined) return [createProblem(`The root field ${quote(field)} ${missing.why}`)];
    // The checker has said that the schema does not have it.
    if (problems.length > 0) return [];
    const advice = `sources.${this.#source} leaves it out; the owner offers it by "include" or "exclude"`;
    return [createProblem(`The root field ${quote(field)} is not offered: ${advice}`)];
  }
}

/** Says why a method has no root field: one that is held can be accepted. */
function whyAllMissing(changes: readonly OperationChange[], source: string): MissingMethod | undefined {
  const [first] = changes;
  const { length } = changes.filter(({ kind }) => kind !== "removed");
  if (length === 0) return first && whyOperationMissing(first, source);
  const are = length === 1 ? "1 has changed or was" : `${length} have changed or were`;
  const why = `has no accepted root field: ${are} added since the operations were accepted`;
  return { code: "METHOD_HELD", why: `${why}; the owner accepts this with: skillgate source accept ${source}` };
}

function createProblem(message: string): QueryProblem {
  return { message, suggestions: [] };
}
