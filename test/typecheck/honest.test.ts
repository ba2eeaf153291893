import { expect, test } from "vitest";

import { readProgramSource } from "../../src/frontend/index.ts";
import type { JsonSchema } from "../../src/model/json.ts";
import { checkTypes } from "../../src/typecheck/check-types.ts";
import { readPrograms } from "../support/corpus.ts";
import { repetitions, takeShare } from "../support/repetitions.ts";
import { STUBS } from "../support/stubs.ts";
import { HONEST } from "./honest.ts";
import { DECLARATIONS, createDeclarations, createSkills } from "./samples.ts";

const STRING = { type: "string" };
const NUMBER = { type: "number" };

/** What the stubs of the corpus give, where it is always of one form. */
const OUTPUTS: Readonly<Record<string, JsonSchema>> = {
  "BraveSearchMCP.search": object({
    query: STRING,
    results: list(object({ title: STRING, url: STRING, score: NUMBER })),
  }),
  "CalendarMCP.list_events": list(object({ id: STRING, title: STRING, start: STRING, durationMin: NUMBER })),
  "FilesystemMCP.list_directory": list(STRING),
  "FilesystemMCP.read_file": STRING,
  "FilesystemMCP.write_file": object({ written: NUMBER }),
  "FlakySkill.fetch_data": object({ ok: { type: "boolean" }, attempts: NUMBER }),
  "HttpSkill.get": object({ status: NUMBER, body: STRING }),
  "KVSkill.set": { type: "boolean" },
  "MathSkill.add": NUMBER,
  "MathSkill.divide": NUMBER,
  "MathSkill.multiply": NUMBER,
  "MathSkill.subtract": NUMBER,
  "MathSkill.sum": NUMBER,
  "TestSkill.counter": NUMBER,
  "TestSkill.slow": STRING,
  "TextSkill.translate": STRING,
  "TextSkill.uppercase": STRING,
  "TextSkill.word_count": NUMBER,
  "TimeSkill.now": STRING,
  "UserSkill.get": {
    anyOf: [object({ id: NUMBER, name: STRING, age: NUMBER, email: STRING }), { type: "null" }],
  },
  "WeatherSkill.get_forecast": object({
    city: STRING,
    unit: STRING,
    days: list(object({ day: NUMBER, temp: NUMBER, rain: { type: "boolean" } })),
  }),
};

test.each([
  ["without their outputs", {}],
  ["with their outputs", OUTPUTS],
])(
  "reports no certain mistake in a benign program with methods declared %s [S5]",
  { tags: "repeated", timeout: 120_000 },
  (_title, outputs) => {
    const declarations = createDeclarations(stubSkills(outputs));
    const programs = takeShare(24, readPrograms("benign"), 4);
    expect(programs.length).toBeGreaterThan(repetitions(20, 100, 500));
    for (const { id, code } of programs) {
      const program = readProgramSource(code, { sourceBytes: 256 << 10 });
      const texts = new Set(program.kind === "program" ? [program.text, code] : [code]);
      for (const text of texts) {
        for (const typescript of [false, true]) {
          expect({ id, certain: findCertain(text, typescript, declarations) }).toEqual({ id, certain: [] });
        }
      }
    }
  },
);

test("reports no certain mistake in what JavaScript allows [S5]", { tags: "repeated" }, () => {
  for (const code of takeShare(4, HONEST)) {
    for (const typescript of [false, true]) {
      expect({ code, certain: findCertain(code, typescript, DECLARATIONS) }).toEqual({ code, certain: [] });
    }
  }
});

function findCertain(code: string, typescript: boolean, declarations: string): readonly string[] {
  return checkTypes({ code, typescript, declarations }).flatMap(({ certain, message }) => (certain ? [message] : []));
}

function stubSkills(outputs: Readonly<Record<string, JsonSchema>>): ReturnType<typeof createSkills> {
  return createSkills(
    Object.entries(STUBS.tools).map(([path, { params }]) => ({
      path,
      input: {
        type: "object",
        properties: Object.fromEntries(Object.entries(params).map(([name, type]) => [name, toSchema(type)])),
        required: Object.keys(params).filter((name) => !params[name]?.endsWith("?")),
      },
      output: outputs[path],
    })),
  );
}

function toSchema(type: string): JsonSchema {
  const bare = type.replace("?", "");
  if (bare === "any") return {};
  return bare.endsWith("[]") ? list({ type: bare.slice(0, -2) }) : { type: bare };
}

function object(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: "object", properties, required: Object.keys(properties) };
}

function list(items: JsonSchema): JsonSchema {
  return { type: "array", items };
}
