import type { ResourcesAndPrompts } from "../../model/mcp-features.ts";

const NAME = "instructions";

/** Offers the guidance of a skill as an MCP prompt, so that a person can give it to a model by name. */
export function createGuidancePrompt(skill: string, description: string, text: string): ResourcesAndPrompts {
  const message = { role: "user", content: { type: "text", text } };
  return {
    resources: [],
    templates: [],
    prompts: [{ name: NAME, title: `Instructions of ${skill}`, ...(description !== "" && { description }) }],
    read: (uri) => Promise.reject(new Error(`"${skill}" has no resource "${uri}"`)),
    prompt: (name) =>
      name === NAME
        ? Promise.resolve({ ...(description !== "" && { description }), messages: [message] })
        : Promise.reject(new Error(`"${skill}" has no prompt "${name}"`)),
  };
}
