import { addSpan, type Phrase, PhraseFinder, type TextPart } from "./phrase-finder.ts";
import { toEscapedSpans, unescapeText, UsedEscapes } from "./unescape.ts";

/** A text that was escaped more often is not read further: four times, and once more in the JSON of a value. */
const MAX_ESCAPES = 5;

/** Finds secrets in texts, in every form in which programs write them. */
export class SecretFinder {
  readonly #phrases = new PhraseFinder();
  readonly #escapes = new UsedEscapes();

  add(value: string): void {
    const spelled = unescapeAll(value);
    // A word is only a secret where it stands alone, which it does after the escape of a space.
    const standsAlone = /^[A-Za-z]+$/.test(value);
    for (const text of [...spelled, standsAlone ? "\n\r\t" : ""]) this.#escapes.add(text);
    for (const text of spelled)
      for (const written of [text, text.replaceAll(" ", "+")]) this.#phrases.add({ text: written, standsAlone });
    for (const text of new Set([value, ...toJson(value)]))
      for (const phrase of getEncodings(text)) this.#phrases.add(phrase);
  }

  /** Returns where secrets are: in the text as it is, and as it is with its escapes undone once, twice and so on. */
  find(text: string): readonly TextPart[] {
    if (!this.#escapes.mayBeIn(text)) return this.#phrases.find(text);
    const texts = unescapeAll(text);
    return texts.reduceRight<readonly TextPart[]>((inner, unescaped, depth) => {
      const outer = inner.length > 0 && depth < texts.length - 1 ? toEscapedSpans(unescaped, inner) : [];
      return mergeSpans([...outer, ...this.#phrases.find(unescaped)]);
    }, []);
  }
}

/** Joins parts of a text that overlap or touch, and sorts them. */
export function mergeSpans(spans: readonly TextPart[]): readonly TextPart[] {
  const merged: TextPart[] = [];
  for (const span of spans.toSorted((one, other) => one.start - other.start)) addSpan(merged, span);
  return merged;
}

/** Returns a text as strings of JSON have it: as it is, without characters beyond ASCII, and in JSON in JSON. */
function toJson(value: string): readonly string[] {
  const write = (text: string): string => JSON.stringify(text).slice(1, -1);
  const toCode = (unit: string): string => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const json = write(value);
  return [json, json.replaceAll(/[^ -~]/g, toCode), write(json)];
}

/** Returns the texts that stand for the bytes of a value: bytes as characters, hex and base64. */
function getEncodings(value: string): readonly Phrase[] {
  const bytes = Buffer.from(value);
  const hex = bytes.toString("hex");
  const texts = [bytes.toString("latin1"), Buffer.from(value, "utf16le").toString("latin1"), hex, hex.toUpperCase()];
  return [...texts.map((text) => ({ text })), ...[0, 1, 2].flatMap((offset) => getBase64(bytes, offset))];
}

/** Returns the characters of base64 that depend on these bytes alone, if they follow `offset` bytes of a group of three. */
function getBase64(bytes: Buffer, offset: number): readonly Phrase[] {
  const takesBefore = offset > 0;
  const takesAfter = (bytes.length + offset) % 3 > 0;
  const whole = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64url");
  const text = whole.slice(offset === 0 ? 0 : offset + 1, takesAfter ? -1 : undefined);
  const alphabets = [text, text.replaceAll("-", "+").replaceAll("_", "/")];
  return alphabets.map((each) => ({ text: each, takesBefore, takesAfter }));
}

/** Returns a text as it is, and with its escapes undone once, twice and so on. */
function unescapeAll(text: string): readonly string[] {
  const all = [text];
  for (let last = text; all.length <= MAX_ESCAPES; all.push(last)) {
    const next = unescapeText(last);
    if (next === last) break;
    last = next;
  }
  return all;
}
