import type { JsonSchema } from "../../src/model/json.ts";
import type { ProvidedSkill } from "../../src/model/skill.ts";
import { createRegistry, declarations } from "../../src/registry/index.ts";
import { checkTypes } from "../../src/typecheck/check-types.ts";

const STRING = { type: "string" };
const NUMBER = { type: "number" };

const USER = {
  type: "object",
  properties: {
    id: NUMBER,
    name: STRING,
    email: STRING,
    tags: { type: "array", items: STRING },
    address: { type: "object", properties: { city: STRING, zip: STRING }, required: ["city"] },
    created: { type: "string", format: "date-time" },
  },
  required: ["id", "name", "tags", "address"],
};

const FILTER = {
  type: "object",
  properties: {
    name: STRING,
    tags: { type: "array", items: STRING },
    order: { enum: ["asc", "desc"] },
    nested: { type: "object", properties: { depth: NUMBER }, required: ["depth"] },
  },
};

/** By path: what goes in, what of it is required, and what comes out. */
const METHODS: Readonly<Record<string, readonly [JsonSchema, readonly string[], JsonSchema?]>> = {
  "MathSkill.add": [{ a: NUMBER, b: NUMBER }, ["a", "b"], NUMBER],
  "TimeSkill.now": [{}, [], STRING],
  "UserSkill.get": [{ id: NUMBER }, ["id"], USER],
  "UserSkill.list": [
    { filter: FILTER, limit: NUMBER },
    [],
    {
      type: "object",
      properties: { users: { type: "array", items: USER }, total: NUMBER },
      required: ["users", "total"],
    },
  ],
  "UserSkill.names": [{ prefix: STRING }, [], { type: "array", items: STRING }],
  "UserSkill.save": [{ user: { type: "object" }, "dry-run": { type: "boolean" } }, ["user"], { type: "boolean" }],
  "WebSkill.search": [
    { query: STRING, count: NUMBER },
    ["query"],
    {
      type: "array",
      items: { type: "object", properties: { title: STRING, url: STRING }, additionalProperties: true },
    },
  ],
  "WebSkill.fetch": [{ url: STRING, class: STRING }, ["url"]],
  "ShapeSkill.get": [
    { id: { type: ["number", "string"] } },
    ["id"],
    {
      oneOf: [
        { type: "object", properties: { kind: { const: "circle" }, radius: NUMBER }, required: ["kind", "radius"] },
        { type: "object", properties: { kind: { const: "square" }, side: NUMBER }, required: ["kind", "side"] },
      ],
    },
  ],
};

export const SKILLS: readonly ProvidedSkill[] = createSkills(
  Object.entries(METHODS).map(([path, [properties, required, output]]) => ({
    path,
    input: { type: "object", properties, required },
    output,
  })),
);

export interface SampleMethod {
  readonly path: string;
  readonly input: JsonSchema;
  readonly output: JsonSchema | undefined;
}

/** Skills whose methods are never called. */
export function createSkills(methods: readonly SampleMethod[]): readonly ProvidedSkill[] {
  const names = new Set(methods.map(({ path }) => path.split(".")[0] ?? ""));
  return [...names].map((name) => ({
    name,
    description: `${name} of the tests`,
    source: "samples.ts",
    kind: "code",
    methods: methods
      .filter(({ path }) => path.startsWith(`${name}.`))
      .map(({ path, input, output }) => ({
        name: path.slice(name.length + 1),
        description: path,
        input,
        ...(output !== undefined && { output }),
      })),
    invoke: () => Promise.reject(new Error("Cannot call a method of a sample")),
  }));
}

export function createDeclarations(skills: readonly ProvidedSkill[]): string {
  const registry = createRegistry();
  for (const skill of skills) registry.register(skill);
  return declarations(registry.catalog);
}

export const DECLARATIONS = createDeclarations(SKILLS);

/** A diagnostic on one line: `! "b" of MathSkill.add must be a number, not "x"`, with `?` where it is not certain. */
export function told(code: string, typescript = false): readonly string[] {
  return checkTypes({ code, typescript, declarations: DECLARATIONS }).map(
    ({ certain, message, suggestions }) =>
      `${certain ? "!" : "?"} ${message}${suggestions.length > 0 ? ` (${suggestions.join(", ")})` : ""}`,
  );
}

/** Code in which `«…»` stand around the places of its diagnostics. */
export function unmarked(marked: string): { readonly code: string; readonly places: readonly (readonly number[])[] } {
  let code = "";
  const open: number[] = [];
  const places: (readonly [number, number])[] = [];
  for (const character of marked) {
    if (character === "«") open.push(code.length);
    else if (character === "»") places.push([open.pop() ?? 0, code.length]);
    else code += character;
  }
  return { code, places: places.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]) };
}
