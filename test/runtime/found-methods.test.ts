import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { createRuntime, defineSkill, type Outcome, type Runtime } from "../../src/index.ts";
import { ADD } from "../support/math-skill.ts";

const called: unknown[] = [];
const MathSkill = defineSkill({ name: "MathSkill", description: "Does sums", methods: { add: ADD } });
const NoteSkill = defineSkill({
  name: "NoteSkill",
  description: "Keeps notes",
  methods: {
    write: {
      description: "Write a note",
      input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      run: async ({ text }: { text: string }) => called.push(text),
    },
    remove: {
      description: "Remove a note",
      input: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
      run: async ({ id }: { id: number }) => called.push(id),
    },
  },
});

const ADD_LINE = "MathSkill.add(a: number, b: number) — Add two numbers";
const ADD_FOUND = { path: "MathSkill.add", signature: "add(a: number, b: number)" };
const TEXT = `Found 1 result(s):\n- ${ADD_LINE}`;

let runtime: Runtime;

beforeAll(async () => {
  runtime = await createRuntime({
    skillsDir: false,
    skills: [MathSkill, NoteSkill],
    typecheck: false,
    observe: false,
  });
});

afterAll(() => runtime.close());

async function complete(code: string): Promise<Extract<Outcome, { readonly kind: "completed" }>> {
  const outcome = await runtime.run(code);
  if (outcome.kind !== "completed") throw new Error(outcome.text);
  return outcome;
}

async function evaluate(code: string): Promise<unknown> {
  return (await complete(code)).value;
}

describe("an answer of search_skills reads as a text and as a list", () => {
  test.each([
    ["as the result", "await device.search_skills('add numbers')", TEXT],
    ["as a text", "`${await device.search_skills('add numbers')}`", TEXT],
    ["where the await is missing", "device.search_skills('add numbers') + '!'", `${TEXT}!`],
    ["inside of a result", "({ found: await device.search_skills('add numbers') })", { found: TEXT }],
    ["line by line", "(await device.search_skills('add numbers')).split('\\n').length", 2],
    ["searched for a text", "(await device.search_skills('add numbers')).includes('MathSkill.add(')", true],
    ["as a list", "(await device.search_skills('add numbers')).map(({ path }) => path)", ["MathSkill.add"]],
    ["by its results", "(await device.search_skills('add numbers')).results[0].path", "MathSkill.add"],
    ["by its length", "(await device.search_skills('add numbers')).length", 1],
    [
      "as JSON of its own",
      "JSON.parse(JSON.stringify(await device.search_skills('add numbers')))",
      [{ ...ADD_FOUND, summary: "Add two numbers" }],
    ],
    [
      "one method",
      "const [found] = await device.search_skills('add numbers'); found",
      { ...ADD_FOUND, summary: "Add two numbers" },
    ],
    [
      "one method as a text",
      "const [found] = await device.search_skills('add numbers'); `${found}`",
      "MathSkill.add: add(a: number, b: number) — Add two numbers",
    ],
  ])("%s [D1]", async (_title, code, value) => {
    expect(await evaluate(code)).toEqual(value);
  });

  test("printed, whole and in parts [D1]", async () => {
    const { output } = await complete(
      "const found = await device.search_skills('add numbers'); print(found); print(found[0]); print(found.results);",
    );
    expect(output).toBe(
      [
        TEXT,
        "MathSkill.add: add(a: number, b: number) — Add two numbers",
        '[{path: "MathSkill.add", signature: "add(a: number, b: number)", summary: "Add two numbers"}]',
      ].join("\n"),
    );
  });
});

describe("an answer of describe is a text with members", () => {
  test.each([
    ["path", "MathSkill.add"],
    ["signature", "add(a: number, b: number)"],
    ["summary", "Add two numbers"],
    ["results.length", 1],
    ["slice(0, 20)", "device.MathSkill.add"],
  ])("%s [D3]", async (member, value) => {
    expect(await evaluate(`(await device.describe("MathSkill.add")).${member}`)).toBe(value);
    expect(await evaluate(`device.describe("MathSkill.add").${member}`)).toBe(value);
  });

  test("as the result, printed and in a template [D3]", async () => {
    const { text } = runtime.describe("MathSkill.add");
    const code = "const text = await device.describe('MathSkill.add'); print(text); [text, `${text}`]";
    const { output, value } = await complete(code);
    expect([output, value]).toEqual([text, [text, text]]);
  });

  test("a skill has the methods that it names [D3]", async () => {
    expect(await evaluate("(await device.describe('NoteSkill')).results.map(({ path }) => path)")).toEqual([
      "NoteSkill.write",
      "NoteSkill.remove",
    ]);
  });

  test("a member that it does not have is noted", async () => {
    const { notes } = await complete("const text = await device.describe('MathSkill.none'); text.parameters");
    expect(notes).toEqual(["`text.parameters` at line 1, column 59: text is a text of 43 characters"]);
  });
});

describe("a found method is called", () => {
  test.each([
    ["with named arguments", "const [add] = await device.search_skills('add numbers'); await add.call({ a: 1, b: 2 })"],
    ["by position", "const [add] = await device.search_skills('add numbers'); await add.call(1, 2)"],
    ["from a description", "const add = await device.describe('MathSkill.add'); await add.call({ a: 1, b: 2 })"],
    ["without any await", "const found = device.search_skills('add numbers'); found[0].call(1, 2) + 0"],
    ["as a value without await", "device.describe('MathSkill.add').call(1, 2).toFixed(0) * 1"],
  ])("%s [D1]", async (_title, code) => {
    const { value, calls } = await complete(code);
    expect([value, calls]).toMatchObject([3, [{ skill: "MathSkill", method: "add", outcome: "ok" }]]);
  });

  test("a call that nothing awaits is made before the run ends, in the order of the program [S2]", async () => {
    called.length = 0;
    const { notes } = await complete(
      "const note = await device.describe('NoteSkill.write');\nnote.call('a');\nnote.call('b');\nawait note.call('c');",
    );
    expect([called, notes]).toEqual([["a", "b", "c"], ["Waited for a found method, as await was missing"]]);
  });

  test("with arguments that are checked like those of any call [S6]", async () => {
    const outcome = await runtime.run(
      "const [add] = await device.search_skills('add numbers');\nawait add.call({ a: 1 })",
    );
    expect(outcome).toMatchObject({ kind: "failed", error: { code: "ARGUMENTS_INVALID", line: 2 } });
  });

  test("only with the permissions of the caller, whatever its path says [S6 P2]", async () => {
    called.length = 0;
    const caller = { id: "ada", permissions: ["call:NoteSkill.write", "see:NoteSkill.*"] };
    const code = `const [removed] = await device.search_skills("remove note");
const codes = [];
for (const path of ["NoteSkill.remove", "MathSkill.add"]) {
  removed.path = path;
  codes.push(await removed.call(1).catch((error) => error.code));
}
codes`;
    expect(await runtime.run(code, { caller })).toMatchObject({ value: ["PERMISSION_MISSING", "METHOD_UNKNOWN"] });
    expect(called).toEqual([]);
  });

  test("`call` without its object is an error that says so", async () => {
    const code = "const [{ call }] = await device.search_skills('add numbers');\ncall(1, 2)";
    expect(await runtime.run(code)).toMatchObject({
      error: { message: "TypeError: Cannot call a method without its object: write found[0].call(…)" },
    });
  });

  test("the plan lists it as a call of any method [S5]", () => {
    const { plan } = runtime.check("const [add] = await device.search_skills('add');\nawait add.call(1, 2)");
    expect(plan.map(({ path, line }) => [path, line])).toEqual([
      ["search_skills", 1],
      ["*", 2],
    ]);
    const own =
      "const f = function () {}; f.call(null); Array.prototype.slice.call([]); await device.search_skills('add')";
    expect(runtime.check(own).plan.map(({ path }) => path)).toEqual(["search_skills"]);
  });
});

describe("several questions are asked at once", () => {
  const SEVERAL = `## add numbers\n${TEXT}\n\n## zzz\nNo results found\nSkills: MathSkill, NoteSkill\nSearch again with two to four English words that a tool's author would use: a verb and a thing, one intent a search`;

  test("of search_skills, in a program [D1]", async () => {
    expect(await evaluate("await device.search_skills(['add numbers', 'zzz'])")).toBe(SEVERAL);
    expect(
      await evaluate(
        "const found = await device.search_skills({ query: ['add numbers', 'zzz'] });\n[found.length, found[0][0].path, found[1].length, found.results.length]",
      ),
    ).toEqual([2, "MathSkill.add", 0, 1]);
  });

  test("of describe, in a program [D3]", async () => {
    const code =
      "const [add, none] = await device.describe(['MathSkill.add', 'NoSkill.x']);\n[add.path, none.path, await add.call(1, 2)]";
    expect(await evaluate(code)).toEqual(["MathSkill.add", null, 3]);
    expect(await evaluate("device.describe(['MathSkill.add', 'NoSkill.x'])")).toBe(
      `## MathSkill.add\n${runtime.describe("MathSkill.add").text}\n\n## NoSkill.x\nError: Skill 'NoSkill' not found; did you mean NoteSkill?`,
    );
  });

  test.each([
    ["search_skills", "device.search_skills(Array(9).fill('add'))"],
    ["describe", "device.describe(Array(9).fill('MathSkill.add'))"],
  ])("at most eight of %s", async (name, code) => {
    expect(await runtime.run(code)).toMatchObject({
      error: {
        code: "ARGUMENTS_INVALID",
        message: `Cannot call a method with these arguments: ${name} takes at most 8 texts at once, and the list has 9 (ARGUMENTS_INVALID)`,
      },
    });
  });

  test("of the tools of a model [D1 D3]", async () => {
    const [searching, describing] = runtime.tools();
    const found = await searching?.execute({ query: ["add numbers", "zzz"] });
    expect(found).toMatchObject({ text: SEVERAL, value: [{ path: "MathSkill.add" }] });
    const path = ["MathSkill.add", "NoteSkill.remove"];
    const described = await describing?.execute({ path });
    expect(described).toMatchObject({
      text: path.map((each) => `## ${each}\n${runtime.describe(each).text}`).join("\n\n"),
      value: { kind: "several", path: "MathSkill.add, NoteSkill.remove", methods: path },
    });
    expect(await describing?.execute({ path: ["NoSkill.a", "NoSkill.b"] })).toMatchObject({ isError: true });
    expect(await searching?.execute({ query: Array.from({ length: 9 }, () => "add") })).toMatchObject({
      isError: true,
      text: expect.stringContaining("search_skills"),
    });
  });

  test("each answer is shorter, the more there are", async () => {
    const skills = Array.from({ length: 40 }, (_, at) =>
      defineSkill({
        name: `S${at}Skill`,
        description: "",
        methods: { [`send_mail_${at}`]: { description: `Send mail ${"with care ".repeat(12)}`, run: () => 1 } },
      }),
    );
    await using large = await createRuntime({ skillsDir: false, skills, typecheck: false });
    const measure = async (query: unknown): Promise<number> => {
      const [searching] = large.tools();
      return (await searching?.execute({ query, limit: 30 }))?.text.length ?? 0;
    };
    const one = await measure("send mail");
    expect(await measure(Array.from({ length: 8 }, (_, at) => `send mail ${at}`))).toBeLessThan(one * 4);
  });
});
