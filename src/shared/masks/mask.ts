import { MIN_PHRASE_UNITS } from "./phrase-finder.ts";

/** The text that replaces a secret. */
export const MASK = "[redacted]";

/** Shorter values are not masked: they occur by chance in texts that hold no secret. */
export const MIN_SECRET_LENGTH = MIN_PHRASE_UNITS;
