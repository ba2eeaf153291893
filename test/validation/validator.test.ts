import * as fc from "../support/fuzz.ts";
import { describe, expect, test } from "vitest";

import type { ArgumentProblem } from "../../src/model/arguments.ts";
import type { Method } from "../../src/model/catalog.ts";
import { UNKNOWN } from "../../src/model/plan.ts";
import { createValidator } from "../../src/validation/index.ts";
import { recordedSkills } from "../registry/catalogs.ts";
import { createMethod, methodWith } from "./methods.ts";

const validator = createValidator();

function findProblems(method: Method, input: unknown): readonly ArgumentProblem[] {
  const validation = validator.validate(method, input);
  return validation.kind === "valid" ? [] : validation.problems;
}

/** `field type: reason`, one per problem. */
function formatProblems(method: Method, input: unknown): readonly string[] {
  return findProblems(method, input).map(({ field, type, reason }) => `${field} ${type}: ${reason}`);
}

describe("reports each kind of problem with its type, its field and its reason [T6]", () => {
  test.each<[unknown, unknown, string]>([
    [{ type: "string" }, 5, "type_mismatch: must be a string, not 5"],
    [{ type: "string" }, null, "null_value: must be a string, not null"],
    [{ type: ["string", "null"] }, [], "type_mismatch: must be a string or null, not an array"],
    [{ type: "integer" }, 5.5, "type_mismatch: must be an integer, not 5.5"],
    [{ type: "integer" }, true, "type_mismatch: must be an integer, not true"],
    [{ type: "integer" }, "5", 'type_mismatch: must be an integer, not "5"'],
    [{ type: "number" }, NaN, "type_mismatch: must be a number, not NaN"],
    [{ type: "string", minLength: 2 }, "😀", "string_too_short: must have at least 2 characters, has 1"],
    [{ type: "string", maxLength: 1 }, "ab", "string_too_long: must have at most 1 character, has 2"],
    [{ type: "string", pattern: "^a+$" }, "b", 'pattern_mismatch: must match the pattern "^a+$"'],
    [{ type: "string", format: "email" }, "ada", 'pattern_mismatch: must be a valid email, not "ada"'],
    [{ type: "string", format: "date" }, "2026-13-01", 'pattern_mismatch: must be a valid date, not "2026-13-01"'],
    [{ enum: ["a", "b"] }, "c", 'enum_violation: must be one of "a", "b", not "c"'],
    [{ const: 1 }, 2, "enum_violation: must be 1, not 2"],
    [{ type: "number", minimum: 1 }, 0, "below_minimum: must be at least 1, is 0"],
    [{ type: "number", exclusiveMinimum: 0 }, 0, "below_minimum: must be more than 0, is 0"],
    [{ type: "number", minimum: 0, exclusiveMinimum: true }, 0, "below_minimum: must be more than 0, is 0"],
    [{ type: "number", maximum: 1, exclusiveMaximum: true }, 1, "above_maximum: must be less than 1, is 1"],
    [{ type: "number", minimum: 0, exclusiveMinimum: false }, -1, "below_minimum: must be at least 0, is -1"],
    [{ type: "number", maximum: 1 }, 2, "above_maximum: must be at most 1, is 2"],
    [{ type: "number", exclusiveMaximum: 1 }, 1, "above_maximum: must be less than 1, is 1"],
    [{ type: "number", multipleOf: 5 }, 7, "type_mismatch: must be a multiple of 5, is 7"],
    [{ type: "array", minItems: 1 }, [], "too_few_items: must have at least 1 item, has 0"],
    [{ type: "array", maxItems: 1 }, [1, 2], "too_many_items: must have at most 1 item, has 2"],
    [{ type: "array", uniqueItems: true }, [1, 1], "type_mismatch: must not have duplicate items"],
    [{ type: "array", contains: { const: 1 } }, [2], "too_few_items: must have at least 1 matching item"],
    [{ type: "array", prefixItems: [{}], items: false }, [1, 2], "too_many_items: must have at most 1 item, has 2"],
    [{ type: "object", minProperties: 1 }, {}, "too_few_items: must have at least 1 member, has 0"],
    [{ not: { type: "string" } }, "a", "type_mismatch: has a form that is not allowed"],
    [false, 1, "unknown_field: is not allowed"],
  ])("%j refuses %j", (schema, value, line) => {
    expect(formatProblems(createMethod({ value: schema }, ["value"]), { value })).toEqual([`value ${line}`]);
  });

  test.each([0.5, 2])("accepts %d within the exclusive bounds of draft-04", (value) => {
    const schema = { type: "number", minimum: 0, exclusiveMinimum: true, maximum: 2, exclusiveMaximum: false };
    expect(findProblems(createMethod({ value: schema }), { value })).toEqual([]);
  });

  test("accepts 5.0 as an integer", () => {
    expect(findProblems(createMethod({ value: { type: "integer" } }), { value: 5.0 })).toEqual([]);
  });

  test.each<[unknown, string]>([
    [5, "_root type_mismatch: must be an object, not 5"],
    ["x", '_root type_mismatch: must be an object, not "x"'],
    [[], "_root type_mismatch: must be an object, not an array"],
    [null, "_root null_value: must be an object, not null"],
  ])("refuses an input that is not an object: %j", (input, line) => {
    expect(formatProblems(createMethod({}), input)).toEqual([line]);
  });

  test("writes the field as a path through objects and arrays", () => {
    const item = {
      type: "object",
      properties: { name: { type: "string" } },
      required: ["name"],
      additionalProperties: false,
    };
    const method = createMethod({
      filters: { type: "array", items: item },
      map: { additionalProperties: { type: "number" } },
    });
    expect(formatProblems(method, { filters: [{}, { name: 5, nam: 1 }], map: { "a b": "x", "c/d": null } })).toEqual([
      "filters[0].name field_missing: is required",
      "filters[1].nam unknown_field: is not a property, valid are name",
      "filters[1].name type_mismatch: must be a string, not 5",
      'map["a b"] type_mismatch: must be a number, not "x"',
      'map["c/d"] null_value: must be a number, not null',
    ]);
  });
});

describe("reports all problems at once [T6]", () => {
  const method = createMethod(
    {
      query: { type: "string" },
      count: { type: "integer", minimum: 1 },
      unit: { enum: ["celsius", "fahrenheit"] },
    },
    ["query"],
  );

  test("reports missing, wrong, out-of-range and unknown values together, with suggestions", () => {
    expect(findProblems(method, { count: 0, unit: "celcius", qery: "x" })).toEqual([
      { field: "query", type: "field_missing", reason: "is required", suggestions: [] },
      { field: "count", type: "below_minimum", reason: "must be at least 1, is 0", suggestions: [] },
      {
        field: "unit",
        type: "enum_violation",
        reason: 'must be one of "celsius", "fahrenheit", not "celcius"',
        suggestions: ["celsius", "fahrenheit"],
      },
      {
        field: "qery",
        type: "unknown_field",
        reason: "is not an argument, valid are query, count, unit",
        suggestions: ["query"],
      },
    ]);
  });

  test("reports at most 200 problems", () => {
    const many = createMethod({ list: { type: "array", items: { type: "string" } } });
    expect(findProblems(many, { list: Array.from({ length: 1_000 }, () => 1) })).toHaveLength(200);
    const names = Object.fromEntries(Array.from({ length: 60_000 }, (_, id) => [`name${id}`, id]));
    const problems = findProblems(many, { list: [1], ...names });
    expect(problems.map(({ field }) => field)).toEqual(Array.from({ length: 200 }, (_, id) => `name${id}`));
  });

  test("reports a requirement once that a schema states twice", () => {
    const twice = methodWith({ type: "object", properties: { a: {} }, required: ["a"], allOf: [{ required: ["a"] }] });
    expect(formatProblems(twice, {})).toEqual(["a field_missing: is required"]);
  });
});

describe("explains errors of alternatives by the intended one [T6]", () => {
  const $defs = {
    Page: {
      type: "object",
      properties: { kind: { const: "page" }, url: { type: "string" } },
      required: ["kind", "url"],
    },
    File: {
      type: "object",
      properties: { kind: { const: "file" }, path: { type: "string" } },
      required: ["kind", "path"],
    },
    Loose: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
  };
  const page = { $ref: "#/$defs/Page" };
  const file = { $ref: "#/$defs/File" };
  const loose = { $ref: "#/$defs/Loose" };
  const nothing = { type: "null" };

  test.each<[string, unknown, unknown, readonly string[]]>([
    [
      "another type than all",
      { anyOf: [{ type: "string" }, nothing] },
      5,
      ["value type_mismatch: must be a string or null, not 5"],
    ],
    [
      "null",
      { anyOf: [{ type: "string" }, { type: "number" }] },
      null,
      ["value null_value: must be a string or a number, not null"],
    ],
    [
      "the type of one",
      { anyOf: [{ type: "string", minLength: 2 }, nothing] },
      "a",
      ["value string_too_short: must have at least 2 characters, has 1"],
    ],
    ["the type of one by reference", { anyOf: [loose, nothing] }, {}, ["value.n field_missing: is required"]],
    [
      "one of constants",
      { anyOf: [{ const: "a" }, { const: "b" }, nothing] },
      "c",
      ['value enum_violation: must be one of "a", "b", null, not "c"'],
    ],
    ["its own kind", { oneOf: [page, file] }, { kind: "file" }, ["value.path field_missing: is required"]],
    [
      "an unknown kind",
      { anyOf: [page, file] },
      { kind: "x" },
      ['value.kind enum_violation: must be one of "page", "file", not "x"'],
    ],
    [
      "none in particular",
      { anyOf: [page, loose] },
      {},
      ['value type_mismatch: matches none of its 2 alternatives: "kind" is required, or "n" is required'],
    ],
    [
      "more than one",
      { oneOf: [{ type: "number" }, { type: "integer" }] },
      5,
      ["value type_mismatch: must match exactly one of its alternatives, matches several"],
    ],
    [
      "in an array",
      { type: "array", items: { anyOf: [loose, nothing] } },
      [null, { n: "1" }],
      ['value[1].n type_mismatch: must be a number, not "1"'],
    ],
    [
      "a condition",
      JSON.parse('{"if": {"required": ["a"]}, "then": {"required": ["b"]}}'),
      { a: 1 },
      ["value.b field_missing: is required"],
    ],
    [
      "names",
      { propertyNames: { pattern: "^a" } },
      { b: 1 },
      ["value.b unknown_field: has a name that is not allowed"],
    ],
  ])("%s", { tags: "rest" }, (_, value, input, lines) => {
    const method = methodWith({ type: "object", $defs, properties: { value }, required: ["value"] });
    expect(formatProblems(method, { value: input })).toEqual(lines);
  });

  test("reports errors outside the alternatives as well", () => {
    const method = createMethod({
      a: { type: "string" },
      b: { anyOf: [{ type: "string" }, nothing] },
      c: { type: "string" },
    });
    expect(findProblems(method, { a: 1, b: 2, c: 3 }).map(({ field }) => field)).toEqual(["a", "b", "c"]);
  });
});

describe("unknown arguments [T6]", () => {
  const properties = { query: { type: "string" } };

  test.each<[string, Readonly<Record<string, unknown>>, boolean]>([
    ["nothing said", {}, true],
    ["additionalProperties false", { additionalProperties: false }, true],
    ["additionalProperties true", { additionalProperties: true }, false],
    ["additionalProperties of a schema", { additionalProperties: { type: "number" } }, false],
    ["patternProperties", { patternProperties: { "^x": {} } }, false],
    ["a branch that is open", { allOf: [{ additionalProperties: true }] }, false],
    ["a branch that names it", { anyOf: [{ properties: { x: {} } }, { properties: { y: {} } }] }, false],
  ])("%s", (_, more, refused) => {
    expect(findProblems(methodWith({ type: "object", properties, ...more }), { query: "a", x: 1 })).toEqual(
      refused
        ? [{ field: "x", type: "unknown_field", reason: "is not an argument, valid are query", suggestions: [] }]
        : [],
    );
  });

  test("allows the arguments whose names match a pattern for a method that names none", () => {
    const method = methodWith({ type: "object", patternProperties: { "^x": {} }, additionalProperties: false });
    expect(findProblems(method, { x1: 1 })).toEqual([]);
    expect(formatProblems(method, { y: 1 })).toEqual(["y unknown_field: is not a property, none is defined"]);
  });

  test("allows any argument for a method that names none, unless its schema forbids them", () => {
    expect(findProblems(methodWith({ type: "object" }), { x: 1 })).toEqual([]);
    expect(formatProblems(methodWith({ type: "object", additionalProperties: false }), { x: 1 })).toEqual([
      "x unknown_field: is not an argument, none is defined",
    ]);
  });

  test("reports __proto__ as an unknown argument and changes no prototype", () => {
    expect(
      formatProblems(methodWith({ type: "object", properties }), JSON.parse('{"query": "a", "__proto__": {"b": 1}}')),
    ).toEqual(["__proto__ unknown_field: is not an argument, valid are query"]);
    const open = validator.validate(methodWith({ type: "object" }), JSON.parse('{"__proto__": {"b": 1}}'));
    expect(
      open.kind === "valid" && [Object.keys(open.input), Object.getPrototypeOf(open.input) === Object.prototype],
    ).toEqual([["__proto__"], true]);
  });

  test("treats inherited names as neither passed nor declared", () => {
    const method = methodWith(
      JSON.parse('{"type": "object", "properties": {"constructor": {"type": "string"}}, "required": ["constructor"]}'),
    );
    expect(formatProblems(method, { toString: 1 })).toEqual([
      "constructor field_missing: is required",
      "toString unknown_field: is not an argument, valid are constructor",
    ]);
  });
});

describe("fills a missing field with its default [T6]", () => {
  const input = (method: Method, given: unknown): unknown => {
    const validation = validator.validate(method, given);
    return validation.kind === "valid" ? validation.input : validation.problems;
  };

  test("fills defaults at the top and in objects, also falsy ones, and never replaces a passed value", () => {
    const method = createMethod(
      {
        a: { type: "number", default: 0 },
        b: { type: "string", default: "" },
        c: { type: "object", properties: { d: { type: "boolean", default: false } } },
        e: { type: ["string", "null"], default: "x" },
      },
      ["a"],
    );
    expect(input(method, { c: {}, e: null })).toEqual({ a: 0, b: "", c: { d: false }, e: null });
  });

  test("counts null for an optional argument as left out, unless the schema allows null", () => {
    const method = createMethod({
      a: { type: "number", default: 5 },
      b: { enum: ["x", "y"] },
      c: { anyOf: [{ type: "string" }, { type: "null" }] },
      d: {},
      e: { type: "object", properties: { f: { type: "string" } } },
    });
    expect(input(method, { a: null, b: null, c: null, d: null })).toEqual({ a: 5, c: null, d: null });
    expect(formatProblems(method, { a: null, e: { f: null } })).toEqual(["e.f null_value: must be a string, not null"]);
  });

  test("drops a default that does not match its own schema and reports no problem", () => {
    const options = { type: "object", properties: { y: { type: "string", minLength: 1, default: "" } } };
    const method = createMethod({ x: { type: "string", default: null }, options });
    expect(input(method, { options: {} })).toEqual({ options: {} });
  });

  test("does not change the input", () => {
    const given = { c: {} };
    input(createMethod({ a: { default: 1 }, c: { type: "object", properties: { d: { default: [] } } } }), given);
    expect(given).toEqual({ c: {} });
  });
});

describe("survives broken and catastrophic patterns [T6]", () => {
  test.each(["[", "(?P<name>a)", "a{2,1}", "(".repeat(50_000)])("ignores a broken pattern: %.20s", (pattern) => {
    const method = createMethod({ value: { type: "string", pattern }, other: { type: "string" } });
    expect(findProblems(method, { value: "a", other: 5 }).map(({ field, type }) => [field, type])).toEqual([
      ["value", "invalid_pattern"],
      ["other", "type_mismatch"],
    ]);
    expect(findProblems(method, { other: "a" })).toEqual([]);
  });

  test.each(["\\A[a-z]+\\z", "^[[:alpha:]]+$", "^\\p{L}[\\_]$"])("takes %s for no regular expression", (pattern) => {
    expect(formatProblems(createMethod({ value: { type: "string", pattern } }), { value: "a" })).toEqual([
      `value invalid_pattern: cannot be checked: the pattern ${JSON.stringify(pattern)} is not a regular expression`,
    ]);
  });

  test("accepts patterns with needless escapes", () => {
    const method = createMethod({ value: { type: "string", pattern: "^[a-z\\-]+\\@[a-z\\_]+$" } });
    expect(findProblems(method, { value: "a-b@c_d" })).toEqual([]);
    expect(formatProblems(method, { value: "@" })).toEqual([
      'value pattern_mismatch: must match the pattern "^[a-z\\\\-]+\\\\@[a-z\\\\_]+$"',
    ]);
  });

  test.each([
    "^(a+)+$",
    "^(a|a)*$",
    "^(a|aa)+$",
    "(a*)*b",
    "^(.*a){20}$",
    "(?=(a+)+b)a",
    "^(a+)\\1+b$",
    "a*a*a*a*a*a*c",
  ])("%s", (pattern) => {
    const method = createMethod({ value: { type: "string", pattern } });
    const [problem] = findProblems(method, { value: `${"a".repeat(20_000)}!` });
    expect(problem?.type).toMatch(/^(invalid_pattern|pattern_mismatch)$/);
  });

  test("reports a pattern that takes too long, and still accepts valid values", () => {
    const method = createMethod({ value: { type: "string", pattern: "^(a+)+$" } });
    expect(formatProblems(method, { value: `${"a".repeat(64)}!` })).toEqual([
      'value invalid_pattern: cannot be checked: the pattern "^(a+)+$" takes too long on this value',
    ]);
    expect(findProblems(method, { value: "aaaaaaaaaa" })).toEqual([]);
  });

  test("ends the validation of thousands of hostile values", () => {
    const method = createMethod({ list: { type: "array", items: { type: "string", pattern: "^(a+)+$" } } });
    expect(findProblems(method, { list: Array.from({ length: 5_000 }, () => `${"a".repeat(64)}!`) })).not.toEqual([]);
  });
});

describe("makes every schema usable [T6]", () => {
  test("checks the parts of a broken schema that compile, and adds a note with the reason", () => {
    const method = createMethod(
      { a: { type: "strng" }, b: { type: "number", required: true }, c: { type: "string" } },
      ["c"],
    );
    expect(formatProblems(method, { a: 1, b: "x", c: 5, d: 1 })).toEqual([
      "c type_mismatch: must be a string, not 5",
      "d unknown_field: is not an argument, valid are c, a, b",
    ]);
    expect(formatProblems(method, {})).toEqual(["c field_missing: is required"]);
    expect(validator.validate(method, { c: "x" })).toEqual({
      kind: "valid",
      input: { c: "x" },
      notes: [expect.stringMatching(/^TestSkill\.try: part of its schema cannot be checked: "/)],
    });
  });

  test("never fetches an external reference", () => {
    const method = createMethod({ a: { $ref: "http://127.0.0.1:9/schema.json" }, b: { type: "string" } });
    expect(formatProblems(method, { a: 1, b: 2 })).toEqual(["b type_mismatch: must be a string, not 2"]);
  });

  test("follows a recursive reference as deep as the value nests", () => {
    const $defs = { Node: { type: "object", properties: { next: { $ref: "#/$defs/Node" }, n: { type: "number" } } } };
    const method = methodWith({ type: "object", $defs, properties: { node: { $ref: "#/$defs/Node" } } });
    expect(formatProblems(method, { node: { next: { next: { n: "x" } } } })).toEqual([
      'node.next.next.n type_mismatch: must be a number, not "x"',
    ]);
  });

  test("accepts any value for a schema that refers only to itself", () => {
    const $defs = { A: { $ref: "#/$defs/B" }, B: { $ref: "#/$defs/A" } };
    const method = methodWith({
      type: "object",
      $defs,
      properties: { a: { $ref: "#/$defs/A" }, b: { type: "string" } },
    });
    expect(formatProblems(method, { a: 1, b: 2 })).toEqual(["b type_mismatch: must be a string, not 2"]);
  });

  test("stops checking a schema that requires unbounded work", { tags: "rest" }, () => {
    const $defs: Record<string, unknown> = { a0: { type: "string" } };
    for (let at = 1; at < 40; at++)
      $defs[`a${at}`] = { allOf: [{ $ref: `#/$defs/a${at - 1}` }, { $ref: `#/$defs/a${at - 1}` }] };
    const method = methodWith({ type: "object", $defs, properties: { a: { $ref: "#/$defs/a39" } } });
    expect(validator.validate(method, { a: 5 })).toEqual({
      kind: "timed out",
      problems: [
        {
          field: "_root",
          type: "invalid_pattern",
          reason: "takes too long to check against the schema",
          suggestions: [],
        },
      ],
    });
    expect(validator.problems(method, [{ a: 5 }])).toEqual([]);
  });

  test("quarantines a server's method whose validation times out twice [T6]", () => {
    const $defs: Record<string, unknown> = { a0: { type: "string" } };
    for (let at = 1; at < 40; at++)
      $defs[`a${at}`] = { allOf: [{ $ref: `#/$defs/a${at - 1}` }, { $ref: `#/$defs/a${at - 1}` }] };
    const method = methodWith({ type: "object", $defs, properties: { a: { $ref: "#/$defs/a39" } } });
    const kinds = (isFromServer: boolean): readonly string[] => {
      const each = createValidator(20, () => isFromServer);
      return [1, 2, 3].map(() => each.validate(method, { a: 5 }).kind);
    };
    expect(kinds(true)).toEqual(["timed out", "timed out", "quarantined"]);
    expect(kinds(false)).toEqual(["timed out", "timed out", "timed out"]);
  });

  test("supports draft-07 tuples without $schema, and 2019-09 with it", () => {
    expect(formatProblems(createMethod({ a: { type: "array", items: [{ type: "string" }] } }), { a: [5] })).toEqual([
      "a[0] type_mismatch: must be a string, not 5",
    ]);
    const older = methodWith({
      $schema: "https://json-schema.org/draft/2019-09/schema",
      type: "object",
      properties: { a: { dependentRequired: { x: ["y"] } } },
    });
    expect(formatProblems(older, { a: { x: 1 } })).toEqual(['a.y field_missing: is required with "x"']);
    const oldest = methodWith({
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      definitions: { T: { type: "string" } },
      properties: { a: { $ref: "#/definitions/T" } },
    });
    expect(formatProblems(oldest, { a: 1 })).toEqual(["a type_mismatch: must be a string, not 1"]);
  });

  test("keeps two schemas with the same $id apart", () => {
    const $id = "https://example.com/schema";
    expect(
      formatProblems(methodWith({ $id, type: "object", properties: { a: { type: "string" } } }), { a: 1 }),
    ).toHaveLength(1);
    expect(
      formatProblems(methodWith({ $id, type: "object", properties: { a: { type: "number" } } }), { a: 1 }),
    ).toEqual([]);
  });

  test("ignores unknown formats and formats named like prototype properties", () => {
    for (const format of ["nope", "__proto__", "constructor", "hasOwnProperty"])
      expect(formatProblems(createMethod({ a: { type: "string", format } }), { a: "x" })).toEqual([]);
  });

  test("refuses input that nests too deeply or in a cycle", () => {
    let deep: unknown = [];
    for (let level = 0; level < 100_000; level++) deep = [deep];
    const circle: Record<string, unknown> = {};
    circle["a"] = circle;
    for (const input of [{ a: deep }, circle])
      expect(formatProblems(createMethod({ a: {} }), input)).toEqual([
        "_root type_mismatch: nests more than 200 levels deep or is too large",
      ]);
  });

  test("compiles every schema of the recorded servers completely", { tags: "rest" }, () => {
    const methods = recordedSkills().flatMap((skill) => skill.methods);
    expect(methods.length).toBeGreaterThan(100);
    for (const { input, output = {} } of methods)
      for (const schema of [input, output]) {
        const validation = validator.validate(methodWith({ ...schema, required: [] }), {});
        expect(validation).toMatchObject({ kind: "valid", notes: [] });
      }
  });
});

describe("reports only certain problems before a run [S5]", () => {
  const method = createMethod(
    {
      query: { type: "string", minLength: 2 },
      count: { type: "integer" },
      tags: { type: "array", items: { type: "string" }, maxItems: 2, uniqueItems: true },
      where: {
        anyOf: [{ type: "object", properties: { id: { type: "number" } }, required: ["id"] }, { type: "null" }],
      },
    },
    ["query"],
  );

  test.each<[string, readonly unknown[], readonly string[]]>([
    ["nothing of an unknown argument", [UNKNOWN], []],
    ["nothing is missing if more may come", ["ab", UNKNOWN], []],
    ["a literal beside an unknown", ["a", UNKNOWN], ["query string_too_short"]],
    ["a literal after an unknown", [UNKNOWN, "x"], ["count type_mismatch"]],
    ["an unknown name with an unknown value", [{ query: UNKNOWN, cuont: UNKNOWN }], ["cuont unknown_field"]],
    ["a missing name beside an unknown value", [{ count: UNKNOWN }], ["query field_missing"]],
    ["an item beside an unknown one", [{ query: "ab", tags: [UNKNOWN, 5] }], ["tags[1] type_mismatch"]],
    [
      "the number of items, though one is unknown",
      [{ query: "ab", tags: ["a", "b", UNKNOWN] }],
      ["tags too_many_items"],
    ],
    ["not whether they are unique", [{ query: "ab", tags: ["a", UNKNOWN] }], []],
    ["not which form it has", [{ query: "ab", where: { id: UNKNOWN } }], []],
    ["nor with an unknown beside", [{ query: "ab", where: { x: UNKNOWN } }], []],
    ["a form without anything unknown", [{ query: UNKNOWN, where: {} }], ["where.id field_missing"]],
    ["too many", ["ab", 1, [], null, 5], ["_root too_many_items"]],
  ])("%s", (_, args, problems) => {
    expect(validator.problems(method, args).map(({ field, type }) => `${field} ${type}`)).toEqual(problems);
  });

  test("reports before a run only problems that hold for every value of the unknown", { tags: "repeated" }, () => {
    const values = fc.jsonValue({ maxDepth: 2 });
    fc.assert(
      fc.property(values, values, fc.constantFrom("query", "count", "tags", "where"), (unknown, known, name) => {
        const told = validator.problems(method, [{ [name]: UNKNOWN, query: known }]);
        if (told.length > 0 && name !== "query")
          expect(validator.problems(method, [{ [name]: unknown, query: known }])).not.toEqual([]);
      }),
    );
  });
});

describe("validates results against the output schema [X1]", () => {
  const output = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };

  test("describes a mismatch in one sentence", () => {
    const method = methodWith({ type: "object" }, output);
    expect(validator.validateOutput(method, { n: 1, more: 2 })).toBeUndefined();
    expect(validator.validateOutput(method, { n: "1" })).toBe(
      'The result of TestSkill.try does not match its output schema: "n" must be a number, not "1"',
    );
    expect(validator.validateOutput(method, undefined)).toBe(
      "The result of TestSkill.try does not match its output schema: it must be an object, not null",
    );
  });

  test("describes a Set and a Map as the program gets them", () => {
    const list = { type: "array", items: { type: "string", format: "date-time" } };
    const method = methodWith(
      { type: "object" },
      { type: "object", properties: { sets: { type: "object", additionalProperties: list }, pairs: list } },
    );
    const dates = new Set([new Date(0)]);
    expect(validator.validateOutput(method, { sets: new Map([["a", dates]]), pairs: dates })).toBeUndefined();
    expect(validator.validateOutput(method, { sets: new Map([["a", new Set([5])]]), pairs: new Map([[1, "b"]]) })).toBe(
      'The result of TestSkill.try does not match its output schema: "sets.a[0]" must be a string, not 5; "pairs[0]" must be a string, not an array',
    );
  });

  test("reports nothing without an output schema, and fills in no default", () => {
    expect(validator.validateOutput(methodWith({ type: "object" }), 5)).toBeUndefined();
    const value = {};
    validator.validateOutput(
      methodWith({ type: "object" }, { type: "object", properties: { a: { default: 1 } } }),
      value,
    );
    expect(value).toEqual({});
  });
});

describe("a date", () => {
  const input = (schema: unknown, value: unknown): unknown => {
    const validation = validator.validate(createMethod({ v: schema as object }), { v: value });
    return validation.kind === "valid" ? validation.input["v"] : validation.problems.map(({ reason }) => reason);
  };
  const date = new Date(0);
  const iso = date.toISOString();

  test.each<[string, unknown, unknown, unknown]>([
    ["stays one where the schema is open", {}, date, date],
    ["is text where a text is wanted", { type: "string" }, date, iso],
    ["is text where a text of its form is wanted", { type: "string", format: "date-time" }, date, iso],
    ["is text where a text is one of several types", { type: ["string", "object"] }, date, iso],
    ["is text where one branch wants a text", { anyOf: [{ type: "object" }, { type: "string" }] }, date, iso],
    ["is text where it is one of listed values", { enum: [iso, 1] }, date, iso],
    [
      "is judged by place",
      { items: { properties: { t: { type: "string" } } } },
      [{ t: date, o: date }],
      [{ t: iso, o: date }],
    ],
    [
      "keeps its place under any name",
      {},
      JSON.parse('{"__proto__":0,"a/b":0,"~":0}', (_key, at) => (at === 0 ? date : at)),
      JSON.parse('{"__proto__":0,"a/b":0,"~":0}', (_key, at) => (at === 0 ? date : at)),
    ],
    ["that is invalid is null", {}, new Date(Number.NaN), null],
    ["is text to a problem", { type: "integer" }, date, [`must be an integer, not "${iso}"`]],
    ["is no object", { type: "object" }, date, [`must be an object, not "${iso}"`]],
  ])("%s [S9]", (_, schema, value, expected) => expect(input(schema, value)).toEqual(expected));

  test("does not change the passed value [S9]", () => {
    const value = { at: date };
    input({ properties: { at: { type: "string" } } }, value);
    expect(value).toEqual({ at: date });
  });

  test("takes no longer among many invalid values than those values take [S9]", { tags: "rest" }, () => {
    const dates = Array.from({ length: 20_000 }, () => date);
    expect(input({ items: { type: "string" } }, dates)).toEqual(dates.map(() => iso));
  });
});
