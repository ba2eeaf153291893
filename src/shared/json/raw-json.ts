import { randomUUID } from "node:crypto";

/** Stands for a text while JSON is written. No other process knows it. */
const MARK = `text-${randomUUID()}:`;
const WRITTEN_MARK = new RegExp(`"${MARK}(\\d+)"`, "g");

/** The texts of the JSON that is being written. */
let texts: string[] | undefined;

/** A value whose JSON is known. `writeJson` writes the text as it is. */
export class RawJson {
  readonly #json: string;

  constructor(json: string) {
    this.#json = json;
  }

  toJSON(): unknown {
    if (texts === undefined) return JSON.parse(this.#json);
    texts.push(this.#json);
    return `${MARK}${texts.length - 1}`;
  }
}

/** Writes a value as JSON, without parsing the texts in it. */
export function writeJson(value: unknown): string {
  const written: string[] = [];
  texts = written;
  try {
    const json = JSON.stringify(value);
    return written.length === 0 ? json : json.replace(WRITTEN_MARK, (_mark, at: string) => written[Number(at)] ?? "");
  } finally {
    texts = undefined;
  }
}
