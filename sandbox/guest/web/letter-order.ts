import { create, uncurry } from "../primordials.ts";

/** The characters of ASCII in the order of English (the root collation of CLDR); capital letters are beside the small ones. */
const ORDER = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz";

/** Weights that no character of `ORDER` has. */
const OTHER = 0;
const END = 1;
const MARK = 255;

/** Accents follow their letter (NFD). They decide only between texts of the same letters. */
const FIRST_MARK = 0x300;
const LAST_MARK = 0x338;

const WEIGHTS = createWeights();

const normalize = uncurry(String.prototype.normalize) as (text: string, form: "NFD") => string;

/**
 * Compares the letters of two texts, without accents and case. Returns 0 for the same letters, and `undefined` if a text has
 * characters whose order is not known here.
 */
export function compareLetters(left: string, right: string): -1 | 0 | 1 | undefined {
  return compareWeights(left, right) ?? compareWeights(normalize(left, "NFD"), normalize(right, "NFD"));
}

function compareWeights(left: string, right: string): -1 | 0 | 1 | undefined {
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  for (let to = at; ;) {
    const first = weigh(left[at]);
    const second = weigh(right[to]);
    if (first === MARK) at++;
    else if (second === MARK) to++;
    else if (first === OTHER || second === OTHER) return undefined;
    else if (first !== second) {
      // Such as the middle dot of Catalan, which belongs to the letter before it.
      const isPart = weigh(left[at + 1]) === OTHER || weigh(right[to + 1]) === OTHER;
      return isPart ? undefined : first < second ? -1 : 1;
    } else if (first === END) return 0;
    else {
      at++;
      to++;
    }
  }
}

function weigh(character: string | undefined): number {
  return character === undefined ? END : (WEIGHTS[character] ?? OTHER);
}

function createWeights(): Readonly<Record<string, number>> {
  const weights = create(null) as Record<string, number>;
  for (let at = 0; at < ORDER.length; at++) {
    const character = ORDER.charAt(at);
    weights[character] = weights[character.toUpperCase()] = END + 1 + at;
  }
  for (let code = FIRST_MARK; code <= LAST_MARK; code++) weights[String.fromCharCode(code)] = MARK;
  return weights;
}
