/** Longest pattern that is read, and how deeply its groups may nest. */
const PATTERN_UNITS = 500;
const NESTING = 20;

/** Longest text that is made. */
const TEXT_UNITS = 1_000;

/** Where in a pattern its reader stands, and how often more than needed its repetitions are taken. */
interface Reading {
  readonly pattern: string;
  readonly generosity: number;
  at: number;
  nesting: number;
}

/**
 * A text for a regular expression: the first alternative of every choice, every repetition as rarely as it may be, plus
 * `generosity`. It reads the common part of the syntax; whoever uses the text tests it. `undefined` for what it cannot read.
 */
export function textForPattern(pattern: string, generosity = 0): string | undefined {
  if (pattern.length > PATTERN_UNITS) return undefined;
  const reading: Reading = { pattern, generosity, at: 0, nesting: 0 };
  const text = readAlternatives(reading);
  return reading.at < pattern.length || text === undefined || text.length > TEXT_UNITS ? undefined : text;
}

function readAlternatives(reading: Reading): string | undefined {
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

function readSequence(reading: Reading): string | undefined {
  let text = "";
  while (reading.at < reading.pattern.length && !"|)".includes(reading.pattern[reading.at] ?? "")) {
    const atom = readAtom(reading);
    if (atom === undefined || text.length > TEXT_UNITS) return undefined;
    text += atom.repeat(readTimes(reading));
  }
  return text;
}

function readAtom(reading: Reading): string | undefined {
  const character = String.fromCodePoint(reading.pattern.codePointAt(reading.at) ?? 0);
  reading.at += character.length;
  switch (character) {
    case "^":
    case "$":
      return "";
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

function readGroup(reading: Reading): string | undefined {
  const opening = /^\?(?::|<[A-Za-z]\w*>|(?<look><?[=!]))/.exec(reading.pattern.slice(reading.at, reading.at + 80));
  reading.at += opening?.[0].length ?? 0;
  reading.nesting += 1;
  const text = readAlternatives(reading);
  reading.nesting -= 1;
  if (reading.pattern[reading.at] !== ")") return undefined;
  reading.at += 1;
  return opening?.groups?.["look"] === undefined ? text : "";
}

/** One character of each kind that a negated class may have left. */
const CANDIDATES = Array.from("a1A -_.x/é");

function readClass(reading: Reading): string | undefined {
  const source = /^\^?\]?(?:[^\]\\]|\\.)*\]/u.exec(reading.pattern.slice(reading.at))?.[0];
  if (source === undefined) return undefined;
  reading.at += source.length;
  const first = source.startsWith("^") ? undefined : readClassStart(source);
  try {
    const accepted = new RegExp(`^[${source}$`, "u");
    return [first ?? "", ...CANDIDATES].find((candidate) => accepted.test(candidate));
  } catch {
    return undefined; // Whatever the class is, the engine will not take it either.
  }
}

function readClassStart(source: string): string | undefined {
  return source.startsWith("\\")
    ? readEscape({ pattern: source, generosity: 0, at: 1, nesting: 0 })
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

function readEscape(reading: Reading): string | undefined {
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
  if (/[1-9k]/.test(character)) return undefined; // What a group matched is not kept.
  return Object.hasOwn(ESCAPES, character) ? ESCAPES[character] : character;
}

function propertyCharacter(property: string): string | undefined {
  try {
    const accepted = new RegExp(`\\${property}`, "u");
    return CANDIDATES.find((candidate) => accepted.test(candidate));
  } catch {
    return undefined; // No such property.
  }
}

function readTimes(reading: Reading): number {
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
