/** Longest pattern that is read, and how deeply its groups may nest. */
const PATTERN_UNITS = 500;
const NESTING = 20;

/** Longest text that is made. */
const TEXT_UNITS = 1_000;

/** Where in a pattern its reader stands, and how often more than needed its repetitions are taken. */
interface PatternReader {
  readonly pattern: string;
  readonly generosity: number;
  at: number;
  nesting: number;
  isCertain: boolean;
}

/** How often more than needed repetitions are taken, in the order in which the texts are worth a try. */
const GENEROSITIES = [1, 0, 2, 4, 8, 16, 32];

/** Up to here the worst pattern is done in no time, and up to here one in which nothing repeats inside a repetition. */
const SHORT_UNITS = 12;
const MIDDLE_UNITS = 200;

/** Texts for a regular expression, short and likely ones first; none for one that is beyond this reader. */
export function textsForPattern(pattern: string): readonly string[] {
  const texts = GENEROSITIES.map((generosity) => textForPattern(pattern, generosity)?.text);
  return [...new Set(texts.filter((text) => text !== undefined))];
}

/**
 * True if a text surely matches a pattern. Patterns come from outside, and some of them never end on some texts: where
 * trying could take long, only the texts that were made for the pattern count as matching it.
 */
export function fitsPattern(text: string, pattern: string): boolean {
  if (text.length > (mayBacktrack(pattern) ? SHORT_UNITS : MIDDLE_UNITS)) return isMadeFor(text, pattern);
  // A broken pattern can be met by nothing, so it decides nothing.
  return compiled(pattern)?.test(text) ?? true;
}

/** In Unicode mode as JSON Schema asks, else in the older one, which forgives needless escapes. */
function compiled(pattern: string): RegExp | undefined {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(pattern, flags);
    } catch {
      // Not in this mode; in neither, it is broken.
    }
  }
  return undefined;
}

function isMadeFor(text: string, pattern: string): boolean {
  return GENEROSITIES.some((generosity) => {
    const made = textForPattern(pattern, generosity);
    return made?.isCertain === true && made.text === text;
  });
}

function mayBacktrack(pattern: string): boolean {
  return /\)[*+?{]|\\[1-9k]/.test(pattern) || (pattern.match(/[*+]|\{\d*,/g) ?? []).length > 2;
}

/**
 * A text for a regular expression: the first alternative of every choice, every repetition as rarely as it may be, plus
 * `generosity`. It reads the common part of the syntax, and is not certain of a text where the pattern looks around.
 */
function textForPattern(
  pattern: string,
  generosity: number,
): { readonly text: string; readonly isCertain: boolean } | undefined {
  if (pattern.length > PATTERN_UNITS) return undefined;
  const reading: PatternReader = { pattern, generosity, at: 0, nesting: 0, isCertain: true };
  const text = readAlternatives(reading);
  if (text === undefined || reading.at < pattern.length || text.length > TEXT_UNITS) return undefined;
  return { text, isCertain: reading.isCertain };
}

function readAlternatives(reading: PatternReader): string | undefined {
  if (reading.nesting > NESTING) return undefined;
  let first: string | undefined;
  for (;;) {
    const text = readSequence(reading);
    if (text === undefined) return undefined;
    first ??= text;
    if (reading.pattern[reading.at] !== "|") return first;
    reading.at += 1;
  }
}

function readSequence(reading: PatternReader): string | undefined {
  let text = "";
  while (reading.at < reading.pattern.length && !"|)".includes(reading.pattern[reading.at] ?? "")) {
    const atom = readAtom(reading);
    if (atom === undefined || text.length > TEXT_UNITS) return undefined;
    text += atom.repeat(readTimes(reading));
  }
  return text;
}

function readAtom(reading: PatternReader): string | undefined {
  const character = String.fromCodePoint(reading.pattern.codePointAt(reading.at) ?? 0);
  reading.at += character.length;
  switch (character) {
    case "^":
      return readAnchor(reading, /^$|[(|:]$/.test(reading.pattern.slice(0, reading.at - 1)));
    case "$":
      return readAnchor(reading, /^(?:$|[)|])/.test(reading.pattern.slice(reading.at)));
    case ".":
      return "a";
    case "(":
      return readGroup(reading);
    case "[":
      return readClass(reading);
    case "\\":
      return readEscape(reading);
    default:
      return character;
  }
}

/** An anchor in the middle of a text may contradict what stands around it. */
function readAnchor(reading: PatternReader, isAtTheEdge: boolean): string {
  reading.isCertain &&= isAtTheEdge;
  return "";
}

function readGroup(reading: PatternReader): string | undefined {
  const opening = /^\?(?::|<[A-Za-z]\w*>|(?<look><?[=!]))/.exec(reading.pattern.slice(reading.at, reading.at + 80));
  reading.at += opening?.[0].length ?? 0;
  reading.nesting += 1;
  const text = readAlternatives(reading);
  reading.nesting -= 1;
  if (reading.pattern[reading.at] !== ")") return undefined;
  reading.at += 1;
  const looksAround = opening?.groups?.["look"] !== undefined;
  reading.isCertain &&= !looksAround;
  return looksAround ? "" : text;
}

/** One character of each kind that a negated class may have left. */
const CANDIDATES = Array.from("a1A -_.x/é");

function readClass(reading: PatternReader): string | undefined {
  const source = /^\^?\]?(?:[^\]\\]|\\.)*\]/u.exec(reading.pattern.slice(reading.at))?.[0];
  if (source === undefined) return undefined;
  reading.at += source.length;
  const first = source.startsWith("^") ? undefined : readClassStart(source);
  const accepted = compiled(`^[${source}$`);
  return accepted && [first ?? "", ...CANDIDATES].find((candidate) => accepted.test(candidate));
}

function readClassStart(source: string): string | undefined {
  return source.startsWith("\\")
    ? readEscape({ pattern: source, generosity: 0, at: 1, nesting: 0, isCertain: true })
    : Array.from(source)[0];
}

const ESCAPES: Readonly<Record<string, string>> = {
  d: "1",
  D: "a",
  w: "a",
  W: "-",
  s: " ",
  S: "a",
  b: "",
  B: "",
  n: "\n",
  r: "\r",
  t: "\t",
};

function readEscape(reading: PatternReader): string | undefined {
  const rest = reading.pattern.slice(reading.at, reading.at + 40);
  const code = /^(?:u\{(?<long>[\da-f]{1,6})\}|u(?<short>[\da-f]{4})|x(?<byte>[\da-f]{2}))/i.exec(rest);
  const property = /^[pP]\{[^}]*\}/.exec(rest);
  const { long, short, byte } = code?.groups ?? {};
  const digits = long ?? short ?? byte;
  reading.at += code?.[0].length ?? property?.[0].length ?? 1;
  if (property !== null) return propertyCharacter(property[0]);
  if (digits !== undefined)
    return Number.parseInt(digits, 16) > 0x10ffff ? undefined : String.fromCodePoint(Number.parseInt(digits, 16));
  const character = rest[0] ?? "";
  reading.isCertain &&= !/[bB]/.test(character);
  if (/[1-9k]/.test(character)) return undefined; // What a group matched is not kept.
  return Object.hasOwn(ESCAPES, character) ? ESCAPES[character] : character;
}

function propertyCharacter(property: string): string | undefined {
  const accepted = compiled(`\\${property}`);
  return accepted && CANDIDATES.find((candidate) => accepted.test(candidate));
}

function readTimes(reading: PatternReader): number {
  const quantifier = /^(?:[*+?]|\{(?<least>\d+)(?<open>,(?<most>\d*))?\})\??/.exec(
    reading.pattern.slice(reading.at, reading.at + 24),
  );
  if (quantifier === null) return 1;
  reading.at += quantifier[0].length;
  const { least, open, most } = quantifier.groups ?? {};
  const from = least === undefined ? Number(quantifier[0].startsWith("+")) : Number(least);
  const fixed = least !== undefined && open === undefined;
  const to = most !== undefined && most !== "" ? Number(most) : quantifier[0].startsWith("?") ? 1 : TEXT_UNITS;
  return Math.min(fixed ? from : Math.min(from + reading.generosity, Math.max(from, to)), TEXT_UNITS);
}
