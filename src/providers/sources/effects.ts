import type { MethodMetadata } from "../../model/skill.ts";
import type { SourceEffect } from "../../model/tools/source-effects.ts";
import type { OperationRow } from "./catalog-file.ts";
import { matchesOperation } from "./patterns.ts";
import type { SourceConfig } from "./source-config.ts";

/** The effect of an operation, and what decides it. */
export interface DecidedEffect {
  readonly effect: SourceEffect;
  /** The pattern of the settings that decides it; absent if its verb or its name does. */
  readonly pattern?: string;
}

/** Effects of an operation on the state behind the API. */
interface Effects {
  readonly readOnly: boolean;
  readonly idempotent: boolean;
  readonly destructive: boolean;
}

/** Decides the effect of an operation: by the last pattern of the settings that matches, else by its verb or its name. */
export function decideEffect(row: OperationRow, { effects }: Pick<SourceConfig, "effects">): DecidedEffect {
  const found = effects.findLast(([pattern]) => matchesOperation(pattern, row));
  if (found !== undefined) return { pattern: found[0], effect: found[1] };
  const { readOnly, destructive } = getEffects(row);
  return { effect: readOnly ? "read" : destructive ? "destructive" : "write" };
}

/** `The effect is read: sources.shop.effects has "POST /search": read` */
export function describeEffect(row: OperationRow, { name, effects }: Pick<SourceConfig, "name" | "effects">): string {
  const { effect, pattern } = decideEffect(row, { effects });
  return pattern === undefined
    ? `The effect is ${effect}, ${describeDefault(row)}; sources.${name}.effects can say something else`
    : `The effect is ${effect}: sources.${name}.effects has ${JSON.stringify(pattern)}: ${effect}`;
}

/** The metadata of a method for the effect of its operation. */
export function toEffectMetadata(
  row: OperationRow,
  config: SourceConfig,
): Pick<MethodMetadata, "readOnly" | "idempotent" | "destructive"> {
  const { effect, pattern } = decideEffect(row, config);
  const byDefault = getEffects(row);
  if (pattern === undefined) return byDefault;
  if (effect === "read") return { readOnly: true, idempotent: true, destructive: false };
  return { ...byDefault, readOnly: false, destructive: effect === "destructive" };
}

type RowFacts = Pick<OperationRow, "verb" | "path" | "isOfMutations">;

/** True for a root field that may change something, in a query or in a mutation. */
function isMutation({ verb, isOfMutations }: RowFacts): boolean {
  return verb === "mutation" || isOfMutations === true;
}

/** The effects of an operation that the settings say nothing about. */
function getEffects(row: RowFacts): Effects {
  const { verb } = row;
  if (isMutation(row))
    return { readOnly: false, idempotent: false, destructive: findDestructiveWord(row) !== undefined };
  // Fields of a query have no effects (GraphQL, section 6.2.1).
  if (verb === "query") return { readOnly: true, idempotent: true, destructive: false };
  // RFC 9110, section 9.2; the effects of POST and PATCH are unknown, so they count as writes.
  const readOnly = ["get", "head", "options", "trace"].includes(verb);
  const destructive = verb === "delete";
  return { readOnly, destructive, idempotent: readOnly || destructive || verb === "put" };
}

function describeDefault(row: RowFacts): string {
  const { verb } = row;
  if (!isMutation(row)) return verb === "query" ? "because a query only reads" : `by the verb ${verb.toUpperCase()}`;
  const word = findDestructiveWord(row);
  if (word !== undefined) return `because its name has the word "${word}"`;
  return verb === "mutation" ? "because it is a mutation" : "because its schema has one type for queries and mutations";
}

/**
 * Finds the word of a mutation that says that something ends to exist, as DELETE does: the first or the last of its name, as in
 * `deleteIssue`, `delete_users_by_pk` and `productDelete`. `remove` is not one: most of them, such as `removeLabel`, undo an `add`.
 */
function findDestructiveWord({ path }: Pick<OperationRow, "path">): string | undefined {
  const words = path
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split("_")
    .filter(Boolean);
  return [words[0], words.at(-1)].find((word) => word !== undefined && DESTRUCTIVE_WORDS.has(word));
}

const DESTRUCTIVE_WORDS: ReadonlySet<string> = new Set(["delete", "destroy", "purge", "erase"]);
