import type { SourceFinding } from "../shared/source-text.ts";

/** The maximum number of reported characters. */
const MAX_REPORTED = 20;

/** Characters that the engine reads differently, that are invisible, or that make code look like other code. */
const FORBIDDEN: readonly { readonly what: string; readonly characters: RegExp; readonly fix: string }[] = [
  {
    what: "a direction mark",
    characters: /\p{Bidi_Control}/gu,
    fix: "Remove it, or write it as \\u escape inside a string",
  },
  {
    what: "a control character",
    characters: /(?![\t\n\v\f\r])\p{Cc}/gu,
    fix: "Remove it, or write it as \\x escape inside a string",
  },
  {
    what: "a carriage return without a line feed",
    characters: /\r(?!\n)/g,
    fix: "End lines with a line feed",
  },
  {
    what: "a line separator",
    characters: /[\u2028\u2029]/g,
    fix: "Write a line feed, or \\u2028 inside a string",
  },
  {
    what: "a byte order mark inside the text",
    characters: /(?!^)\uFEFF/g,
    fix: "Remove it, or write \\uFEFF inside a string",
  },
  {
    what: "an unpaired surrogate",
    characters: /\p{Cs}/gu,
    fix: "Write it as \\u escape inside a string",
  },
];

/** A fast test whether a text contains any forbidden character. */
const SUSPICIOUS =
  /[^\t\n\v\f\r\x20-\x7E\xA0-\u061B\u061D-\u200D\u2010-\u2027\u202F-\u2065\u206A-\uD7FF\uE000-\uFEFE\uFF00-\uFFFF]|\r(?!\n)/;

/** Finds the characters that are forbidden everywhere, also in comments and strings. */
export function findForbiddenCharacters(text: string): readonly SourceFinding[] {
  if (!SUSPICIOUS.test(text)) return [];
  const findings: SourceFinding[] = [];
  for (const { what, characters, fix } of FORBIDDEN) {
    for (const { 0: character, index } of text.matchAll(characters)) {
      if (findings.length === MAX_REPORTED) return findings;
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
      const values = `${what}, U+${code}`;
      findings.push({ code: "CHARACTER_FORBIDDEN", values, start: index, end: index + character.length, fix });
    }
  }
  return findings;
}
