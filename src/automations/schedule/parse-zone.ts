import { quote } from "../../shared/format-text.ts";
import { didYouMean, suggestNames } from "../../shared/suggest.ts";
import { getZoneClock } from "./zone-clock.ts";

/** The longest name of a zone has 32 characters. */
const MAX_CHARACTERS = 64;

/** An IANA name has words, at most three parts and maybe an offset from GMT. Node also takes offsets, which are not names. */
const NAME = /^[a-z][\w+-]*(?:\/[\w+-]+){0,2}$/i;

/** Parses the IANA name of a zone. `fail` makes an error of the reason. */
export function parseZone(text: string, fail: (why: string) => Error): string {
  if (text.length <= MAX_CHARACTERS && NAME.test(text) && hasClock(text)) return text;
  const advice = didYouMean(suggestNames(text, ["UTC", ...Intl.supportedValuesOf("timeZone")]));
  throw fail(`${quote(text)} is not the IANA name of a zone; ${advice || "write one such as Europe/Berlin or UTC"}`);
}

function hasClock(zone: string): boolean {
  try {
    getZoneClock(zone);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
