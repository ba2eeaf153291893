/** Characters of scripts that tokenizers cut into single ones: Chinese, Japanese, Korean and those near them. */
const WIDE = /[\u2E80-\uD7FF\uF900-\uFAFF\uFF00-\uFFEF]/g;

/**
 * Tokens of a text as a model counts them, estimated: a quarter of its UTF-16 units, and one for each character of a
 * script without spaces. Within a tenth of what common tokenizers count for English and code.
 */
export function estimateTokens(text: string): number {
  const wide = text.match(WIDE)?.length ?? 0;
  return Math.ceil((text.length - wide) / 4 + wide);
}

/** The first sentence of a description on one line, cut visibly beyond `units`. */
export function firstSentence(description: string, units = 160): string {
  const line = (description.split("\n").find((each) => each.trim() !== "") ?? "").trim();
  const end = /[.!?。！？](?=\s|$)|[。！？]/.exec(line.slice(0, 4 * units));
  const sentence = end === null ? line : line.slice(0, end.index + 1);
  return shortened(sentence.replace(/(?<=\w)\.$/, ""), units);
}

/** At most `units` long, cut at a word and marked where it was cut. */
export function shortened(text: string, units: number): string {
  if (text.length <= units) return text;
  const cut = text.slice(0, units - 1);
  const space = cut.lastIndexOf(" ");
  return `${(space > units / 2 ? cut.slice(0, space) : cut).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
