import { addToGroup } from "./groups.ts";
import type { MethodIndex } from "./method-index.ts";
import type { WeighedIdea } from "./score.ts";

/** What it adds if the query has all words of a method's name. */
const WHOLE_NAME = 0.2;

/** By the last bits of its number, most words of a document are known not to be asked for. */
const MASK = 1_023;

/** What each idea gives a document, by the words of the document and those that were learned for it. */
export function createValuation(
  ideas: readonly WeighedIdea[],
  index: MethodIndex,
): (document: number) => readonly number[] {
  const asked = askedWords(ideas, index);
  const mask = new Uint8Array(MASK + 1);
  for (const word of asked.keys()) mask[word & MASK] = 1;
  const learned = learnedUses(ideas);
  return (document) => {
    const values = ideas.map(() => 0);
    const words = index.wordsOf(document);
    const nameStems = index.nameStems(document);
    let inName = 0;
    for (let at = 0; at < words.length; at++) {
      const packed = words[at] ?? 0;
      if (mask[(packed >>> 8) & MASK] === 0) continue;
      const uses = asked.get(packed >>> 8);
      if (uses === undefined) continue;
      if (at < nameStems && uses.some(({ isOwn }) => isOwn)) inName += 1;
      for (const { idea, worth } of uses) values[idea] = Math.max(values[idea] ?? 0, worth * (packed & 255));
    }
    for (const { idea, worth } of learned.get(document) ?? []) values[idea] = Math.max(values[idea] ?? 0, worth);
    const factor = 1 + (WHOLE_NAME * inName) / Math.max(1, nameStems);
    for (let idea = 0; idea < values.length; idea++) values[idea] = (values[idea] ?? 0) * factor;
    return values;
  };
}

/** What a word of the index is worth to which ideas. */
interface Use {
  readonly idea: number;
  readonly worth: number;
  /** True for the idea's own word, not one that stands for it. */
  readonly isOwn: boolean;
}

function askedWords(ideas: readonly WeighedIdea[], index: MethodIndex): ReadonlyMap<number, readonly Use[]> {
  const asked = new Map<number, Use[]>();
  for (const [at, { idea, words }] of ideas.entries()) {
    for (const { stem, worth } of words) {
      const use = { idea: at, worth: worth / 255, isOwn: stem === idea.stem && idea.word !== "" };
      addToGroup(asked, index.wordNumber(stem) ?? -1, use);
    }
  }
  return asked;
}

/** By document: what was learned for it is worth to which ideas. */
function learnedUses(ideas: readonly WeighedIdea[]): ReadonlyMap<number, readonly Omit<Use, "isOwn">[]> {
  const uses = new Map<number, Omit<Use, "isOwn">[]>();
  for (const [idea, { words }] of ideas.entries())
    for (const { learned, worth } of words)
      for (const posting of learned) addToGroup(uses, posting >>> 8, { idea, worth: (worth / 255) * (posting & 255) });
  return uses;
}
