import { DATE_TAG } from "../guest/host-protocol.ts";

/**
 * In the JSON of a guest a date is `{"$date": iso}`. Any other value under that name is wrapped in a list of one, so that
 * no data of a program is mistaken for a date.
 */
const TAG_IN_JSON = `${JSON.stringify(DATE_TAG)}:`;

/** Parses tagged JSON into values, dates included. Throws if the text is not JSON. */
export function parseTagged(json: string): unknown {
  return json.includes(TAG_IN_JSON) ? JSON.parse(json, untag) : JSON.parse(json);
}

/** Converts tagged JSON to ordinary JSON, in which dates are texts. */
export function plainJson(json: string): string {
  if (!json.includes(TAG_IN_JSON)) return json;
  try {
    return JSON.stringify(parseTagged(json));
  } catch {
    return json; // only a corrupted guest writes text that is not JSON
  }
}

function untag(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, DATE_TAG)) return value;
  const tagged = value as { [DATE_TAG]: unknown };
  const content = tagged[DATE_TAG];
  if (Array.isArray(content)) {
    tagged[DATE_TAG] = content[0];
    return tagged;
  }
  const date = new Date(typeof content === "string" ? content : Number.NaN);
  return Number.isNaN(date.getTime()) ? value : date;
}
