import type { Caller } from "../model/caller.ts";
import { setBounded } from "../shared/lru.ts";
import { type KnownSecrets, replaceTexts } from "../shared/secrets.ts";

/** The values of calls as one caller sees them, and as providers see them. */
export interface SecretView {
  /** Replaces secrets by placeholders, on the way from a provider. */
  hide<Value>(value: Value): Value;
  /** Replaces placeholders of this caller by their secrets, on the way to a provider. */
  reveal<Value>(value: Value): Value;
}

/** Changes nothing: secrets are masked where values leave the runtime. */
const PLAIN_VIEW: SecretView = { hide: (value) => value, reveal: (value) => value };

/** Callers whose placeholders are remembered, and placeholders of each; the oldest are forgotten. */
const MAX_CALLERS = 1_000;
const MAX_PLACEHOLDERS = 1_000;

const PLACEHOLDER = /\[secret:(\d{1,9})\]/g;

/** The remark beside a result with a placeholder. */
export const PLACEHOLDER_NOTE =
  "[secret:…] stands for a secret. Pass it to a method as it is; the method receives the value.";

/** Returns what gives each caller its view; `isRehydrating` is the setting `secrets.rehydrate`. */
export function createSecretViews(secrets: KnownSecrets, isRehydrating: boolean): (caller: Caller) => SecretView {
  if (!isRehydrating) return () => PLAIN_VIEW;
  const views = new Map<string, SecretView>();
  return ({ id }) => {
    const view = views.get(id) ?? createSecretView(secrets);
    setBounded(views, [id, view], MAX_CALLERS);
    return view;
  };
}

/** A view with placeholders of its own. A secret keeps its number; each form of it, such as base64, has another one. */
function createSecretView(secrets: KnownSecrets): SecretView {
  const numbers = new Map<string, number>();
  const valueByNumber = new Map<number, string>();
  let last = 0;

  function toPlaceholder(value: string): string {
    const number = numbers.get(value) ?? ++last;
    setBounded(numbers, [value, number], MAX_PLACEHOLDERS);
    setBounded(valueByNumber, [number, value], MAX_PLACEHOLDERS);
    return `[secret:${number}]`;
  }

  return {
    // A placeholder in the text of a provider is not ours: it must not become a secret further on.
    hide: (value) =>
      replaceTexts(value, (text) => secrets.replace(text.replace(PLACEHOLDER, "[secret $1]"), toPlaceholder)),
    reveal: (value) =>
      replaceTexts(value, (text) =>
        text.replace(PLACEHOLDER, (placeholder, number: string) => valueByNumber.get(Number(number)) ?? placeholder),
      ),
  };
}
