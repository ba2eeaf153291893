import type { TextPart } from "./phrase-finder.ts";

/**
 * Replaces the escapes of JSON and JavaScript (`\"`, `\u0022`, `\x22`), URLs and forms (`%22`), HTML (`&quot;`, `&#34;`, `&#x22;`),
 * and lists of bytes (`34, 44, …`, `22:2c:…`, `0x22, 0x2c, …`), once: a text that was escaped twice still has escapes. Returns the same text if it has none.
 */
export function unescapeText(text: string): string {
  return text.replace(ESCAPE, (found) => (isList(found) ? replaceItems(found, toByte) : toMeaning(found)));
}

/** Returns the parts of a text that parts of the unescaped text come from. The parts are in order and do not overlap. */
export function toEscapedSpans(text: string, spans: readonly TextPart[]): readonly TextPart[] {
  const characters = spans.flatMap(({ start, end }) => [start, end - 1]);
  const sources: TextPart[] = [];
  /** The number of characters by which the escapes so far are longer than what they stand for. */
  let excess = 0;
  const locate = (escape: TextPart, units: number): void => {
    for (;;) {
      const character = characters[sources.length];
      if (character === undefined || character >= escape.start - excess + units) break;
      const start = character + excess;
      sources.push(start < escape.start ? { start, end: start + 1 } : escape);
    }
    excess += escape.end - escape.start - units;
  };
  visitEscapes(text, locate);
  locate({ start: Infinity, end: Infinity }, 0);
  return spans.map((_, index) => ({
    start: sources[index * 2]?.start ?? 0,
    end: sources[index * 2 + 1]?.end ?? text.length,
  }));
}

/** Calls `visit` with each escape and the number of characters that it stands for. */
function visitEscapes(text: string, visit: (escape: TextPart, units: number) => void): void {
  text.replace(ESCAPE, (found, start: number) => {
    if (!isList(found)) visit({ start, end: start + found.length }, toMeaning(found).length);
    else
      replaceItems(found, (item, byte, offset) => {
        visit({ start: start + offset, end: start + offset + item.length }, toByte(item, byte).length);
        return "";
      });
    return "";
  });
}

/** A separator in a list of bytes, which may be JSON in JSON; JSON writes a `Uint8Array` as `{"0":34,"1":44}`. */
const SEPARATOR = /,(?:\s|\\{1,9}[nrt]){0,80}(?:\\{0,9}"\d{1,9}\\{0,9}":\s{0,2})?/.source;

/** Longer lists are read in parts, because a repetition takes memory for each of its items. */
const MAX_LIST_ITEMS = 10_000;

const LIST_ITEM = new RegExp(String.raw`(?:${SEPARATOR})?(\d{1,3})`, "g");

const NEXT_ITEM = String.raw`${SEPARATOR}\d{1,3}`;

/** Looks back after the first character only, which makes the search fast. */
const LIST = String.raw`(?:\d(?<!\d\d)\d{0,2}|,(?<=\d,)${NEXT_ITEM.slice(1)})(?:${NEXT_ITEM}){7,${MAX_LIST_ITEMS}}(?!\d)`;

const HEX = String.raw`[\da-fA-F]{2}`;

/** Returns the pattern of a list of bytes in hex, with a number of items after the first: `22:2c:41`, `22 2c 41`, `22-2c-41`, `0x22, 0x2c, 0x41`. */
function hexList(items: string): string {
  const separated = [":", " ", "-"].map((separator) => `(?:${separator}${HEX})${items}`).join("|");
  return String.raw`0x${HEX}(?:,?\s{0,8}0x${HEX})${items}|${HEX}(?:${separated})`;
}

const HEX_ITEM = new RegExp(String.raw`(?:[-: ]|,?\s{0,8})(?:0x)?(${HEX})`, "g");

/** The escapes that can stand for any character. */
const CODE = [
  String.raw`\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}`,
  String.raw`%(?:[0-7][\da-fA-F]|[c-fC-F][\da-fA-F](?:%[89abAB][\da-fA-F]){1,3})`,
  String.raw`&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z]{2,8});`,
].join("|");

const ESCAPE = new RegExp(String.raw`${CODE}|\\["'\\/bfnrt]|${LIST}|${hexList(`{7,${MAX_LIST_ITEMS}}`)}`, "g");

const LIST_START = new RegExp(String.raw`\d${NEXT_ITEM}${NEXT_ITEM}|${hexList("{4}")}`);

/** Tells whether the escapes of a text can matter: most texts have only some for characters that no secret has. */
export class UsedEscapes {
  #pattern = new RegExp(CODE);
  /** The characters after the backslash of the escapes that matter. */
  #letters = "";

  /** Adds the characters of a secret. */
  add(text: string): void {
    const found = [...LETTERS].filter(
      ([character, letter]) => text.includes(character) && !this.#letters.includes(letter),
    );
    if (found.length === 0) return;
    this.#letters += found.map(([, letter]) => letter).join("");
    this.#pattern = new RegExp(String.raw`${CODE}|\\[${this.#letters.replace("\\", "\\\\")}]`);
  }

  mayBeIn(text: string): boolean {
    return (/[\\%&]/.test(text) && this.#pattern.test(text)) || LIST_START.test(text);
  }
}

function isList(found: string): boolean {
  return /^[\da-fA-F,]/.test(found);
}

/** Replaces the items of a list. `toText` receives each with its separator, its number and its place. */
function replaceItems(list: string, toText: (item: string, byte: number, offset: number) => string): string {
  const [pattern, base] = /^(?:0x|[\da-fA-F]{2}[-: ])/.test(list) ? [HEX_ITEM, 16] : [LIST_ITEM, 10];
  return list.replace(pattern, (item, digits: string, offset: number) =>
    toText(item, Number.parseInt(digits, base), offset),
  );
}

/** Returns the character of a byte; the same text for a number that is not one. */
function toByte(item: string, byte: number): string {
  return byte > 255 ? item : String.fromCharCode(byte);
}

/** Returns what an escape stands for; the same text for a name that is unknown. */
function toMeaning(escape: string): string {
  const second = escape.charAt(1);
  switch (escape.charAt(0)) {
    case "\\":
      return second === "u" || second === "x"
        ? String.fromCharCode(Number.parseInt(escape.slice(2), 16))
        : (CONTROLS.get(second) ?? second);
    case "%":
      return escape.length === 3
        ? String.fromCharCode(Number.parseInt(escape.slice(1), 16))
        : Buffer.from(escape.replaceAll("%", ""), "hex").toString();
    default:
      return (second === "#" ? toCharacter(escape.slice(2, -1)) : ENTITIES.get(escape.slice(1, -1))) ?? escape;
  }
}

const CONTROLS: ReadonlyMap<string, string> = new Map([
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

/** The character after the backslash in the escape of a character. */
const LETTERS: ReadonlyMap<string, string> = new Map([
  ...[...CONTROLS].map(([letter, character]) => [character, letter] as const),
  ...["'", '"', "\\", "/"].map((character) => [character, character] as const),
]);

/** The names that HTML has for characters of ASCII, each before its character. */
const NAMED_CHARACTERS =
  'excl! quot" QUOT" num# dollar$ percnt% amp& AMP& apos\' lpar( rpar) ast* midast* plus+ comma, period. sol/ colon: semi; ' +
  "lt< LT< equals= gt> GT> quest? commat@ lsqb[ lbrack[ bsol\\ rsqb] rbrack] Hat^ lowbar_ UnderBar_ grave` lcub{ lbrace{ " +
  "vert| verbar| rcub} rbrace} Tab\t NewLine\n nbsp\u00A0";

const ENTITIES: ReadonlyMap<string, string> = new Map(
  NAMED_CHARACTERS.split(" ").map((entry) => [entry.slice(0, -1), entry.slice(-1)] as const),
);

/** Returns the character of `34` or `x22`. */
function toCharacter(number: string): string | undefined {
  const code = /^x/i.test(number) ? Number.parseInt(number.slice(1), 16) : Number(number);
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : undefined;
}
