import { afterAll, expect, test } from "vitest";

import { MAX_WAITS } from "../../sandbox/shared/protocol.ts";
import { createRuntime, defineSkill } from "../../src/index.ts";

const UserSkill = defineSkill({
  name: "UserSkill",
  description: "Knows users",
  methods: {
    get: {
      description: "Get a user",
      input: { type: "object", properties: { id: { type: "number" } }, required: ["id"] },
      readOnly: true,
      run: async ({ id }: { id: number }) => ({ id, name: `user ${id}` }),
    },
  },
});

const runtime = await createRuntime({ skillsDir: false, skills: [UserSkill], mcpServers: {} });
afterAll(() => runtime.close());

/** A function whose calls the gatekeeper cannot tell from those of other functions that give values. */
const LOAD = "const load = (id) => device.UserSkill.get(id);";

/** The notes of a program that completes. */
async function getNotes(source: string): Promise<readonly string[]> {
  const outcome = await runtime.run(source);
  if (outcome.kind !== "completed") throw new Error(outcome.text);
  return outcome.notes;
}

test.each([
  ["a member", "return user.name"],
  ["a text", "return `${user}`"],
  ["a number", "return user + 1"],
  ["a pattern", "const { name } = user; return name"],
  ["a test", "if (user) return 1"],
  ["a member inside of a callback", "return [1].map(() => user.name)"],
])("notes the line where the run waited for a promise that only the run found: %s [S2]", async (_use, use) => {
  expect(await getNotes(`${LOAD}\nconst user = load(1);\n${use}`)).toEqual([
    "Waited for a promise at line 3, as await was missing",
  ]);
});

test("notes a line once, and lines in their order [S2]", async () => {
  const source = `${LOAD}
const late = () => load(1).name;
for (let id = 0; id < 3; id++) print(load(id).name);
print(late());
return load(4).name + load(5).name`;
  expect(await getNotes(source)).toEqual(["Waited for a promise at line 2, 3, 5, as await was missing"]);
});

test("shows the note of a wait in the text for the model [S2]", async () => {
  const { text } = await runtime.run(`${LOAD}\nreturn load(1).name`);
  expect(text).toBe("user 1\nNote: Waited for a promise at line 2, as await was missing");
});

test("notes at most eight places of waits, and runs on behind them [S2]", async () => {
  const lines = (count: number): string =>
    Array.from({ length: count }, (_, id) => `names.push(load(${id}).name)`).join("\n");
  const source = (count: number): string => `${LOAD}\nconst names = [];\n${lines(count)}\nreturn names.length`;
  const eight = ["Waited for a promise at line 3, 4, 5, 6, 7, 8, 9, 10, as await was missing"];
  expect(MAX_WAITS).toBe(8);
  expect(await getNotes(source(8))).toEqual(eight);
  const outcome = await runtime.run(source(9));
  expect(outcome).toMatchObject({ kind: "completed", value: 9, notes: eight });
});

test("counts the places of waits over the whole run, also where it awaits in between [S2]", async () => {
  const parts = Array.from(
    { length: 9 },
    (_, id) => `names.push(load(${id}).name);\nawait device.UserSkill.get(${id});`,
  );
  const [note] = await getNotes(`${LOAD}\nconst names = [];\n${parts.join("\n")}\nreturn names.length`);
  expect(note).toBe("Waited for a promise at line 3, 5, 7, 9, 11, 13, 15, 17, as await was missing");
});

test("names the method, and not the line again, where the gatekeeper has found the missing await [S2]", async () => {
  expect(await getNotes("const f = () => { if (device.UserSkill.get(1)) return 1 };\nreturn f()")).toEqual([
    "Waited for UserSkill.get, as await was missing",
  ]);
});

test("notes nothing about a program that awaits all that it starts [S2]", async () => {
  expect(
    await getNotes(`const load = async (id) => await device.UserSkill.get(id);\nreturn (await load(1)).name`),
  ).toEqual([]);
});

test.each([
  [
    "a promise that only later code settles",
    "let done;\nconst user = new Promise((resolve) => { done = resolve });\nconst name = user.name;\ndone(device.UserSkill.get(1));\nreturn name",
    "3:17",
  ],
  [
    "two functions that need each other",
    "let b;\nconst a = (async () => { await 0; return b.n })();\nb = (async () => { await 0; return { n: a + 1 } })();\nreturn [b.n, device.UserSkill.get(1)]",
    "3:42",
  ],
])("fails a wait that cannot end with WAIT_CYCLE, its place and a fix: %s [S2]", async (_what, source, place) => {
  const outcome = await runtime.run(source);
  if (outcome.kind !== "failed") throw new Error(`it is ${outcome.kind}`);
  const { code, line, column, frame, hint } = outcome.error;
  expect([code, `${line}:${column}`]).toEqual(["WAIT_CYCLE", place]);
  expect(frame).toContain(`> ${line} | ${source.split("\n")[line - 1]}`);
  expect(hint).toContain("Write await before the call");
});

test("lets a program catch WAIT_CYCLE and go on [S2]", async () => {
  const source =
    "const never = new Promise(() => {});\ntry { print(never.name) } catch (error) { return [error.code, device.UserSkill.get(1).name] }";
  expect(await runtime.run(source)).toMatchObject({ kind: "completed", value: ["WAIT_CYCLE", "user 1"] });
});
