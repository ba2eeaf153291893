/** The longest text of an error in a table, in characters. */
const MAX_TEXT = 70;

/** The beginning of a text on one line, without characters that a table would take for its own. */
export function toCell(text = "") {
  const line = text.replaceAll(/\s+/g, " ").replace(/^(?:Error: )+/, "");
  const plain = line.replaceAll("|", "/").replaceAll("<", "‹").replaceAll(">", "›").replaceAll("`", "'").trim();
  return plain.length > MAX_TEXT ? `${plain.slice(0, MAX_TEXT)}…` : plain;
}

/** A table in Markdown, whose columns are not aligned. */
export function toTable(columns, rows) {
  return [columns, columns.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}
