import type { ErrorCode } from "../../errors.ts";
import type { Catalog } from "../../model/catalog.ts";
import { setBounded } from "../../shared/lru.ts";
import type { Outcome, Violation } from "../../model/outcome.ts";
import { isIndexed, search } from "../../registry/index.ts";

/** Remembers conversations whose programs are refused repeatedly. */
export interface RefusalHints {
  /** The outcome, with what a search of an indexed catalog finds where the same kind of refusal has come too often. */
  addHint(conversation: string, outcome: Outcome, catalog: Catalog): Outcome;
}

/** Refusals of one kind after which search results are added. */
const HINT_AFTER_REFUSALS = 3;

/** The conversation that was quiet for longest is forgotten first. */
const MAX_CONVERSATIONS = 1_000;

/** Longer keys are cut to this many characters. */
const MAX_KEY_CHARACTERS = 200;

const MAX_RESULTS = 5;

/** Adds search results to refusals of a caller that guesses names repeatedly. A program that runs resets the count. */
export function createRefusalHints(): RefusalHints {
  const refusals = new Map<string, Map<ErrorCode, number>>();

  function getCounts(key: string): Map<ErrorCode, number> {
    const counts = refusals.get(key) ?? new Map<ErrorCode, number>();
    setBounded(refusals, [key, counts], MAX_CONVERSATIONS);
    return counts;
  }

  return {
    addHint(conversation, outcome, catalog) {
      const key = conversation.slice(0, MAX_KEY_CHARACTERS);
      if (outcome.kind !== "refused") {
        refusals.delete(key);
        return outcome;
      }
      const counts = getCounts(key);
      const codes = new Set(outcome.violations.map(({ code }) => code));
      for (const code of codes) counts.set(code, (counts.get(code) ?? 0) + 1);
      const repeated = outcome.violations.find(({ code }) => (counts.get(code) ?? 0) >= HINT_AFTER_REFUSALS);
      if (repeated === undefined || !isIndexed(catalog)) return outcome;
      return { ...outcome, text: `${outcome.text}\n\n${formatSearchHint(repeated, catalog)}` };
    },
  };
}

function formatSearchHint(violation: Violation, catalog: Catalog): string {
  const words = extractNames(violation);
  const { text } = search(catalog, words, { limit: MAX_RESULTS });
  return `Refused for the same reason ${HINT_AFTER_REFUSALS} times or more. device.search_skills(${JSON.stringify(words)}) finds:\n${text}`;
}

/** Returns the names in a message as words: "weather skill" for `Unknown skill: WeatherSkill (SKILL_UNKNOWN)`. */
function extractNames({ message, code }: Violation): string {
  const values = message.slice(message.indexOf(": ") + 2).replace(` (${code})`, "");
  const words = values.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+/gu) ?? [];
  return words.slice(0, 12).join(" ").toLowerCase();
}
