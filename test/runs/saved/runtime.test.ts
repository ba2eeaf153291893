import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime, defineSkill, type Runtime, type RuntimeOptions } from "../../../src/index.ts";
import { parseCassette } from "../../../src/runs/index.ts";

const TEXT = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;

const BASE = defineSkill({
  name: "BaseSkill",
  description: "Methods for saved skills",
  methods: {
    echo: { description: "Return a text", input: TEXT, readOnly: true, run: ({ text }) => text },
    pay: { description: "Pay", input: TEXT, approval: "user", run: ({ text }) => `paid ${text}` },
    large: {
      description: "Return many rows",
      readOnly: true,
      run: () => ({ at: new Date(0), text: "x".repeat(400_000) }),
    },
    fail: {
      description: "Fail",
      run: () => {
        throw new Error("out of order");
      },
    },
  },
});

/** The file of a saved skill. */
function saved(name: string, source: string, fields = ""): string {
  const lines = source.split("\n").map((line) => `  ${line}`);
  return `format: skillgate-saved-1
name: ${name}
description: Try it
method: run
run: 4d7d08e3
cassette: one.cassette.json
${fields}source: |
${lines.join("\n")}
`;
}

const ECHO = saved(
  "EchoOnceSkill",
  `const text = "a";\nawait device.BaseSkill.echo(text)`,
  "parameters: { text: {} }\n",
);

function createFolder(files: Readonly<Record<string, string>>): string {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "skillgate-saved-")));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  mkdirSync(join(cwd, "skills"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, "skills", name), text);
  return cwd;
}

async function open(files: Readonly<Record<string, string>>, options: RuntimeOptions = {}): Promise<Runtime> {
  const skillsDir = join(createFolder(files), "skills");
  const runtime = await createRuntime({ skillsDir, skills: [BASE], workers: 1, ...options });
  onTestFinished(() => runtime.close());
  await runtime.known;
  return runtime;
}

test("runs a saved skill with the permissions of its caller, and blames none of them on the skill [R6]", async () => {
  const runtime = await open({ "echo.saved.yaml": ECHO });
  const limited = { id: "limited", permissions: ["call:EchoOnceSkill.*"] };
  for (let time = 0; time < 3; time++)
    await expect(runtime.call("EchoOnceSkill.run", { text: "b" }, { caller: limited })).rejects.toThrow("was refused");
  const allowed = { id: "allowed", permissions: ["call:EchoOnceSkill.*", "call:BaseSkill.echo"] };
  expect(await runtime.call("EchoOnceSkill.run", { text: "b" }, { caller: allowed })).toBe("b");
  expect(runtime.audit().filter(({ path }) => path === "BaseSkill.echo")).toHaveLength(1);
  expect(runtime.savedSkills.list()).toMatchObject([{ counts: { passes: 1, failures: 0 } }]);
});

const HOSTILE = [
  `"); await device.BaseSkill.fail(); ("`,
  "a\n```js\nawait device.BaseSkill.fail()\n```\n",
  "</code><tool_call>{}</tool_call>",
  "\u202Eright\u2028to\u2029left\u0000\\",
  "${await device.BaseSkill.fail()}`",
  "😀 \uD800",
];

test.each(HOSTILE)("passes %j as a value, whatever it looks like [R6]", async (text) => {
  const runtime = await open({ "echo.saved.yaml": ECHO });
  expect(await runtime.call("EchoOnceSkill.run", { text })).toBe(text);
});

const FORMS: readonly (readonly [form: string, source: string])[] = [
  ["a constant, as in files of before", `const text = "a";\nawait device.BaseSkill.echo(text)`],
  ["a pattern", `const { text } = await device.input();\nawait device.BaseSkill.echo(text)`],
  ["a member", `await device.BaseSkill.echo(device.input().text)`],
];

test.each(FORMS)("gives a program its arguments by %s [R6]", async (_form, source) => {
  const file = saved("EchoOnceSkill", source, "parameters: { text: { type: string } }\n");
  const runtime = await open({ "echo.saved.yaml": file });
  const checked: string[] = [];
  runtime.on("call", ({ path, outcome }) => checked.push(`${path} ${outcome}`));
  for (const text of ["b", HOSTILE[0]]) expect(await runtime.call("EchoOnceSkill.run", { text })).toBe(text);
  expect(new Set(checked)).toEqual(new Set(["BaseSkill.echo ok", "EchoOnceSkill.run ok"]));
});

const SAVE = { name: "CopySkill", method: "run", description: undefined, cassetteFile: "copy.cassette.json" };

test.each([
  ["a literal", `await device.BaseSkill.echo("Rome")`, undefined, ["text=Rome"]],
  ["a constant", `const text = "Rome";\nawait device.BaseSkill.echo(text)`, undefined, ["text"]],
  ["an input", `const { text } = await device.input();\nawait device.BaseSkill.echo(text)`, { text: "Rome" }, []],
])(
  "saves a run with %s as a program with an input, whose cassette repeats it [R6]",
  async (_, source, input, parameters) => {
    const runtime = await open({}, { store: createFolder({}), runs: { record: "full" } });
    const { runId } = await runtime.run(source, { input });
    const texts = await runtime.savedSkills.save(runId, { ...SAVE, parameters });
    expect(texts).toMatchObject({ parameters: { text: { type: "string" } }, example: { text: "Rome" } });
    expect(texts.skillText).toContain(
      "source: |\n  const { text } = await device.input();\n  await device.BaseSkill.echo(text)\n",
    );
    const cassette = parseCassette(JSON.parse(texts.cassetteText));
    expect(cassette).toMatchObject({
      header: { input: { text: "Rome" } },
      calls: [
        { id: 1, path: "input" },
        { id: 2, path: "BaseSkill.echo" },
      ],
    });
    expect(await runtime.runs.replay(cassette)).toMatchObject({ kind: "completed", value: "Rome" });
  },
);

test.each([
  ["its input has", "(await device.input()).text.length", { text: "x".repeat(262_133) }, { text: "x".repeat(262_134) }],
  [
    "the arguments and results of its calls have",
    `const { count } = await device.input();
for (let id = 0; id < count; id++) await device.BaseSkill.echo("x".repeat(900_000));`,
    { count: 4 },
    { count: 5 },
  ],
])("refuses to save a run of which %s too many characters [R6]", { tags: "rest" }, async (what, code, most, more) => {
  const runtime = await open({}, { store: createFolder({}), runs: { record: "full" } });
  const save = async (input: object): Promise<unknown> => {
    const { runId } = await runtime.run(code, { input });
    return runtime.savedSkills.save(runId, { ...SAVE, parameters: [] });
  };
  await expect(save(most)).resolves.toBeDefined();
  await expect(save(more)).rejects.toThrow(new RegExp(`${what} \\d+ characters, at most \\d+ are allowed`));
});

test("accepts only plain data that its schema allows [R6]", async () => {
  const runtime = await open({ "echo.saved.yaml": ECHO });
  const proto = JSON.parse(`{"__proto__": {"a": 1}}`) as unknown;
  await expect(runtime.call("EchoOnceSkill.run", { text: proto })).rejects.toThrow("ARGUMENTS_INVALID");
  await expect(runtime.call("EchoOnceSkill.run", {})).rejects.toMatchObject({ code: "ARGUMENTS_INVALID" });
});

test("limits how deeply saved skills call each other [R6]", async () => {
  const again = saved("AgainSkill", `await device.AgainSkill.run()`);
  const runtime = await open({ "again.saved.yaml": again });
  await expect(runtime.call("AgainSkill.run", {})).rejects.toThrow(
    "saved skills that call each other, and these may be nested 3 deep",
  );
});

test(
  "runs more saved skills at once than there are threads, also those that a program waits for [R6]",
  { tags: "rest" },
  async () => {
    const inner = saved(
      "InnerSkill",
      `const text = "a";\nconst get = () => device.BaseSkill.echo(text);\n[get()].map((each) => each + "!")[0]`,
      "parameters: { text: { type: string } }\n",
    );
    const outer = saved(
      "OuterSkill",
      `const text = "a";\nconst get = () => device.InnerSkill.run(text);\n[get()].map((each) => each + "?")[0]`,
      "parameters: { text: { type: string } }\n",
    );
    const runtime = await open({ "inner.saved.yaml": inner, "outer.saved.yaml": outer });
    const texts = Array.from({ length: 24 }, (_, at) => `t${at}`);
    const answers = await Promise.all(texts.map((text) => runtime.call("OuterSkill.run", { text })));
    expect(answers).toEqual(texts.map((text) => `${text}!?`));
  },
);

test("returns a large result whole, with its dates [R6]", { tags: "rest" }, async () => {
  const runtime = await open({ "large.saved.yaml": saved("LargeSkill", "await device.BaseSkill.large()") });
  const outcome = await runtime.run("const { at, text } = await device.LargeSkill.run();\n[at.getTime(), text.length]");
  expect(outcome).toMatchObject({ kind: "completed", value: [0, 400_000] });
});

test("asks the person of its caller for approvals of the methods that it calls [R6]", async () => {
  const pay = saved("PaySkill", `await device.BaseSkill.pay("ten")`);
  const runtime = await open({ "pay.saved.yaml": pay });
  const asked: string[] = [];
  const approve = ({ path }: { readonly path: string }): boolean => asked.push(path) > 0;
  expect(await runtime.call("PaySkill.run", {}, { approve })).toBe("paid ten");
  expect(asked).toEqual(["BaseSkill.pay"]);
  await expect(runtime.call("PaySkill.run", {})).rejects.toThrow("APPROVAL_MISSING");
  expect(runtime.savedSkills.list()).toMatchObject([{ counts: { failures: 0 } }]);
});

test("removes a skill that failed twice while the runtime is open, and says why [R6]", async () => {
  const runtime = await open({ "fail.saved.yaml": saved("FailSkill", "await device.BaseSkill.fail()") });
  for (let time = 0; time < 2; time++) await expect(runtime.call("FailSkill.run", {})).rejects.toThrow("out of order");
  expect(runtime.catalog.skill("FailSkill")).toBeUndefined();
  expect(runtime.problems).toMatchObject([
    { source: "fail.saved.yaml", error: expect.stringContaining("FailSkill failed 2 times in succession") },
  ]);
});

test("follows new, changed, broken and deleted files while the runtime is open [R6]", async () => {
  const cwd = createFolder({});
  const file = join(cwd, "skills/echo.saved.yaml");
  const runtime = await createRuntime({ skillsDir: join(cwd, "skills"), skills: [BASE], workers: 1, watch: true });
  onTestFinished(() => runtime.close());
  const changed = async (change: () => void): Promise<void> => {
    const next = new Promise<void>((resolve) => {
      const stop = runtime.on("catalog", () => {
        stop();
        resolve();
      });
    });
    change();
    await next;
  };
  await changed(() => writeFileSync(file, ECHO));
  expect(await runtime.call("EchoOnceSkill.run", { text: "b" })).toBe("b");
  await changed(() => writeFileSync(file, ECHO.replace("echo(text)", "echo(text + text)")));
  expect(await runtime.call("EchoOnceSkill.run", { text: "b" })).toBe("bb");
  writeFileSync(file, "name: 5");
  await expect
    .poll(() => runtime.problems)
    .toMatchObject([
      { source: "echo.saved.yaml", error: expect.stringContaining("line 1: the field format is missing") },
    ]);
  expect(await runtime.call("EchoOnceSkill.run", { text: "b" })).toBe("bb");
  await changed(() => rmSync(file));
  expect(runtime.catalog.skill("EchoOnceSkill")).toBeUndefined();
  expect(runtime.problems).toEqual([]);
});

test("reads files with the earlier name, and needs no process for them [R6]", async () => {
  const listProcesses = (): readonly string[] =>
    process.getActiveResourcesInfo().filter((resource) => resource === "ProcessWrap");
  const before = listProcesses();
  const runtime = await open({ "echo.learned.yml": ECHO });
  expect(await runtime.call("EchoOnceSkill.run", { text: "b" })).toBe("b");
  expect(await runtime.health()).toContainEqual(
    expect.objectContaining({ skill: "EchoOnceSkill", source: "echo.learned.yml", healthy: true }),
  );
  expect(listProcesses()).toEqual(before);
});

test("reads at most 500 files of a folder [R6]", { tags: "rest" }, async () => {
  const names = Array.from({ length: 501 }, (_, at) => `s${String(at).padStart(3, "0")}`);
  const runtime = await open(
    Object.fromEntries(names.map((name) => [`${name}.saved.yaml`, ECHO.replace("EchoOnceSkill", `${name}Skill`)])),
  );
  expect(runtime.savedSkills.list()).toHaveLength(500);
  expect(runtime.problems).toEqual([
    {
      source: "s500.saved.yaml",
      error: "Cannot load the skill: there are more than 500 saved skills (SKILL_INVALID)",
    },
  ]);
  expect(await runtime.call("s499Skill.run", { text: "b" })).toBe("b");
});

const BOMB = `a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\nname: *b\n`;

const BROKEN: readonly (readonly [what: string, text: string, says: string | RegExp])[] = [
  ["with aliases", BOMB, "line 1: unknown field a"],
  ["with an alias of a known field", `name: &a [x]\nsource: *a\n`, "line 1: aliases, such as *name, are not allowed"],
  ["of 10 MB", `source: ${"x".repeat(10 << 20)}`, "it has 10485768 bytes; at most 1048576 are read"],
  ["with a program of 300 KB", saved("BigSkill", `"${"x".repeat(300 << 10)}"`), "SOURCE_LIMIT"],
  ["that is no YAML", "name: [", /line \d+: /],
  ["that is nested deeply", `name: ${"[".repeat(100_000)}`, /line \d+: /],
  ["that is a list", "- a\n- b\n", "line 1: the file must have fields"],
  ["that is empty", "", "line 1: the file must have fields"],
  [
    "of another version",
    ECHO.replace("saved-1", "saved-9"),
    `line 1: format must be "skillgate-saved-1", not "skillgate-saved-9"`,
  ],
  [
    "with a name that is none",
    ECHO.replace("EchoOnceSkill", "[a]"),
    "line 2: name must be the name of a skill, such as WeatherReportSkill, not a list",
  ],
  ["with a field twice", `${ECHO}name: OtherSkill\n`, "line 11: the field name appears twice"],
  ["with a mistyped field", ECHO.replace("method:", "metod:"), "line 4: unknown field metod; did you mean method?"],
  [
    "with a cassette elsewhere",
    ECHO.replace("one.cassette.json", "../one.cassette.json"),
    "line 6: cassette must be the name of a file beside this one",
  ],
  ["with wrong metadata", ECHO.replace("run: 4d", "readOnly: perhaps\nrun: 4d"), "line 5: readOnly of"],
  [
    "with parameters that are none",
    ECHO.replace("{ text: {} }", "[text]"),
    "line 7: parameters must be names with JSON Schemas",
  ],
  [
    "with a schema that is none",
    ECHO.replace("{ text: {} }", "{ text: 5 }"),
    "line 7: the parameter text must be a JSON Schema",
  ],
  [
    "with a parameter that the program lacks",
    ECHO.replace("{ text: {} }", "{ city: {} }"),
    "the program does not use its parameter city: write const { city } = await device.input()",
  ],
  [
    "with a computed parameter",
    ECHO.replace(`const text = "a"`, "const text = String(1)"),
    "line 1, column 7 of the program: the value of text is computed",
  ],
  [
    "with a program that cannot be parsed",
    ECHO.replace("await device", "await ) device"),
    /line 2, column \d+ of the program: /,
  ],
];

test.each(BROKEN)("refuses a file %s, and uses the others [R6]", { tags: "rest" }, async (_what, text, says) => {
  const runtime = await open({ "a.saved.yaml": text, "z.saved.yaml": ECHO });
  expect(runtime.problems).toMatchObject([
    { source: "a.saved.yaml", error: expect.stringMatching(/^Cannot load the skill: /) },
  ]);
  if (typeof says === "string") expect(runtime.problems[0]?.error).toContain(says);
  else expect(runtime.problems[0]?.error).toMatch(says);
  expect(await runtime.call("EchoOnceSkill.run", { text: "b" })).toBe("b");
});

test("follows no links, and reads no folders [R6]", async () => {
  const cwd = createFolder({ "real.saved.yaml": ECHO });
  writeFileSync(join(cwd, "echo.yaml"), ECHO.replace("EchoOnceSkill", "OutsideSkill"));
  symlinkSync(join(cwd, "echo.yaml"), join(cwd, "skills/echo.saved.yaml"));
  symlinkSync(join(cwd, "skills/real.saved.yaml"), join(cwd, "skills/inside.saved.yaml"));
  mkdirSync(join(cwd, "skills/folder.saved.yaml"));
  const runtime = await createRuntime({ skillsDir: join(cwd, "skills"), workers: 1 });
  onTestFinished(() => runtime.close());
  const error = "Cannot load the skill: it is not a regular file (SKILL_INVALID)";
  expect(runtime.problems).toEqual(
    ["echo", "folder", "inside"].map((name) => ({ source: `${name}.saved.yaml`, error })),
  );
  expect(runtime.savedSkills.list().map(({ source }) => source)).toEqual(["real.saved.yaml"]);
});

test("lets the skill of a module have a name before a saved one [R6]", async () => {
  const runtime = await open({ "base.saved.yaml": ECHO.replace("EchoOnceSkill", "BaseSkill") });
  expect(runtime.problems).toMatchObject([
    { source: "base.saved.yaml", error: "Skill 'BaseSkill' is already taken by code" },
  ]);
});

test("gives a name to a module before a saved skill, and to the first of two saved skills [R6]", async () => {
  const module = "/** Echoes. */\nexport class EchoOnceSkill { /** Run. */ run() { return 'module'; } }\n";
  const other = ECHO.replace("EchoOnceSkill", "OtherSkill");
  const runtime = await open({ "z.js": module, "a.saved.yaml": ECHO, "b.saved.yaml": other, "c.saved.yaml": other });
  const taken = (name: string, by: string): string =>
    `Cannot load the skill: "${name}" is already taken by "${by}" (SKILL_INVALID)`;
  expect(runtime.problems).toEqual([
    { source: "a.saved.yaml", error: taken("EchoOnceSkill", "z.js") },
    { source: "c.saved.yaml", error: taken("OtherSkill", "b.saved.yaml") },
  ]);
  expect(await runtime.call("EchoOnceSkill.run", {})).toBe("module");
});
