/** The parts of a `SKILL.md`: the YAML between the lines of `---` at its beginning, and the text below. */
export interface FrontmatterParts {
  /** Absent if the text has none. */
  readonly yaml?: string;
  readonly body: string;
}

export function splitFrontmatter(content: string): FrontmatterParts {
  const text = content.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const [whole = "", yaml = ""] = /^---\n(?:([^]*?)\n)?---(?:\n|$)/.exec(text) ?? [];
  return { ...(whole !== "" && { yaml }), body: text.slice(whole.length) };
}
