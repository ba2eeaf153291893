/** Maximum length of a pattern, and maximum nesting of its groups. */
const PATTERN_UNITS = 500;
const NESTING = 20;

/** Maximum length of a generated text. */
const TEXT_UNITS = 1_000;

/** The state of reading a pattern: the position, and how many extra repetitions are generated. */
interface PatternReader {
  readonly pattern: string;
  readonly generosity: number;
  at: number;
  nesting: number;
  isCertain: boolean;
}

/** Numbers of extra repetitions, in the order in which the texts are tried. */
const GENEROSITIES = [1, 0, 2, 4, 8, 16, 32];

/** Text lengths up to which a test is fast: for any pattern, and for patterns without nested repetition. */
const SHORT_UNITS = 12;
const MIDDLE_UNITS = 200;

/** Generates texts for a regular expression, short and likely ones first; empty if the syntax is not supported. */
export function textsForPattern(pattern: string): readonly string[] {
  const texts = GENEROSITIES.map((generosity) => textForPattern(pattern, generosity)?.text);
  return [...new Set(texts.filter((text) => text !== undefined))];
}

/**
 * True if a text certainly matches a pattern. External patterns may backtrack without end: where a test could take long,
 * only texts that were generated for the pattern match.
 */
export function fitsPattern(text: string, pattern: string): boolean {
  if (text.length > (mayBacktrack(pattern) ? SHORT_UNITS : MIDDLE_UNITS)) return isMadeFor(text, pattern);
  // An invalid pattern is ignored.
  return compiled(pattern)?.test(text) ?? true;
}

/** Compiles in Unicode mode, as JSON Schema requires, else in the older mode, which allows needless escapes. */
function compiled(pattern: string): RegExp | undefined {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(pattern, flags);
    } catch {
      // Invalid in this mode.
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
 * Generates a text for a regular expression: the first alternative of every choice, and the minimum of every repetition plus
 * `generosity`. Supports the common syntax; the text is uncertain if the pattern uses lookaround.
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

/** Reads an anchor. In the middle of a pattern it may contradict the text around it. */
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

/** Candidates for a negated class, one character of each kind. */
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
  if (/[1-9k]/.test(character)) return undefined; // Backreferences are not supported.
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
