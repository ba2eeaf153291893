/** Texts are forgotten when there are more characters of newer ones: they are not in the context window of a model any more. */
const MAX_UNITS = 2_000_000;

/** Texts of a conversation, in which others are found again although they were quoted. */
export class ReadTexts {
  readonly #texts: string[] = [];
  #units = 0;

  add(text: string): void {
    const characters = keepCharacters(text.slice(-MAX_UNITS));
    this.#units += characters.length;
    this.#texts.push(characters);
    while (this.#units > MAX_UNITS) this.#units -= this.#texts.shift()?.length ?? this.#units;
  }

  /** True if one of the texts contains this one, without regard to white space, punctuation and escapes. */
  contain(text: string): boolean {
    const characters = keepCharacters(text);
    if (characters === "") return false;
    const steps = createSteps(characters);
    return this.#texts.some((each) => contains(each, characters, steps));
  }
}

/** Keeps letters and digits, which are the same in a text and in its JSON, its HTML and its quotes. */
function keepCharacters(text: string): string {
  return text
    .replaceAll(/\\(?:u([\da-f]{4})|[bfnrt]|)/gi, (_escape, hex?: string) =>
      hex === undefined ? "" : fromCode(hex, 16),
    )
    .replaceAll(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|[a-z]{1,10});/gi, (_entity, hex?: string, decimal?: string) =>
      hex === undefined ? fromCode(decimal ?? "", 10) : fromCode(hex, 16),
    )
    .replaceAll(/[^\p{L}\p{N}]+/gu, "");
}

function fromCode(digits: string, base: number): string {
  const code = Number.parseInt(digits, base);
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : "";
}

/** The table of Knuth, Morris and Pratt, whose search takes linear time: the texts come from outside. */
function createSteps(pattern: string): Int32Array {
  const steps = new Int32Array(pattern.length);
  for (let at = 1, length = 0; at < pattern.length; at++) {
    while (length > 0 && pattern.charCodeAt(at) !== pattern.charCodeAt(length)) length = steps[length - 1] ?? 0;
    if (pattern.charCodeAt(at) === pattern.charCodeAt(length)) length += 1;
    steps[at] = length;
  }
  return steps;
}

function contains(text: string, pattern: string, steps: Int32Array): boolean {
  for (let at = 0, length = 0; at < text.length; at++) {
    while (length > 0 && text.charCodeAt(at) !== pattern.charCodeAt(length)) length = steps[length - 1] ?? 0;
    if (text.charCodeAt(at) === pattern.charCodeAt(length)) length += 1;
    if (length === pattern.length) return true;
  }
  return false;
}
