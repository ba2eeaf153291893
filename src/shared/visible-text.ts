/** Characters that show nothing, look like a space, or change the order of others. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;

/** A text in which invisible characters and those that a terminal obeys are escapes: `\u001b`, `\u202e`. */
export function escapeInvisible(text: string): string {
  return text.replace(INVISIBLE, (character) => {
    const units = [...Array(character.length).keys()].map((at) => character.charCodeAt(at));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
  });
}

/** Characters that a terminal obeys, or that change the order of others. Line feeds and tabs are not among them. */
const CONTROL = /(?![\n\t])\p{Cc}|\p{Bidi_Control}|[\p{Zl}\p{Zp}]/gu;

/** A text in which only the characters are escapes that a terminal obeys, or that change the order of others. */
export function escapeControls(text: string): string {
  return text.replace(CONTROL, escapeInvisible);
}

/** A text in which long runs of spaces are counted, so that nothing is pushed out of view; indentation stays. */
export function countSpaces(text: string): string {
  return text.replace(/(?<=\S) {3,}/g, ({ length }) => `[${length} spaces]`);
}

/** A text as one line of visible characters, its spaces folded. */
export function toVisibleLine(text: string): string {
  return escapeInvisible(text.replace(/\s+/g, " ").trim());
}
