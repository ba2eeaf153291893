import type { Outcome } from "../../model/outcome.ts";

export type CompletedOutcome = Extract<Outcome, { readonly kind: "completed" }>;

const TEXTS = new WeakMap<Outcome, string>();

/** Creates the outcome of a run with a large result. The value is parsed when it is read for the first time. */
export function createUnparsedOutcome(facts: Omit<CompletedOutcome, "value">, json: string): CompletedOutcome {
  let parsed: { readonly value: unknown } | undefined;
  const outcome: CompletedOutcome = {
    ...facts,
    get value() {
      parsed ??= { value: JSON.parse(json) as unknown };
      return parsed.value;
    },
  };
  TEXTS.set(outcome, json);
  return outcome;
}

/** Returns the JSON of a value that is parsed when it is read; it has no secrets, dates or bytes. `undefined` for any other. */
export function getValueJson(outcome: Outcome): string | undefined {
  return TEXTS.get(outcome);
}
