import type { McpResource, McpSkill, ResourcesAndPrompts } from "../../model/mcp-features.ts";
import { type ServedFile, SkillManifest, type SkillInstructions } from "./skill-manifest.ts";

const NAME = "instructions";

/**
 * Offers the guidance of a skill as an MCP prompt, so that a person can give it to a model by name, and as a skill of the extension
 * of skills, with its files. `file` is a `SKILL.md` whose whole folder belongs to it.
 */
export function createSkillOffers(skill: SkillInstructions, file: string | undefined): ResourcesAndPrompts {
  const { name: title, description, text } = skill;
  const message = { role: "user", content: { type: "text", text } };
  const manifest = new SkillManifest(skill, file);
  return {
    get resources(): readonly McpResource[] {
      return manifest.read()?.resources ?? [];
    },
    get skills(): readonly McpSkill[] {
      const skills = manifest.read();
      return skills === undefined ? [] : [skills.entry];
    },
    templates: [],
    prompts: [{ name: NAME, title: `Instructions of ${title}`, ...(description !== "" && { description }) }],
    read: (uri) => {
      const served = manifest.read()?.files.get(uri);
      return served === undefined
        ? Promise.reject(new Error(`"${title}" has no resource "${uri}"`))
        : Promise.resolve({ contents: [toContents(uri, served)] });
    },
    prompt: (name) =>
      name === NAME
        ? Promise.resolve({ ...(description !== "" && { description }), messages: [message] })
        : Promise.reject(new Error(`"${title}" has no prompt "${name}"`)),
  };
}

function toContents(uri: string, { read, mimeType }: ServedFile): object {
  const bytes = read();
  const text = bytes.toString("utf8");
  const isText = Buffer.from(text, "utf8").equals(bytes);
  return isText ? { uri, mimeType, text } : { uri, mimeType, blob: bytes.toString("base64") };
}
