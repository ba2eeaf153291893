/** Cuts a text to at most `max` UTF-16 units, and marks the cut: `a long te…`. */
export function truncateText(text: string, max: number): string {
  return text.length <= max ? text : `${cutText(text, max - 1)}…`;
}

/** Returns the first `max` UTF-16 units of a text, without half a surrogate pair at the end. */
export function cutText(text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, max).replace(/[\uD800-\uDBFF]$/, "");
}

/** Lists at most `max` items, and the number of the others: `a, b, and 3 more`. */
export function formatList(items: readonly string[], max: number, separator = ", "): string {
  const more = items.length > max ? [`and ${items.length - max} more`] : [];
  return [...items.slice(0, max), ...more].join(separator);
}

/** `add, get or set` */
export function formatChoices(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} or ${last}`;
}

/** Quotes a text of at most `max` UTF-16 units as JSON does. */
export function quote(text: string, max = 100): string {
  return JSON.stringify(truncateText(text, max));
}

/** Quotes a word for a shell if necessary. */
export function quoteForShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** Adds a printed line to the lines before it. */
export function appendLine(lines: string, line: string): string {
  return lines === "" ? line : `${lines}\n${line}`;
}

/**
 * Removes characters from the end of a text. A pattern such as `/[.,]+$/` is tried again at each of them, wherever they are: it
 * takes quadratic time.
 */
export function trimCharacters(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
