/** The forms in which a skill can be written. */
export const FORMS = ["functions", "class", "schema", "mcp"] as const;

export type Form = (typeof FORMS)[number];

/** The test runners for which a test can be written. */
export type TestRunner = "vitest" | "node:test";

/** A skill to write, and its one method. */
export interface NewSkill {
  /** `HomeOfficeSkill` */
  readonly name: string;
  /** The name of its file without the ending: `home-office`. */
  readonly stem: string;
  /** `getHomeOffice` */
  readonly method: string;
  /** The description of the method: `Get home office by name.` */
  readonly summary: string;
  /** `home office` */
  readonly topic: string;
}

/** Words that name an action. A skill named after one has a method of its whole name. */
const VERBS: ReadonlySet<string> = new Set(
  "add book build buy calculate call cancel check clean compare convert copy count create delete download edit fetch find generate get import list make move open order parse pay play plan post print publish query read remove rename resize run save scan schedule search sell send set show sort start stop summarize sync test track translate update upload validate watch write".split(
    " ",
  ),
);

/** Names the method of a skill: `weather` gets `getWeather`, `send-mail` gets `sendMail`. */
export function planSkill(name: string, stem: string): NewSkill {
  const words = stem.split("-");
  const isAction = VERBS.has(words[0] ?? "");
  const [first = "", ...rest] = isAction ? words : ["get", ...words];
  const topic = words.join(" ");
  const method = first + rest.map(capitalize).join("");
  return { name, stem, method, topic, summary: `${isAction ? capitalize(topic) : `Get ${topic}`} by name.` };
}

/** The source of a working skill, in one of the forms. */
export function template(form: Form, skill: NewSkill): string {
  const { name, method, summary, topic } = skill;
  switch (form) {
    case "functions":
      return `/** @file ${describe(topic)} */

${methodComment(skill, "")}export function ${method}(name: string, detail: "short" | "full" = "short"): string {
${body(skill, "  ")}}

${entries(skill)}`;
    case "class":
      return `/** ${describe(topic)} */
export class ${name} {
${methodComment(skill, "  ")}  ${method}(name: string, detail: "short" | "full" = "short"): string {
${body(skill, "    ")}  }
}

${entries(skill)}`;
    case "schema":
      return `import { defineSkill } from "skillgate";

${entries(skill)}
export default defineSkill({
  name: "${name}",
  description: "${describe(topic)}",
  methods: {
    ${method}: {
      description: "${summary}",
      input: {
        type: "object",
        properties: {
          name: { type: "string", minLength: 1, description: "Name of the entry (e.g., 'example')" },
          detail: { enum: ["short", "full"], default: "short", description: "How much to tell" },
        },
        required: ["name"],
      },
      output: { type: "string", description: "The entry" },
      readOnly: true,
      examples: [{ request: "${summary.slice(0, -1)} example", code: 'device.${name}.${method}("example")' }],
      run: ({ name, detail }) => {
${body(skill, "        ")}      },
    },
  },
});
`;
    case "mcp":
      return `/** @file ${describe(topic)} */

${entries(skill)}
/** The arguments of an MCP server's registerTool: a name, a description with a schema, and the handler. */
export const ${method} = [
  "${method}",
  {
    description: "${summary}",
    inputSchema: {
      type: "object",
      properties: {
        name: { type: "string", minLength: 1, description: "Name of the entry (e.g., 'example')" },
        detail: { enum: ["short", "full"], default: "short", description: "How much to tell" },
      },
      required: ["name"],
    },
    annotations: { readOnlyHint: true },
  },
  async ({ name, detail }: { name: string; detail: string }) => ({ content: [{ type: "text", text: tell(name, detail) }] }),
];

function tell(name: string, detail: string): string {
${body(skill, "  ")}}
`;
  }
}

/** The source of a test for that skill. */
export function testTemplate({ stem, name, method, topic }: NewSkill, runner: TestRunner): string {
  const isVitest = runner === "vitest";
  const imports = isVitest
    ? 'import { expect, test } from "vitest";'
    : 'import assert from "node:assert/strict";\nimport { test } from "node:test";';
  const equals = (actual: string, expected: string): string =>
    isVitest ? `expect(${actual}).toBe(${expected});` : `assert.equal(${actual}, ${expected});`;
  const rejects = (promise: string, pattern: string): string =>
    isVitest
      ? `await expect(${promise}).rejects.toThrow(${pattern});`
      : `await assert.rejects(${promise}, ${pattern});`;
  return `${imports}
import { testSkill } from "skillgate/testing";

const { call, run } = await testSkill(new URL("${stem}.ts", import.meta.url));

test("tells about an entry", async () => {
  ${equals(`await call("${method}", { name: "example" })`, `"An example of ${topic}"`)}
  ${equals(`await call("${method}", { name: "example", detail: "full" })`, `"An example of ${topic}: replace it"`)}
});

test("is called by a program", async () => {
  ${equals(`await run('device.${name}.${method}("example")')`, `"An example of ${topic}"`)}
});

test("names the entries in the error for another name", async () => {
  ${rejects(`call("${method}", { name: "nothing" })`, "/No entry .*example/")}
});
`;
}

function describe(topic: string): string {
  return `Knows about ${topic}. Say here, in one sentence, what the skill is for.`;
}

function methodComment({ name, method, summary }: NewSkill, indent: string): string {
  const text = [
    summary,
    "",
    "@param name Name of the entry (e.g., 'example')",
    "@param detail How much to tell",
    "@returns The entry",
    "@readonly",
    `@example device.${name}.${method}("example")`,
  ];
  return [`${indent}/**`, ...text.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`, ""].join("\n");
}

function body({ topic }: NewSkill, indent: string): string {
  return [
    "const entry = ENTRIES.get(name);",
    `if (entry === undefined) throw new Error(\`No entry "\${name}" about ${topic}; there is \${[...ENTRIES.keys()].join(", ")}\`);`,
    'return detail === "full" ? `${entry.title}: ${entry.text}` : entry.title;',
  ]
    .map((line) => `${indent}${line}\n`)
    .join("");
}

function entries({ topic }: NewSkill): string {
  return `// Replace these entries by the real source, such as a file or an HTTP request.
const ENTRIES = new Map([["example", { title: "An example of ${topic}", text: "replace it" }]]);
`;
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
