import * as fc from "../support/fuzz.ts";
import { repetitions } from "../support/repetitions.ts";
import { describe, expect, test } from "vitest";
import { bareDeclarations, declarations } from "../../src/registry/index.ts";
import { createCatalog, recordedSkills, sampleSkills, createSkill } from "./catalogs.ts";
import { findDiagnostics } from "./compile.ts";
import { rootSchema } from "./schemas.ts";

const CALCULATOR = createSkill(
  "MathSkill",
  [
    {
      name: "add",
      description: "Adds two numbers",
      input: {
        type: "object",
        properties: { a: { type: "number", description: "The first" }, b: { type: "number", default: 1 } },
        required: ["a"],
      },
      output: { type: "number" },
    },
    { name: "reset", input: { type: "object", properties: {} } },
    { name: "any" },
  ],
  { description: "Does sums" },
);

test("declares one signature for positional arguments and one for named ones [D5]", () => {
  expect(declarations(createCatalog(CALCULATOR), ["MathSkill"])).toBe(`declare const device: {
  /** Does sums */
  MathSkill: {
    /**
     * Adds two numbers
     * @param a The first
     * @param b default 1
     */
    add(a: number, b?: number): Promise<number>;
    add(args: { a: number; b?: number }): Promise<number>;
    reset(): Promise<any>;
    reset(args: Record<string, never>): Promise<any>;
    any(args?: Record<string, unknown>): Promise<any>;
  };
};
`);
});

test("declares for the compiler the used methods alone, the same however often a result was observed [D5, S5]", () => {
  const { methods } = createCatalog(CALCULATOR);
  const schema = { type: "object", properties: { sum: { type: "number" } } };
  const [once, often] = [1, 900].map((times) => bareDeclarations(methods.slice(0, 2), () => ({ schema, times })));
  expect(often).toBe(once);
  expect(bareDeclarations(methods.slice(1))).toBe(`declare const device: {
  MathSkill: {
    reset(): Promise<any>;
    reset(args: Record<string, never>): Promise<any>;
    any(args?: Record<string, unknown>): Promise<any>;
  };
};
`);
  expect(once).toBe(`declare const device: {
  MathSkill: {
    add(a: number, b?: number): Promise<{ sum?: number }>;
    add(args: { a: number; b?: number }): Promise<{ sum?: number }>;
    reset(): Promise<{ sum?: number }>;
    reset(args: Record<string, never>): Promise<{ sum?: number }>;
  };
};
`);
});

test("declares made-up servers as reviewed [D5]", async () => {
  await expect(declarations(createCatalog(...sampleSkills()))).toMatchFileSnapshot("golden/declarations.txt");
});

test.each(recordedSkills().map((skill) => [skill.name, skill] as const))(
  "declares %s, a recorded server, as reviewed [D5]",
  async (name, skill) => {
    await expect(declarations(createCatalog(skill))).toMatchFileSnapshot(`golden/${name}.declarations.txt`);
  },
);

test("declares types that accept both ways to call, and reject wrong calls [D5]", { tags: "rest" }, () => {
  const lines = [
    "const right: [Promise<number>, Promise<number>, Promise<number>] = [device.MathSkill.add(1, 2), device.MathSkill.add(1), device.MathSkill.add({ a: 1, b: 2 })];",
    "device.MathSkill.reset(); device.MathSkill.reset({}); device.MathSkill.any(); device.MathSkill.any({ x: [1] });",
    'device.MathSkill.add("1");',
    "device.MathSkill.add({ a: 1, c: 2 });",
    "device.MathSkill.add();",
    "device.MathSkill.sub(1);",
  ];
  const files = {
    "catalog.ts": declarations(createCatalog(CALCULATOR)),
    "calls.ts": `${lines.join("\n")}\nexport { right };`,
  };
  const places = findDiagnostics(files).map((problem) => /^calls\.ts\((\d+),/.exec(problem)?.[1]);
  expect(places).toEqual(["3", "4", "5", "6"]);
});

test("declares only the named skills, and reports an unknown one with the nearest names [D5]", () => {
  const catalog = createCatalog(...sampleSkills());
  expect(declarations(catalog, ["WeatherMCP"])).toMatch(/^declare const device: \{\n {2}WeatherMCP: \{/);
  expect(declarations(catalog, [])).toBe("declare const device: {\n\n};\n");
  expect(() => declarations(catalog, ["Wether"])).toThrow(
    expect.objectContaining({
      code: "SKILL_UNKNOWN",
      message: "Unknown skill: Wether; did you mean WeatherMCP? (SKILL_UNKNOWN)",
    }),
  );
});

test("names a type that several methods share once, and keeps two types with the same name apart [D5]", () => {
  const shared = {
    type: "object",
    properties: { text: { type: "string", description: "What it says" } },
    required: ["text"],
  };
  const other = {
    type: "object",
    properties: { count: { type: "number", description: "How many" } },
    required: ["count"],
  };
  const input = (note: object): object => ({
    type: "object",
    properties: { note: { $ref: "#/$defs/note" } },
    $defs: { note },
  });
  const skill = createSkill("NoteSkill", [
    { name: "one", input: { ...input(shared) } },
    { name: "two", input: { ...input(shared) } },
    { name: "three", input: { ...input(other) } },
  ]);
  const text = declarations(createCatalog(skill));
  expect(text.match(/type \w+/g)).toEqual(["type Note", "type three_Note"]);
  expect(text).toContain("two(note?: NoteSkill.Note): Promise<any>;");
  expect(text).toContain("three(note?: NoteSkill.three_Note): Promise<any>;");
  expect(findDiagnostics({ "catalog.ts": text })).toEqual([]);
});

test(
  "declares every reserved word as a method, a parameter, a property and a skill that compiles [D5]",
  { tags: "rest" },
  () => {
    const words =
      "arguments async await break case catch class const continue debugger declare default delete do else enum eval export extends false finally for from function get global if implements import in instanceof interface is keyof let module namespace new never null object of package private protected public readonly require return set static string super switch symbol this throw true try type typeof undefined unique unknown var void while with yield Promise Record Array".split(
        " ",
      );
    const properties = Object.fromEntries(
      words.map((word) => [word, { type: "object", properties: { [word]: { $ref: `#/$defs/${word}` } } }]),
    );
    const $defs = Object.fromEntries(
      words.map((word) => [word, { type: "object", properties: { [word]: { $ref: `#/$defs/${word}` } } }]),
    );
    const input = { type: "object", properties, $defs };
    const skills = words.map((word) => createSkill(word, [{ name: word, input, output: input }]));
    const all = createSkill(
      "All",
      words.map((name) => ({ name })),
    );
    expect(findDiagnostics({ "catalog.ts": declarations(createCatalog(all, ...skills.slice(0, 70))) })).toEqual([]);
  },
);

test("lets no description end or hide in a comment [D5]", () => {
  const description = "*/ alert(1) /* `${x}` \u202E\nsecond line */";
  const property = { type: "string", description };
  const input = {
    type: "object",
    properties: { plain: property, deep: { type: "object", properties: { "*/": property } } },
  };
  const text = declarations(
    createCatalog(createSkill("S", [{ name: "m", description, input, output: input }], { description })),
  );
  expect(findDiagnostics({ "catalog.ts": text })).toEqual([]);
  expect(text).not.toContain("\u202E");
});

test("declares an endless schema in bounded time and size [D5]", () => {
  const refs = ["a", "b", "c", "d"].map((name) => ({ $ref: `#/$defs/${name}` }));
  const $defs = Object.fromEntries(
    ["a", "b", "c", "d"].map((name) => [
      name,
      { type: "object", anyOf: refs, allOf: refs, properties: { x: { oneOf: refs } } },
    ]),
  );
  let deep: object = { type: "string" };
  for (let depth = 0; depth < 90; depth++) deep = { type: "object", properties: { in: deep }, required: ["in"] };
  const wide = {
    anyOf: Array.from({ length: 3_000 }, (_, at) => ({ type: "object", properties: { [`p${at}`]: {} } })),
  };
  const many = {
    allOf: Array.from({ length: 12 }, () => ({
      anyOf: Array.from({ length: 12 }, (_, at) => ({ properties: { [`q${at}`]: {} } })),
    })),
  };
  const input = { type: "object", properties: { a: refs[0], deep, wide, many }, $defs };
  const text = declarations(createCatalog(createSkill("S", [{ name: "m", input, output: input }])));
  expect(text.length).toBeLessThan(1_000_000);
  expect(findDiagnostics({ "catalog.ts": text })).toEqual([]);
});

test("declares types that compile under strict, for any schema [D5]", { tags: "rest" }, () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(rootSchema, rootSchema), { minLength: 5, maxLength: 10 }), (schemas) => {
      const methods = schemas.map(([input, output], at) => ({ name: `m${at}`, input, output, description: "*/" }));
      const text = declarations(createCatalog(createSkill("Wild", methods)));
      const problems = findDiagnostics({ "catalog.ts": text });
      if (problems.length > 0) throw new Error(`${problems.join("\n")}\n${text}`);
    }),
    { numRuns: repetitions(3, 15, 40), interruptAfterTimeLimit: 20_000 },
  );
});

describe("the recorded servers", () => {
  test("have declarations that compile under strict [D5]", () => {
    for (const skill of recordedSkills()) {
      expect(findDiagnostics({ "catalog.ts": declarations(createCatalog(skill)) })).toEqual([]);
    }
  });

  test("have declarations that compile together, and separately for each method [D5]", { tags: "rest" }, () => {
    const catalog = createCatalog(...recordedSkills());
    expect(catalog.methods).toHaveLength(126);
    expect(findDiagnostics({ "catalog.ts": declarations(catalog) })).toEqual([]);
    // Each in a module of its own, so that none sees the types of another.
    const modules = catalog.methods.map(({ declaration, name, path }) => {
      const [signature = "", ...types] = declaration.split(/\n(?=type )/);
      const text = `${types.join("\n")}\ndeclare const skill: { ${signature} };\nexport const used = skill.${name};`;
      return [`${path}.ts`, text] as const;
    });
    expect(findDiagnostics({ "broken.ts": "export const used: Missing = 1;" })).toHaveLength(1);
    expect(findDiagnostics(Object.fromEntries(modules))).toEqual([]);
  });
});
