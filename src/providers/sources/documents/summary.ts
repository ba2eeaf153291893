import { truncateText } from "../../../shared/format-text.ts";

const MAX_SUMMARY = 160;

/** Other words in angle brackets are parameters. */
const HTML_TAG = /<\/?(?:p|a|b|i|em|strong|code|br|ul|ol|li|span|div|h[1-6])\b[^<>]*>/gi;

/** Joins the lines of a text, and leaves out the tags of HTML. */
export function toSummary(text: string): string {
  const plain = text.replaceAll(HTML_TAG, " ").replaceAll(/\s+([.,;:]?)/g, "$1 ");
  return truncateText(plain.replaceAll(/\s+/g, " ").trim(), MAX_SUMMARY);
}
