import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime, defineSkill, type Runtime } from "../../src/index.ts";
import { project } from "../surfaces/cli/command.ts";

const VALUES = `
export const give = (kind: string): unknown => ({
  undefined, list: [undefined, 1], nan: NaN, infinity: -Infinity, exact: 5n, large: 2n ** 80n, fn: () => 1, symbol: Symbol("s"),
  map: new Map([["a", 1]]), pairs: new Map([[1, 2]]), set: new Set([1]), error: Object.assign(new TypeError("bad"), { status: 4 }),
  date: new Date(0), bytes: new Uint8Array([1, 2]), buffer: new Uint8Array([1, 2]).buffer, floats: new Float64Array([1.5]),
}[kind]);
export function cycle(): unknown { const self: Record<string, unknown> = {}; self.self = self; return self; }
export const take = (value?: unknown): string =>
  Object.prototype.toString.call(value).slice(8, -1) + " " + (value instanceof Uint8Array ? [...value] : JSON.stringify(value));
export const at = (event: { when?: unknown; title?: string }): string => typeof event.when + " " + typeof event.title + " " + (event.when instanceof Date);
export const title = (text: string): string => text;
export const all = (values: unknown[]): string[] => values.map((each) => Object.prototype.toString.call(each).slice(8, -1));
export const day = (date: Date): string => String(date instanceof Date) + date.getTime();
`;

async function open(): Promise<Runtime> {
  const cwd = project({ "skills/values.ts": VALUES });
  const runtime = await createRuntime({ cwd, mcpServers: {} });
  onTestFinished(() => runtime.close());
  await runtime.ready;
  return runtime;
}

async function text(runtime: Runtime, source: string): Promise<string> {
  return (await runtime.run(source)).text.split("\n")[0] ?? "";
}

test("returns values of a method to a program as the page for skill authors says [S9]", { tags: "rest" }, async () => {
  const runtime = await open();
  const kind = (of: string): Promise<string> =>
    text(
      runtime,
      `const v = await device.ValuesSkill.give("${of}"); return Object.prototype.toString.call(v).slice(8, -1) + " " + (v instanceof Uint8Array ? [...v] : JSON.stringify(v))`,
    );
  for (const [of, expected] of [
    ["undefined", "Undefined undefined"],
    ["nan", "Null null"],
    ["infinity", "Null null"],
    ["exact", "Number 5"],
    ["large", 'String "1208925819614629174706176"'],
    ["map", 'Object {"a":1}'],
    ["pairs", "Array [[1,2]]"],
    ["set", "Array [1]"],
    ["error", expect.stringMatching(/^Object \{.*"name":"TypeError","message":"bad"/) as string],
    ["date", 'Date "1970-01-01T00:00:00.000Z"'],
    ["bytes", "Uint8Array 1,2"],
    ["buffer", "Uint8Array 1,2"],
    ["floats", "Array [1.5]"],
    ["fn", expect.stringContaining('"result" is a function') as string],
    ["symbol", expect.stringContaining('"result" is a symbol') as string],
  ] as const)
    expect([of, await kind(of)]).toEqual([of, expected]);
  expect(await text(runtime, "(await device.ValuesSkill.give('list')).map((x) => typeof x)")).toBe(
    '["undefined","number"]',
  );
  expect(await text(runtime, "device.ValuesSkill.cycle()")).toContain(
    "refers back to a value that contains it (a cycle)",
  );
});

test("passes values of a program to a method as the page for skill authors says [S9]", async () => {
  const runtime = await open();
  for (const [value, expected] of [
    ["undefined", "Undefined undefined"],
    ["[undefined]", "Array [null]"],
    ["NaN", "Null null"],
    ["-Infinity", "Null null"],
    ["5n", "Number 5"],
    ["2n ** 80n", 'String "1208925819614629174706176"'],
    ["() => 1", "Undefined undefined"],
    ["Symbol('s')", "Undefined undefined"],
    ["new Map([['a', 1]])", 'Object {"a":1}'],
    ["new Map([[1, 2]])", "Array [[1,2]]"],
    ["new Set([1])", "Array [1]"],
    ["new TypeError('bad')", 'Object {"name":"TypeError","message":"bad"}'],
    ["new Date(0)", 'Date "1970-01-01T00:00:00.000Z"'],
    ["new Date(NaN)", "Null null"],
    ["new Uint8Array([1, 2])", "Uint8Array 1,2"],
    ["new Uint8Array([1, 2]).buffer", "Uint8Array 1,2"],
    ["new Float64Array([1.5])", "Array [1.5]"],
  ] as const)
    expect([value, await text(runtime, `device.ValuesSkill.take({ value: ${value} })`)]).toEqual([value, expected]);
  expect(await text(runtime, "device.ValuesSkill.day(new Date(7))")).toBe("true7");
  expect(await text(runtime, "const o = {}; o.o = o; device.ValuesSkill.take({ value: o })")).toContain(
    "circular reference",
  );
});

test(
  "keeps a date of a program as a date where the type is open, and writes text where a string is declared [S9]",
  { tags: "rest" },
  async () => {
    const runtime = await open();
    const skill = "device.ValuesSkill";
    const long = "Array.from({ length: 2_000 }, () => new Date(0))";
    for (const [source, expected] of [
      [`${skill}.at({ when: new Date(0), title: new Date(0) })`, "object string true"],
      [`${skill}.title(new Date(0))`, "1970-01-01T00:00:00.000Z"],
      [`${skill}.all([new Date(0), new Set([1]), Promise.resolve(new Date(1))])`, '["Date","Array","Date"]'],
      [`new Set(await ${skill}.all(${long})).size + (await ${skill}.all(${long}))[0]`, "1Date"],
      [
        `${skill}.take({ value: { $date: "1970-01-01T00:00:00.000Z" } })`,
        'Object {"$date":"1970-01-01T00:00:00.000Z"}',
      ],
      [
        `${skill}.take({ value: [{ $date: [new Set([1])] }, { $date: 1, b: 2 }] })`,
        'Array [{"$date":[[1]]},{"$date":1,"b":2}]',
      ],
      [`Date.prototype.toJSON = () => "noon"; ${skill}.take({ value: new Date(0) })`, 'String "noon"'],
      [
        `${skill}.take({ value: { toJSON: () => JSON.stringify({ d: new Date(0) }) } })`,
        'String "{\\"d\\":\\"1970-01-01T00:00:00.000Z\\"}"',
      ],
    ] as const)
      expect([source, await text(runtime, source)]).toEqual([source, expected]);
    const error = await text(runtime, `throw { at: new Date(0) }`);
    expect(error).toContain('{"at":"1970-01-01T00:00:00.000Z"}');
  },
);

test(
  "returns a date of a program as a date in the value of the outcome, and ISO 8601 in its text [S9]",
  { tags: "rest" },
  async () => {
    const runtime = await open();
    const iso = "1970-01-01T00:00:00.000Z";
    for (const [source, value, shown] of [
      ["new Date(0)", new Date(0), iso],
      ["({ a: [new Date(0)], b: new Date(NaN) })", { a: [new Date(0)], b: null }, `{"a":["${iso}"],"b":null}`],
      ["({ a: new Date(0), b: new Set([1]) })", { a: new Date(0), b: [1] }, `{"a":"${iso}","b":[1]}`],
      [
        `({ a: { $date: "${iso}" }, b: "${iso}" })`,
        { a: { $date: iso }, b: iso },
        `{"a":{"$date":"${iso}"},"b":"${iso}"}`,
      ],
      [`({ $date: new Date(0), c: new Set() })`, { $date: new Date(0), c: [] }, `{"$date":"${iso}","c":[]}`],
    ] as const)
      expect(await runtime.run(source)).toMatchObject({ kind: "completed", value, text: shown });
  },
);

const SERVER = `
import { createInterface } from "node:readline";
const tools = [{ name: "take", description: "Say what came", inputSchema: { type: "object", properties: { value: {} } } }];
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }),
  "tools/list": () => ({ tools }),
  "tools/call": (params) => ({ content: [{ type: "text", text: JSON.stringify(params.arguments) }] }),
};
for await (const line of createInterface(process.stdin)) {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method]?.(params) ?? {} }));
}
`;

test(
  "sends a date of a program to an MCP server as ISO 8601, and does not change values that look like tags [S9]",
  { tags: "rest" },
  async () => {
    const cwd = project({ "server.mjs": SERVER });
    const args = [join(cwd, "server.mjs")];
    const runtime = await createRuntime({
      cwd,
      skillsDir: false,
      mcpServers: { taker: { command: process.execPath, args } },
    });
    onTestFinished(() => runtime.close());
    await runtime.ready;
    const iso = new Date(0).toISOString();
    for (const [given, expected] of [
      ["[new Date(0), { $date: '2026-01-01' }]", [iso, { $date: "2026-01-01" }]],
      ["[new Date(0), new Set([1])]", [iso, [1]]],
      ["Array.from({ length: 2_000 }, () => new Date(0))", Array<string>(2_000).fill(iso)],
    ] as const) {
      expect(await runtime.run(`device.TakerMCP.take({ value: ${given} })`)).toMatchObject({
        value: { value: expected },
      });
    }
  },
);

test("distinguishes dates from strings in everything derived from arguments, and shows dates as strings [S9]", async () => {
  const asked: unknown[] = [];
  const NoteSkill = defineSkill({
    name: "NoteSkill",
    description: "Keeps notes",
    methods: {
      keep: {
        description: "Keep a note",
        input: { type: "object", properties: { at: {}, day: { type: "string" } } },
        approval: "user",
        cacheTtlSeconds: 60,
        run: ({ at }) => (at instanceof Date ? "date" : "text"),
      },
    },
  });
  const runtime = await createRuntime({
    skillsDir: false,
    skills: [NoteSkill],
    mcpServers: {},
    approve: ({ input, argumentsDigest }) => asked.push([JSON.stringify(input), argumentsDigest]) > 0,
  });
  onTestFinished(() => runtime.close());
  const keep = (argument: string): Promise<string> => text(runtime, `device.NoteSkill.keep({ ${argument} })`);
  expect(await keep("at: new Date(0)")).toBe("date");
  expect(await keep("at: new Date(0).toISOString()")).toBe("text");
  await keep("day: new Date(0)");
  await keep("day: new Date(0).toISOString()");
  const [date, iso, ...days] = asked as [string, string][];
  expect([date?.[0], date?.[1] === iso?.[1]]).toEqual([iso?.[0], false]);
  expect(days[0]).toEqual(days[1]);
});

test("lists each of these kinds on the page for skill authors", () => {
  const page = readFileSync("docs/skills.md", "utf8");
  for (const kind of ["undefined", "NaN", "Infinity", "BigInt", "function", "Map", "Set", "Error", "Date", "bytes"])
    expect(page).toMatch(new RegExp(`^\\| [^|]*${kind}`, "m"));
});
