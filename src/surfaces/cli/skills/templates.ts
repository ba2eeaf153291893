/** The forms in which a skill can be written. */
export const FORMS = ["functions", "class", "schema", "mcp"] as const;

export type Form = (typeof FORMS)[number];

/** The source of a working skill, in one of the forms. */
export function template(form: Form, skill: string): string {
  switch (form) {
    case "functions":
      return `/** @file Greets people. Say here, in one sentence, what the skill is for. */

${methodComment(skill, "")}export function greet(name: string, language: "en" | "fr" = "en"): string {
${body("  ")}}

${GREETINGS}`;
    case "class":
      return `/** Greets people. Say here, in one sentence, what the skill is for. */
export class ${skill} {
${methodComment(skill, "  ")}  greet(name: string, language: "en" | "fr" = "en"): string {
${body("    ")}  }
}

${GREETINGS}`;
    case "schema":
      return `import { defineSkill } from "skillgate";

const GREETINGS = { en: "Hello", fr: "Bonjour" };

export default defineSkill({
  name: "${skill}",
  description: "Greets people. Say here, in one sentence, what the skill is for.",
  methods: {
    greet: {
      description: "Greet a person by name, in a chosen language.",
      input: {
        type: "object",
        properties: {
          name: { type: "string", minLength: 1, description: "Name of the person (e.g., 'Ada')" },
          language: { enum: ["en", "fr"], default: "en", description: "Language of the greeting" },
        },
        required: ["name"],
      },
      output: { type: "string", description: "The greeting" },
      readOnly: true,
      examples: [{ request: "Say hello to Ada", code: 'device.${skill}.greet("Ada")' }],
      run: ({ name, language }) => \`\${GREETINGS[language]}, \${name}!\`,
    },
  },
});
`;
    case "mcp":
      return `/** @file Greets people. Say here, in one sentence, what the skill is for. */

const GREETINGS: Record<string, string> = { en: "Hello", fr: "Bonjour" };

/** The arguments of an MCP server's registerTool: a name, a description with a schema, and the handler. */
export const greet = [
  "greet",
  {
    description: "Greet a person by name, in a chosen language.",
    inputSchema: {
      type: "object",
      properties: {
        name: { type: "string", minLength: 1, description: "Name of the person (e.g., 'Ada')" },
        language: { enum: ["en", "fr"], default: "en", description: "Language of the greeting" },
      },
      required: ["name"],
    },
    annotations: { readOnlyHint: true },
  },
  async ({ name, language }: { name: string; language: string }) => ({
    content: [{ type: "text", text: \`\${GREETINGS[language]}, \${name}!\` }],
  }),
];
`;
  }
}

/** The source of a test for that skill. */
export function testTemplate(stem: string, skill: string): string {
  return `import assert from "node:assert/strict";
import { test } from "node:test";
import { testSkill } from "skillgate/testing";

const { call, run } = await testSkill(new URL("${stem}.ts", import.meta.url));

test("greets by name", async () => {
  assert.equal(await call("greet", { name: "Ada" }), "Hello, Ada!");
  assert.equal(await call("greet", { name: "Ada", language: "fr" }), "Bonjour, Ada!");
});

test("is called by a snippet", async () => {
  assert.equal(await run('device.${skill}.greet("Ada")'), "Hello, Ada!");
});

test("refuses a language that it does not have", async () => {
  await assert.rejects(call("greet", { name: "Ada", language: "xx" }), /"language" must be one of/);
});
`;
}

function methodComment(skill: string, indent: string): string {
  const text = [
    "Greet a person by name, in a chosen language.",
    "",
    "@param name Name of the person (e.g., 'Ada')",
    "@param language Language of the greeting",
    "@returns The greeting",
    "@readonly",
    `@example device.${skill}.greet("Ada")`,
  ];
  return [`${indent}/**`, ...text.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`, ""].join("\n");
}

function body(indent: string): string {
  return ['if (name.trim() === "") throw new Error("No name provided");', "return `${GREETINGS[language]}, ${name}!`;"]
    .map((line) => `${indent}${line}\n`)
    .join("");
}

const GREETINGS = `const GREETINGS = { en: "Hello", fr: "Bonjour" };
`;
