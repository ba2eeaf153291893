import { describe, expect, test } from "vitest";

import { readModule } from "../../../src/providers/skills/type-reader/index.ts";
import { parseSource } from "../../../src/providers/skills/type-reader/syntax.ts";

function read(source: string, file = "weather.ts") {
  return readModule(parseSource(`/skills/${file}`, source), file.replace(/\.\w+$/, ""));
}

/** `Skill: method, method` for each class, and the functions. */
function outline(source: string, file?: string) {
  const { name, classes, functions } = read(source, file);
  return {
    ...Object.fromEntries(classes.map((each) => [each.name, each.methods.map(({ definition }) => definition.name)])),
    ...(functions.length > 0 && { [name]: functions.map(({ definition }) => definition.name) }),
  };
}

describe("classes", () => {
  test("exposes only public methods [L2]", () => {
    const source = `
      export class WeatherSkill extends EventEmitter {
        static version = 1;
        #cache = new Map();
        city = "Paris";
        constructor(private now = () => new Date()) { super(); }
        current(city: string) {}
        async forecast(city: string, days = 3) {}
        later = async (city: string) => {};
        "quoted"() {}
        ["computed"]() {}
        get latest() { return 1; }
        set latest(value) {}
        static create() {}
        _internal() {}
        #secret() {}
        private hidden() {}
        protected inherited() {}
        [Symbol.iterator]() {}
        ["a" + "b"]() {}
        "not-an-identifier"() {}
        toString() { return ""; }
        hasOwnProperty() { return true; }
        then() {}
        toJSON() {}
        healthCheck() { return { healthy: true }; }
        /** @hidden */ forNobody() {}
        /** @internal */ forUs() {}
      }
    `;
    expect(outline(source)).toEqual({ WeatherSkill: ["current", "forecast", "later", "quoted", "computed"] });
  });

  test("exposes methods of a base class unless the class overrides them [L2]", () => {
    const source = `
      class Base<T> { echo(value: T): T { return value; } shared() {} taken() {} }
      export class OneSkill extends Base<string> { get taken() { return 1; } own() {} }
    `;
    expect(outline(source)).toEqual({ OneSkill: ["own", "echo", "shared"] });
    expect(read(source).classes[0]?.methods[1]?.definition.input["properties"]).toEqual({ value: { type: "string" } });
  });

  test("reads several classes, but no imported, re-exported, abstract or hidden ones [L2]", () => {
    const source = `
      import { OtherSkill } from "./other.ts";
      export { OtherSkill };
      export { ThirdSkill } from "./third.ts";
      export * from "./fourth.ts";
      export abstract class BaseSkill { base() {} }
      /** @hidden */ export class InternalSkill { no() {} }
      export class OneSkill { one() {} }
      class TwoSkill { two() {} }
      const FiveSkill = class { five() {} };
      export { TwoSkill, FiveSkill };
      export default class SixSkill { six() {} }
      class LostSkill { lost() {} }
      export function helper() {}
    `;
    const { classes } = read(source);
    expect(classes.map(({ name }) => name)).toEqual(["OneSkill", "TwoSkill", "FiveSkill", "SixSkill"]);
  });

  test.each([
    ["export default class { now() {} }", "weather.ts", { WeatherSkill: ["now"] }],
    ["module.exports = class RainSkill { fall() {} };", "rain.cjs", { RainSkill: ["fall"] }],
    ["class RainSkill { fall() {} }\nmodule.exports = { RainSkill };", "rain.js", { RainSkill: ["fall"] }],
    ["exports.RainSkill = class { fall() {} };", "rain.cjs", { RainSkill: ["fall"] }],
  ])("%s [L2]", (source, file, expected) => {
    expect(outline(source, file)).toEqual(expected);
  });

  test("reads the overload with a body [L2]", () => {
    const source =
      "export class OverSkill { get(id: string): void; get(id: number): void; get(id: string | number): void {} }";
    expect(read(source).classes[0]?.methods.map(({ definition }) => definition.input["properties"])).toEqual([
      { id: { anyOf: [{ type: "string" }, { type: "number" }] } },
    ]);
  });
});

describe("functions", () => {
  test.each([
    ["weather.ts", "WeatherSkill"],
    ["weather-skill.ts", "WeatherSkill"],
    ["my_skill.ts", "MySkill"],
    ["homeOffice.ts", "HomeOfficeSkill"],
    ["home office.ts", "HomeOfficeSkill"],
    ["weatherskill.ts", "WeatherSkill"],
    ["größe.ts", "GrößeSkill"],
    ["3d-print.ts", "Skill3dPrint"],
  ])("turns %s into the skill %s [L2]", (file, name) => {
    expect(read("export function get() {}", file).name).toBe(name);
  });

  test("reads the exported name and description of a module [L2]", () => {
    const source =
      'export const name = "RainSkill";\nexport const description = "Rain " + "and snow";\nexport function fall() {}';
    expect(read(source)).toMatchObject({ name: "RainSkill", description: "Rain and snow" });
  });

  test.each([
    ["/** The weather. */\n\nimport x from 'y';\nexport function get() {}", "The weather."],
    ["/**\n * The weather.\n * @module\n */\nexport function get() {}", "The weather."],
    ["/** The weather. */\n/** Gets it. */\nexport function get() {}", "The weather."],
    [
      "#!/usr/bin/env node\n'use strict';\n/** The weather. */\n\nconst a = 1;\nexport function get() {}",
      "The weather.",
    ],
    ["/** Gets it. */\nexport function get() {}", ""],
    ["/** Helps. */\nfunction help() {}\nexport function get() {}", ""],
  ])("reads the first comment as the description if it is about the file: %j [L2]", (source, description) => {
    expect(read(source).description).toBe(description);
  });

  test("exposes exported functions in every form of export [L2]", () => {
    const source = `
      export function one() {}
      export async function two() {}
      export const three = () => {}, four = async function () {};
      function five() {}
      const six = () => {};
      function notExported() {}
      export { five, six as seven };
      export default function eight() {}
      export function _internal() {}
      export function healthCheck() {}
      /** @hidden */ export function hidden() {}
      export const value = 5;
    `;
    expect(outline(source)).toEqual({ WeatherSkill: ["one", "two", "three", "four", "five", "seven", "eight"] });
  });

  test.each([
    ["module.exports = { one() {}, two: (a) => a, three };\nfunction three() {}", "old.cjs", ["one", "two", "three"]],
    ["exports.one = () => {};\nmodule.exports.two = function () {};", "old.js", ["one", "two"]],
    ["exports = module.exports = { one() {} };", "old.js", ["one"]],
    ["const api = { one() {} };\nmodule.exports = api;", "old.js", ["one"]],
    ["module.exports = function one() {};", "old.js", ["one"]],
    ["export default { one() {}, two: async () => {} } satisfies Tools;", "old.ts", ["one", "two"]],
    ["export default () => {};", "old-thing.ts", ["oldThing"]],
  ])("%s [L2]", (source, file, methods) => {
    expect(Object.values(outline(source, file))).toEqual([methods]);
  });
});

describe("doc comments", () => {
  test("reads tags as metadata; tags of a class apply to all of its methods [T1]", () => {
    const source = `
      /**
       * The weather.
       * @category weather
       * @scope weather:read
       */
      export class WeatherSkill {
        /**
         * Gets the weather
         * of a {@link City}.
         *
         * - one
         * - two
         * @approval user @timeout 5s
         * @deprecated Use forecast instead
         * @readonly
         * @idempotent
         * @destructive false
         * @openWorld
         * @scope tool:web, tool:net
         * @sensitivity high
         * @cooldown 2m
         * @cache 1h
         * @rateLimit 30
         * @version 2.1.0
         * @author Ada
         * @tag sky @tag sun
         * @capability web_search api_call
         * @example <caption>Weather in Paris</caption>
         * const now = await device.WeatherSkill.current("Paris");
         *   now.degrees
         * @example device.WeatherSkill.current("Rome")
         */
        current(city: string) {}
      }
    `.replaceAll(/ (@timeout|@tag sun)/g, "\n         * $1");
    const [definition] = read(source).classes[0]?.methods.map((method) => method.definition) ?? [];
    expect(definition).toMatchObject({
      description: "Gets the weather of a City.\n\n- one\n- two",
      metadata: {
        category: "weather",
        approval: "user",
        timeoutMs: 5_000,
        deprecated: "Use forecast instead",
        readOnly: true,
        idempotent: true,
        destructive: false,
        openWorld: true,
        requiredScopes: ["weather:read", "tool:web", "tool:net"],
        sensitivity: "high",
        cooldownSeconds: 120,
        cacheTtlSeconds: 3_600,
        rateLimit: 30,
        version: "2.1.0",
        author: "Ada",
        tags: ["sky", "sun"],
        capabilities: ["web_search", "api_call"],
      },
      examples: [
        { request: "Weather in Paris", code: 'const now = await device.WeatherSkill.current("Paris");\n  now.degrees' },
        { code: 'device.WeatherSkill.current("Rome")' },
      ],
    });
  });

  test.each([
    ["@approval maybe", "@approval expects none, user, admin"],
    ["@timeout soon", "@timeout expects a duration such as 500ms, 5s or 2m"],
    ["@timeout 0", "@timeout expects a duration such as 500ms, 5s or 2m"],
    ["@version new", "@version expects a version such as 1.2.0"],
    ["@rateLimit often", "@ratelimit expects a number of calls per minute"],
    ["@scope", "@scope expects a scope"],
    [
      "@capability flying",
      "@capability expects web_search, documentation, api_call, code_execution, database, computation, file_system, analysis, communication",
    ],
  ])("reports an unreadable tag with its line: %s [T1]", (tag, message) => {
    const { functions } = read(`\n/**\n * Gets.\n * ${tag}\n */\nexport function get() {}`);
    expect(functions[0]?.warnings).toEqual([`Cannot read a tag of "WeatherSkill.get" (weather.ts:4): ${message}`]);
    expect(functions[0]?.definition.metadata).toBeUndefined();
  });
});

describe("mistakes", () => {
  test.each([
    ["export class {", "broken.ts", 1, 14, "Unexpected token"],
    ["const a = 1;\n\nexport function (", "broken.js", 3, 17, "Unexpected token"],
    ["exports.a = {", "broken.cjs", 1, 14, "Unexpected token"],
    ["const a = 1; const a = 2;", "broken.mjs", 1, 20, "Identifier 'a' has already been declared"],
  ])("reports the position of the mistake in %j [L4]", (source, file, line, column, message) => {
    expect(() => parseSource(`/skills/${file}`, source)).toThrow(expect.objectContaining({ line, column, message }));
  });

  test("reports deep nesting as an error instead of crashing [L4]", () => {
    expect(() => parseSource("/skills/deep.ts", `export const a = ${"[".repeat(100_000)}`)).toThrow(
      "Not enough stack space to parse input",
    );
  });
});
