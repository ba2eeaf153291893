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
  const [first = "", ...others] = name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .slice(0, MAX_WORDS);
  return READS.has(first) && !others.some((word) => WRITES.has(word)) ? "unlikely" : "possible";
}

type EffectFacts = Pick<Method, "name" | "metadata" | "definition">;

const MAX_WORDS = 20;

const READS: ReadonlySet<string> = new Set(
  "list get search find read fetch lookup describe show count view".split(" "),
);
const WRITES: ReadonlySet<string> = new Set(
  (
    "create delete remove update insert send set write save add buy book pay next pop claim replace modify increment decrement mark " +
    "reset clear merge execute run acquire lock take reserve start stop move rename upsert ensure make or and then"
  ).split(" "),
);
