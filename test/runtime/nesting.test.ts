import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { createRuntime, defineSkill, type Runtime } from "../../src/index.ts";
import { MAX_DEPTH } from "../../src/shared/values/value-size.ts";
import { MAX_DEPTH as MAX_DEPTH_OF_GUESTS } from "../../sandbox/guest/host-protocol.ts";

/** Returns a value of nested lists with this many levels. */
function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

const NestSkill = defineSkill({
  name: "NestSkill",
  description: "Nests lists",
  methods: {
    nest: {
      description: "Nest lists",
      input: { type: "object", properties: { levels: { type: "integer" } }, required: ["levels"] },
      run: async ({ levels }: { levels: number }) => nested(levels),
    },
    map: {
      description: "Nest lists in a Map and a Set",
      run: async () => new Map([["deep", new Set([nested(6_000)])]]),
    },
    cycle: {
      description: "Give an object that holds itself",
      run: async () => {
        const self: Record<string, unknown> = { name: "self" };
        self["members"] = [self];
        return self;
      },
    },
    take: {
      description: "Take any value",
      input: { type: "object", properties: { value: {} }, required: ["value"] },
      run: async () => "taken",
    },
    keep: {
      description: "Keep a nested value",
      run: async (_, { store }) => store.set("deep", nested(6_000)),
    },
  },
});

let runtime: Runtime;

beforeAll(async () => {
  runtime = await createRuntime({ skillsDir: false, skills: [NestSkill], mcpServers: {} });
});

afterAll(() => runtime.close());

async function ended(source: string): Promise<string> {
  const outcome = await runtime.run(source);
  expect(await runtime.run("20 + 22")).toMatchObject({ kind: "completed", value: 42 });
  if (outcome.kind !== "failed") return outcome.text;
  expect(outcome.text).not.toContain("call stack");
  return `${outcome.error.code} ${outcome.error.message}`;
}

/** Returns the source of an expression with this many levels. */
const deep = (levels: number): string =>
  `((n) => { let v = 1; for (let i = 0; i < n; i++) v = i % 2 ? [v] : { v }; return v })(${levels})`;

test("uses one nesting limit in the guest's own code and on the host [S13]", () => {
  expect(MAX_DEPTH_OF_GUESTS).toBe(MAX_DEPTH);
});

describe("values of a program", () => {
  test("are returned up to the nesting limit [S13]", async () => {
    const outcome = await runtime.run(`return ${deep(MAX_DEPTH)}`);
    expect(outcome).toMatchObject({ kind: "completed" });
  });

  test.each([
    ["one level more", `return ${deep(MAX_DEPTH + 1)}`],
    ["thousands of levels", `return ${deep(6_000)}`],
    ["more levels than the guest's stack can write", `return ${deep(200_000)}`],
    ["levels inside a Map", `return new Map([["v", ${deep(700)}]])`],
    ["levels that a toJSON makes", `return { toJSON: () => ${deep(700)} }`],
    ["levels after bytes", `return [new Uint8Array(3), ${deep(700)}]`],
    ["levels that a promise settles to", `return [Promise.resolve(${deep(700)})]`],
  ])("end the run with an error of its own for a result of %s [S13]", async (_, source) => {
    expect(await ended(source)).toMatch(/^NESTING_LIMIT The value is nested too deeply: .* levels \(NESTING_LIMIT\)$/);
  });

  test.each([
    ["levels", deep(6_000)],
    ["levels beyond the guest's stack", deep(200_000)],
    ["levels beside 20 KB of text", `[${deep(6_000)}, "x".repeat(20_000)]`],
    ["levels inside a Map", `new Map([["v", ${deep(700)}]])`],
  ])("fail a call with too many %s, which a program can catch [S13]", async (_, value) => {
    const message = /^NESTING_LIMIT The value is nested too deeply: .* levels \(NESTING_LIMIT\)$/;
    expect(await ended(`await device.NestSkill.take(${value})`)).toMatch(message);
    expect(await ended(`const t = device.NestSkill.take(${value}); return "x" + t`)).toMatch(message);
    const caught = `try { await device.NestSkill.take(${value}) } catch (error) { return error.code }`;
    expect(await ended(caught)).toContain("NESTING_LIMIT");
  });

  test("report the line of an uncaught error of a call that nests too deeply [S10]", async () => {
    const outcome = await runtime.run(`const value = ${deep(6_000)};\nawait device.NestSkill.take(value);`);
    expect(outcome).toMatchObject({ kind: "failed", error: { code: "NESTING_LIMIT", line: 2 } });
  });

  test("report the line of a call whose argument has an object with too many names [S7, S10]", async () => {
    const wide = "Object.fromEntries(Array.from({ length: 10_001 }, (_, n) => [`n${n}`, n]))";
    expect(await runtime.run(`const value = ${wide};\nawait device.NestSkill.take(value);`)).toMatchObject({
      error: {
        code: "ARGUMENT_LIMIT",
        message: "Argument size limit exceeded: an object has more than 10000 names (ARGUMENT_LIMIT)",
        line: 2,
        hint: "Pass less data in one call, and a list of pairs instead of an object with more than 10,000 names",
      },
    });
  });

  test("do not count brackets in strings as levels [S13]", async () => {
    const brackets = '"[{\\\\\\"".repeat(5_000)';
    expect(await ended(`device.NestSkill.take(${brackets})`)).toBe("taken");
    expect(await runtime.run(`return [${brackets}, "\\\\", "["]`)).toMatchObject({ kind: "completed" });
  });
});

describe("a toJSON of the program", () => {
  const replaced: readonly (readonly [string, string])[] = [
    ["an assignment", "Array.prototype.toJSON = () => undefined;"],
    ["defineProperty", 'Object.defineProperty(Array.prototype, "toJSON", { value: () => undefined });'],
    ["a computed name", 'Array.prototype["to" + "JSON"] = () => undefined;'],
    ["a computed name on all objects", 'Object.prototype["to" + "JSON"] = () => undefined;'],
  ];

  test.each(replaced)(
    "that makes arguments undefined, set by %s, fails the call or is not called [S13]",
    async (_, set) => {
      const unhandled: unknown[] = [];
      const note = (reason: unknown): unknown => unhandled.push(reason);
      process.on("unhandledRejection", note);
      for (const call of ['device.read_result("x", 0, 1)', "device.NestSkill.take(1)", 'device.search_skills("nest")'])
        for (const form of [
          `return await ${call}`,
          `return "" + ${call}`,
          `${call}; return 1`,
          `return await device.NestSkill.take(new Map([[1, ${call}]]))`,
        ]) {
          const outcome = await runtime.run(`${set}\n${form}`);
          expect(["completed", "failed"]).toContain(outcome.kind);
        }
      expect(await runtime.run("20 + 22")).toMatchObject({ kind: "completed", value: 42 });
      process.off("unhandledRejection", note);
      expect(unhandled).toEqual([]);
    },
  );

  test("fails a call with the reason and the line [S10]", async () => {
    const outcome = await runtime.run("Array.prototype.toJSON = () => undefined;\nawait device.NestSkill.take(1)");
    expect(outcome).toMatchObject({
      kind: "failed",
      error: {
        name: "TypeError",
        message: "TypeError: Cannot pass these arguments: their toJSON returns undefined; pass plain data",
      },
    });
  });
});

describe("values of skills", () => {
  test("arrive up to the nesting limit [S13]", async () => {
    const count = `let v = await device.NestSkill.nest(${MAX_DEPTH}), n = 0; while (Array.isArray(v)) { v = v[0]; n++ } return n`;
    expect(await runtime.run(count)).toMatchObject({ kind: "completed", value: MAX_DEPTH });
  });

  test.each([MAX_DEPTH + 1, 6_000, 300_000])("fail the call for a result of %i levels [S13]", async (levels) => {
    const message = `The value is nested too deeply: "NestSkill.nest" returned more than ${MAX_DEPTH} levels (NESTING_LIMIT)`;
    expect(await ended(`device.NestSkill.nest(${levels})`)).toBe(`NESTING_LIMIT ${message}`);
    await expect(runtime.call("NestSkill.nest", { levels })).rejects.toMatchObject({ code: "NESTING_LIMIT", message });
  });

  test("count levels inside a Map and a Set like others [S13]", async () => {
    expect(await ended("device.NestSkill.map()")).toMatch(/^NESTING_LIMIT /);
  });

  test("are stored up to the nesting limit [S13]", async () => {
    expect(await ended("device.NestSkill.keep()")).toContain(
      `the store of the skill: the value of "deep" has more than ${MAX_DEPTH} levels`,
    );
  });

  test("report a result that contains itself [S9]", async () => {
    expect(await ended("device.NestSkill.cycle()")).toBe(
      'CALL_FAILED Cannot complete the call: "NestSkill.cycle" did not return plain data: "result.members[0]" refers back to a value that contains it (a cycle); return only the members that are needed (CALL_FAILED)',
    );
  });
});
