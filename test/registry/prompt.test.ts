import { expect, test } from "vitest";
import { systemPrompt } from "../../src/registry/index.ts";
import { createCatalog, recordedSkills, sampleSkills, createSkill } from "./catalogs.ts";

function createSkills(count: number, methods: number) {
  return Array.from({ length: count }, (_, at) =>
    createSkill(
      `Skill${at}`,
      Array.from({ length: methods }, (_, number) => ({ name: `m${number}`, description: `Does ${number}` })),
    ),
  );
}

test("embeds a small catalog in the prompt, in the form that models know [D4]", () => {
  const prompt = systemPrompt(createCatalog(...sampleSkills().slice(1, 3)));
  expect(prompt).toContain(`
### BraveSearchMCP
MCP server: brave-search
- \`device.BraveSearchMCP.search(query: string, count?: number /* 1..20 */ = 10)\`
  Searches the web with Brave. Returns titles, addresses and programs.
- \`device.BraveSearchMCP.news(query: string, freshness?: "day" | "week" | "month")\`
  Searches recent news articles
- \`device.BraveSearchMCP.ping(args?: Record<string, unknown>)\`
  MCP tool: ping
`);
  expect(prompt).toContain(
    '\nThe form of a program:\n```js\nconst result = await device.BraveSearchMCP.search("weather");\nresult\n```\n',
  );
});

test("shows eight skills with three methods each in full, the others by name [D4]", () => {
  const prompt = systemPrompt(createCatalog(...createSkills(10, 3)));
  expect(prompt.match(/^### /gm)).toHaveLength(8);
  expect(prompt).toContain("\nMore skills: Skill8, Skill9\n");
  const other = systemPrompt(createCatalog(...createSkills(1, 30)));
  expect(other.match(/^- `device\./gm)).toHaveLength(3);
  expect(other).toContain("\n- and m3, m4, m5, ");
});

test("shows only categories and search above thirty methods [D4]", () => {
  const web = createSkill("WebSkill", [{ name: "search", description: "Searches", metadata: { category: "web" } }], {
    description: "Searches the web. Fast.",
  });
  const prompt = systemPrompt(createCatalog(...createSkills(1, 30), web));
  expect(prompt).not.toContain("###");
  expect(prompt.split("\n\n").at(-1)).toBe(`## 2 skills, 31 methods; search_skills finds their methods
Categories: general (30), web (1)
- Skill0 (30: m0, m1, m2, …)
- WebSkill (1: search): Searches the web
`);
});

test("keeps a large catalog within the budget [D4]", () => {
  const catalog = createCatalog(...createSkills(2_000, 1));
  expect(systemPrompt(catalog).length / 4).toBeLessThanOrEqual(1_200);
  const prompt = systemPrompt(catalog, { budgetTokens: 520 });
  expect(prompt.length / 4).toBeLessThanOrEqual(520);
  expect(prompt).toMatch(/\n\.\.\. and \d+ more skills\n$/);
  expect(systemPrompt(createCatalog(...createSkills(5, 5)), { budgetTokens: 500 })).not.toContain("###");
});

test("explains in each mode how to act [D4]", () => {
  const catalog = createCatalog(...sampleSkills());
  expect(systemPrompt(catalog)).toContain("await device.search_skills(");
  expect(systemPrompt(catalog, { mode: "tools" })).toMatch(
    /search_skills\(query, limit\)[\s\S]*describe_function\(path\)[\s\S]*run_code\(code\)/,
  );
  const native = systemPrompt(catalog, { mode: "native" });
  expect(native).toContain("A tool is named Skill__method");
  expect(native).not.toContain("The form of a program:");
});

test("names the tools only to a model that calls tools [D4]", () => {
  const method = createSkill("AdderSkill", [
    {
      name: "add",
      description: "Adds",
      input: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
    },
    ...["b", "c", "d", "e"].map((name) => ({ name, description: "" })),
  ]);
  const prompt = systemPrompt(createCatalog(method), { mode: "native" });
  expect(prompt).toContain("### AdderSkill\n- `AdderSkill__add(a: number)`\n  Adds\n- `AdderSkill__b(");
  expect(prompt).toContain("\n- and AdderSkill__d, AdderSkill__e\n");
  const large = systemPrompt(createCatalog(...createSkills(1, 31)), { mode: "native" });
  expect(large).toContain("\n- Skill0 (31: Skill0__m0, Skill0__m1, Skill0__m2, …)");
  for (const text of [prompt, large]) expect(text).not.toMatch(/device|search_skills|describe_function|run_code/);
});

test("fills a template once, and keeps its other text [D4]", () => {
  const catalog = createCatalog(...createSkills(1, 1));
  const filled = systemPrompt(catalog, { template: "Be kind.\n{skill_descriptions}\n$& {skill_descriptions} Bye." });
  expect(filled).toMatch(/^Be kind\.\nThe form of a program:[\s\S]*### Skill0[\s\S]*\n\$& {2}Bye\.$/);
  expect(filled.match(/### Skill0/g)).toHaveLength(1);
  expect(systemPrompt(catalog, { template: "Be kind." })).toMatch(/^Be kind\.\n\nThe form of a program:/);
});

test("gives the same prompt for the same catalog, with the constant part first [D4]", () => {
  const [small, large] = [createCatalog(...sampleSkills().slice(0, 2)), createCatalog(...sampleSkills())];
  expect(systemPrompt(small)).toBe(systemPrompt(createCatalog(...sampleSkills().slice(0, 2))));
  const end = systemPrompt(small).indexOf("\n\nThe form of a program:");
  expect(end).toBeGreaterThan(1_000);
  expect(systemPrompt(large).slice(0, end)).toBe(systemPrompt(small).slice(0, end));
});

test("reports an empty catalog [D4]", () => {
  expect(systemPrompt(createCatalog())).toMatch(/\n\n## Skills\n\nNo skills are available\.\n$/);
});

test("takes at most 1,200 tokens for 126 recorded tools [D4]", () => {
  const catalog = createCatalog(...recordedSkills());
  expect(catalog.methods).toHaveLength(126);
  for (const mode of ["code", "tools", "native"] as const)
    expect(systemPrompt(catalog, { mode }).length / 4).toBeLessThan(1_200);
});
