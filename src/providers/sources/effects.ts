import type { MethodMetadata } from "../../model/skill.ts";
import type { SourceEffect } from "../../model/tools/source-effects.ts";
import type { OperationRow } from "./catalog-file.ts";
import { getEffects } from "./compile/compile-document.ts";
import { matchesOperation } from "./patterns.ts";
import type { SourceConfig } from "./source-config.ts";

/** The effect of an operation, and what decides it. */
export interface DecidedEffect {
  readonly effect: SourceEffect;
  /** The pattern of the settings that decides it; absent if the verb does. */
  readonly pattern?: string;
}

/** Decides the effect of an operation: by the last pattern of the settings that matches, else by its verb. */
export function decideEffect(row: OperationRow, { effects }: Pick<SourceConfig, "effects">): DecidedEffect {
  const found = effects.findLast(([pattern]) => matchesOperation(pattern, row));
  if (found !== undefined) return { pattern: found[0], effect: found[1] };
  const { readOnly, destructive } = getEffects(row.verb);
  return { effect: readOnly ? "read" : destructive ? "destructive" : "write" };
}

/** `The effect is read: sources.shop.effects has "POST /search": read` */
export function describeEffect(row: OperationRow, { name, effects }: Pick<SourceConfig, "name" | "effects">): string {
  const { effect, pattern } = decideEffect(row, { effects });
  const verb = row.verb.toUpperCase();
  return pattern === undefined
    ? `The effect is ${effect}, by the verb ${verb}; sources.${name}.effects can say something else`
    : `The effect is ${effect}: sources.${name}.effects has ${JSON.stringify(pattern)}: ${effect}`;
}

/** The metadata of a method for the effect of its operation. */
export function toEffectMetadata(
  row: OperationRow,
  config: SourceConfig,
): Pick<MethodMetadata, "readOnly" | "idempotent" | "destructive"> {
  const { effect, pattern } = decideEffect(row, config);
  const byVerb = getEffects(row.verb);
  if (pattern === undefined) return byVerb;
  if (effect === "read") return { readOnly: true, idempotent: true, destructive: false };
  return { ...byVerb, readOnly: false, destructive: effect === "destructive" };
}
