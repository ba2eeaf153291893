import type { SourceEffect } from "../../model/tools/source-effects.ts";
import { decideEffect, describeEffect } from "./effects.ts";
import type { OfferedOperations, OperationChange } from "./operation-changes.ts";
import type { SourceConfig } from "./source-config.ts";

/** An operation of an API, for people. */
export interface ShownOperation {
  /** The name of its method. */
  readonly method: string;
  /** `GET`; of a root field of GraphQL, `query` or `mutation`. */
  readonly verb: string;
  readonly path: string;
  readonly summary: string;
  readonly effect: SourceEffect;
  /** Says what decides the effect: the verb, the name, or a pattern of the settings. */
  readonly reason: string;
  /** The effect is `read` only because the settings say so. */
  readonly isLoosened: boolean;
  readonly isDeprecated: boolean;
  /** It is not offered until it is accepted. */
  readonly isHeld: boolean;
  /** Its summary reads as if it changed nothing, although it counts as a write: the owner may say so. */
  readonly looksLikeRead: boolean;
}

/** Lists the selected operations, those that are held included. */
export function listOperations(
  config: SourceConfig,
  { rows }: OfferedOperations,
  changes: readonly OperationChange[],
): readonly ShownOperation[] {
  const changed = new Set(config.changes === "hold" ? changes.map(({ name }) => name) : []);
  return [...rows].map(([method, row]) => {
    const { verb, path, summary, isDeprecated } = row;
    const { effect } = decideEffect(row, config);
    return {
      method,
      verb: config.kind === "graphql" ? verb : verb.toUpperCase(),
      path,
      summary,
      effect,
      reason: describeEffect(row, config),
      isLoosened: effect === "read" && decideEffect(row, { effects: [] }).effect !== "read",
      isDeprecated,
      isHeld: changed.has(method),
      looksLikeRead: verb === "post" && effect === "write" && READS.test(summary),
    };
  });
}

/** POST operations whose summary begins so usually change nothing. */
const READS =
  /^(?:get|gets|list|lists|search|searches|find|finds|query|queries|read|reads|count|counts|fetch|retrieve)s?\b/i;
