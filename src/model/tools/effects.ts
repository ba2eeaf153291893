import type { Method } from "../catalog.ts";

/**
 * Knowledge of the effects of a method: `none` and `stated` by its author, or by the owner's settings; where both say nothing,
 * `unlikely` by a name such as `list_orders`, else `possible`.
 */
export type EffectKnowledge = "none" | "unlikely" | "possible" | "stated";

export function getEffectKnowledge({ name, metadata, definition }: EffectFacts): EffectKnowledge {
  if (metadata.readOnly) return "none";
  const isStated = metadata.destructive || definition.metadata?.readOnly === false;
  if (isStated) return "stated";
  return READS.test(name) && !WRITES.test(name) ? "unlikely" : "possible";
}

type EffectFacts = Pick<Method, "name" | "metadata" | "definition">;

const READS = /^(?:list|get|search|find|read|fetch|query|lookup|look_up|describe|show|count|view)(?![a-z])/;
const WRITES = /(?:create|delete|remove|update|insert|send|set|write|save|add|buy|book|pay|next|pop|claim)(?![a-z])/i;
