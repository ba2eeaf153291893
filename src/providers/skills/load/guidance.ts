import { readFile } from "node:fs/promises";

import { parse } from "../../../shared/package/yaml.ts";

import { getMessage, sentence } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";
import { splitFrontmatter } from "../../../shared/files/frontmatter.ts";

/** The content of a `SKILL.md` beside a module (the open Agent Skills format). */
export interface Guidance {
  /** The text for models, without the front matter. */
  readonly text: string;
  readonly description: string;
  readonly problem?: string;
}

/** Length limit; the rest of the file is cut off. */
const MAX_CHARACTERS = 65_536;

export async function readGuidance(file: string): Promise<Guidance> {
  return parseGuidance(await readFile(file, "utf8"));
}

export function parseGuidance(content: string): Guidance {
  const { yaml: front = "", body: untrimmed } = splitFrontmatter(content.slice(0, MAX_CHARACTERS));
  const body = untrimmed.trim();
  try {
    const facts: unknown = parse(front);
    const description = isRecord(facts) && typeof facts["description"] === "string" ? facts["description"] : "";
    return { text: body, description };
  } catch (error) {
    const why = getMessage(error).split("\n", 1)[0] ?? "";
    return {
      text: body,
      description: "",
      problem: sentence("SKILL_INVALID", `the front matter of SKILL.md is not valid YAML: ${why}`),
    };
  }
}
