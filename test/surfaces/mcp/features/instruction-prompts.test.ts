import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { folder, serve } from "../../serving.ts";
import { takeShare } from "../../../support/repetitions.ts";
import { ERAS, openLegacy } from "../raw-client.ts";

/** A skills folder with two Agent Skills, one with a script, and a skill whose guidance stands beside its code. */
function writeSkills(): string {
  const skills = folder();
  const files = {
    "pdf-forms/SKILL.md": "---\ndescription: Fill in forms\n---\nUse scripts/fill.ts.\n",
    "pdf-forms/scripts/fill.ts": "export function fill(name: string): string { return name; }\n",
    "notes/SKILL.md": "Write short.",
    "weather/SKILL.md": "Ask for a city.",
    "weather/skill.ts": "/** @file Tells the weather. */\nexport const get = (city: string): string => city;\n",
    "plain.ts": "export const get = (): number => 1;\n",
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(skills, name, ".."), { recursive: true });
    writeFileSync(join(skills, name), text);
  }
  return skills;
}

describe.each(takeShare(2, ERAS))("a client of %s", { tags: "repeated" }, (_era, open) => {
  test("lists the instructions of local skills as prompts, and gets their text [L1, M7]", async () => {
    const { url } = await serve({}, { skillsDir: writeSkills(), discover: false });
    const client = await open(`${url}/mcp`);
    const { prompts } = await client.request("prompts/list");
    expect(prompts).toMatchObject([
      { name: "use_skills" },
      { name: "NotesSkill__instructions", title: "Instructions of NotesSkill" },
      { name: "PdfFormsSkill__instructions", description: "Fill in forms" },
      { name: "WeatherSkill__instructions", description: "Tells the weather." },
    ]);
    const { messages } = await client.request("prompts/get", { name: "PdfFormsSkill__instructions" });
    expect(messages).toEqual([{ role: "user", content: { type: "text", text: "Use scripts/fill.ts." } }]);
  });
});

test("offers no instructions of a skill that the caller may not call [P1]", async () => {
  const settings = join(folder(), "settings.yaml");
  writeFileSync(settings, 'profiles: { notes: { permissions: ["call:NotesSkill.*"] } }');
  const { url } = await serve({}, { cwd: folder(), skillsDir: writeSkills(), discover: false, settings });
  const client = await openLegacy(`${url}/mcp/notes`);
  const { prompts } = await client.request("prompts/list");
  expect(prompts).toMatchObject([{ name: "use_skills" }, { name: "NotesSkill__instructions" }]);
  await expect(client.request("prompts/get", { name: "WeatherSkill__instructions" })).rejects.toThrow("prompt");
});
