/**
 * Tokens of a text as a model counts them, estimated as a quarter of its UTF-16 units: within a tenth of what common
 * tokenizers count for English and code, too low for other scripts.
 */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / 4);
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
