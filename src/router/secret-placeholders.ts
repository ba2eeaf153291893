import type { Caller } from "../model/caller.ts";
import { setBounded } from "../shared/lru.ts";
import { replaceTexts } from "../shared/masks/replace-texts.ts";
import { type KnownSecrets } from "../shared/secrets.ts";

/** The values of calls of one skill, as one caller sees them, and as the skill sees them. */
export interface SecretView {
  /** Replaces secrets by placeholders, on the way from a provider. */
  hide<Value>(value: Value): Value;
  /** Replaces placeholders of this caller by the secrets that the skill may receive, on the way to a provider. */
  reveal<Value>(value: Value): Value;
  /** The remark beside a result with a placeholder. */
  readonly note: string;
}

/** Callers whose placeholders are remembered, and placeholders of each; the oldest are forgotten. */
const MAX_CALLERS = 1_000;
const MAX_PLACEHOLDERS = 1_000;

const PLACEHOLDER = /\[secret:(\d{1,9})\]/g;

const NOTE_FOR_ALL = "[secret:…] stands for a secret. Pass it to a method as it is; the method receives the value.";

const NOTE_FOR_SAME =
  "[secret:…] stands for a secret. Methods of the skill that returned it receive the value in its place; others receive this text.";

export interface PlaceholderOptions {
  /** The secrets that no program reads. */
  readonly hidden: KnownSecrets;
  /** The setting `secrets.rehydrate`: every method receives the values, not only those of the skill that returned them. */
  readonly isForAllSkills: boolean;
}

/** Returns what gives each caller its view of a skill. */
export function createSecretViews(options: PlaceholderOptions): (caller: Caller, skill: string) => SecretView {
  const callers = new Map<string, CallerSecrets>();
  return ({ id }, skill) => {
    const secrets = callers.get(id) ?? new CallerSecrets(options);
    setBounded(callers, [id, secrets], MAX_CALLERS);
    return secrets.viewFor(skill);
  };
}

interface HiddenSecret {
  readonly number: number;
  readonly value: string;
  /** The skills that returned it. */
  readonly skills: Set<string>;
}

/** The placeholders of one caller. A secret keeps its number; each form of it, such as base64, has another one. */
class CallerSecrets {
  readonly #options: PlaceholderOptions;
  readonly #byValue = new Map<string, HiddenSecret>();
  readonly #byNumber = new Map<number, HiddenSecret>();
  #last = 0;

  constructor(options: PlaceholderOptions) {
    this.#options = options;
  }

  viewFor(skill: string): SecretView {
    const { hidden, isForAllSkills } = this.#options;
    return {
      note: isForAllSkills ? NOTE_FOR_ALL : NOTE_FOR_SAME,
      hide: (value) => (hidden.isEmpty() ? value : replaceTexts(value, (text) => this.#hide(text, skill))),
      reveal: (value) => (this.#last === 0 ? value : replaceTexts(value, (text) => this.#reveal(text, skill))),
    };
  }

  /** A placeholder in the text of a provider is not ours: it must not become a secret further on. */
  #hide(text: string, skill: string): string {
    return this.#options.hidden.replace(text.replace(PLACEHOLDER, "[secret $1]"), (value) => {
      const secret = this.#byValue.get(value) ?? { number: ++this.#last, value, skills: new Set() };
      secret.skills.add(skill);
      setBounded(this.#byValue, [value, secret], MAX_PLACEHOLDERS);
      setBounded(this.#byNumber, [secret.number, secret], MAX_PLACEHOLDERS);
      return `[secret:${secret.number}]`;
    });
  }

  #reveal(text: string, skill: string): string {
    return text.replace(PLACEHOLDER, (placeholder, number: string) => {
      const secret = this.#byNumber.get(Number(number));
      const mayReceive = this.#options.isForAllSkills || secret?.skills.has(skill) === true;
      return secret !== undefined && mayReceive ? secret.value : placeholder;
    });
  }
}
