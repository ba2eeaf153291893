import { describe, expect, test } from "vitest";

import { readProgramSource } from "../../src/frontend/index.ts";
import { PARSE_LIMITS } from "../../src/frontend/limits/bounded-parser.ts";
import { sourceText, read, readText, readViolations } from "../support/read-program-source.ts";

describe("refuses invisible characters at every position [S5]", () => {
  test.each([
    ["a direction mark in a comment", "// \u202e\n1", "a direction mark, U+202E", "1:3"],
    ["a direction mark in a string", "'\u2067'", "a direction mark, U+2067", "1:1"],
    ["NUL", "return 1; //\u0000\nx", "a control character, U+0000", "1:12"],
    ["an escape of the terminal", "'\u001b[2J'", "a control character, U+001B", "1:1"],
    ["a control character of the second set", "1\u0085", "a control character, U+0085", "1:1"],
    ["a lone carriage return", "1\r2", "a carriage return without a line feed, U+000D", "1:1"],
    ["a line separator", "`\u2028`", "a line separator, U+2028", "1:1"],
    ["a byte order mark inside", "return\ufeff1", "a byte order mark inside the text, U+FEFF", "1:6"],
    ["an unpaired surrogate", "'\ud800x'", "an unpaired surrogate, U+D800", "1:1"],
  ])("%s [S5]", (_what, source, what, place) => {
    const [violation, ...others] = readViolations(source);
    expect(others).toEqual([]);
    expect(violation?.message).toBe(`The program has an invisible or control character: ${what} (CHARACTER_FORBIDDEN)`);
    expect(`${violation?.line}:${violation?.column}`).toBe(place);
  });

  test("reports all invisible characters, and shows them in the frame [S5]", () => {
    expect(readViolations("a\u202eb\nc\u0000d")).toMatchObject([
      { line: 1, column: 1, frame: "> 1 | a�b\n    |  ^\n  2 | c�d" },
      { line: 2, column: 1, frame: "  1 | a�b\n> 2 | c�d\n    |  ^" },
    ]);
    expect(readViolations("\u202e".repeat(1_000)).length).toBe(20);
  });

  test.each([
    "'naïve 東京 🚀 👩‍👩‍👧'",
    "// привет\n1",
    "\ufeff1",
    "1\r\n2",
    "\t1\f\v",
    "const größe = 1",
    "'\u00a0\u200b'",
  ])("accepts %j [S5]", (source) => {
    expect(readViolations(source)).toEqual([]);
  });

  test("ignores characters outside of the code block [S5]", () => {
    expect(readViolations("\u202eprose\n```js\n1\n```")).toEqual([]);
  });
});

describe("refuses a text that is too large before parsing it [S5, S7]", () => {
  test("counts bytes for the size limit [S7]", () => {
    expect(readProgramSource("'ää'", { sourceBytes: 6 }).kind).toBe("program");
    expect(readProgramSource("'ää'", { sourceBytes: 5 })).toMatchObject({
      kind: "unreadable",
      violations: [
        {
          code: "SOURCE_LIMIT",
          message: "Program size limit exceeded: at most 5 bytes are read (SOURCE_LIMIT)",
          line: 1,
          column: 0,
          frame: "> 1 | 'ää'\n    | ^",
        },
      ],
    });
  });

  test.each([
    ["tokens", "f(1);".repeat(15_000), "SOURCE_LIMIT", "more than 16000 tokens"],
    [
      "declared names",
      Array.from({ length: 2_001 }, (_, i) => `let v${i};`).join(""),
      "SOURCE_LIMIT",
      "more than 2000 declared names",
    ],
    [
      "names in a closure",
      `(() => {${Array.from({ length: 9_000 }, (_, i) => `let v${i}=${i};`).join("")} return () => v0 })()`,
      "SOURCE_LIMIT",
      "more than 2000 declared names",
    ],
    [
      "a regular expression",
      `/${"a".repeat(4_001)}/`,
      "SOURCE_LIMIT",
      "a regular expression of more than 4000 characters",
    ],
    ["its groups", `/${"(a)".repeat(255)}/`, "SOURCE_LIMIT", "a regular expression with more than 254 groups"],
    [
      "its nesting",
      `/${"(?:".repeat(101)}a${")".repeat(101)}/`,
      "SOURCE_LIMIT",
      "a regular expression that nests deeper than 100",
    ],
    ["tokens of TypeScript", `let z: number;${"(a as any);".repeat(20_000)}`, "SOURCE_LIMIT", "more than 16000 tokens"],
  ])("refuses too many or too much of %s [S7]", (_what, source, code, what) => {
    const [violation] = readViolations(source);
    expect(violation?.code).toBe(code);
    expect(violation?.message).toContain(what);
  });

  const nests: readonly (readonly [what: string, source: (depth: number) => string])[] = [
    ["parentheses", (n) => `${"(".repeat(n)}1${")".repeat(n)}`],
    ["lists", (n) => `${"[".repeat(n)}${"]".repeat(n)}`],
    ["objects", (n) => `x = ${"{a:".repeat(n)}1${"}".repeat(n)}`],
    ["blocks", (n) => `${"{".repeat(n)}${"}".repeat(n)}`],
    ["functions", (n) => `${"function f(){".repeat(n)}${"}".repeat(n)}`],
    ["arrows with bodies", (n) => `${"() => { return ".repeat(n)}1${"}".repeat(n)}`],
    ["arrows", (n) => `${"() => ".repeat(n)}1`],
    ["templates", (n) => `${"`${".repeat(n)}1${"}`".repeat(n)}`],
    ["ternaries", (n) => `${"1 ? ".repeat(n)}1${" : 1".repeat(n)}`],
    ["operators before", (n) => `${"!".repeat(n)}1`],
    ["operators between", (n) => `1${" + 1".repeat(n)}`],
    ["powers", (n) => `1${" ** 1".repeat(n)}`],
    ["assignments", (n) => `${"a = ".repeat(n)}1`],
    ["new", (n) => `${"new ".repeat(n)}F`],
    ["await", (n) => `${"await ".repeat(n)}1`],
    ["else if", (n) => `if (a) b;${" else if (a) b;".repeat(n)}`],
    ["loops", (n) => `${"for (;;) ".repeat(n)};`],
    ["labels", (n) => `${Array.from({ length: n }, (_, i) => `l${i}: `).join("")};`],
    ["patterns", (n) => `let ${"[".repeat(n)}a${"]".repeat(n)} = b`],
    ["default values", (n) => `${"(a = ".repeat(n)}1${") => 1".repeat(n)}`],
    ["classes", (n) => `${"(class { a = ".repeat(n)}1${"})".repeat(n)}`],
    ["calls", (n) => `${"f(".repeat(n)}${")".repeat(n)}`],
    ["types", (n) => `let a: ${"A<".repeat(n)}b${">".repeat(n)}`],
    ["casts", (n) => `(a${" as any".repeat(n)})`],
    ["namespaces", (n) => `namespace ${"a.".repeat(n)}b {}`],
  ];

  test.each(nests)("refuses %s that nest too deeply [S7]", (_what, createSource) => {
    for (const depth of [1_200, 20_000]) {
      const [violation] = readViolations(createSource(depth));
      expect(violation?.code).toMatch(/^(?:DEPTH|SOURCE)_LIMIT$/);
    }
  });

  test.each(nests)("accepts %s that people write [S7]", (_what, createSource) => {
    expect(readViolations(createSource(12)).filter(({ code }) => code.endsWith("LIMIT"))).toEqual([]);
  });

  test("reports the position at which the nesting is too deep [S7]", () => {
    expect(readViolations(`return ${"(".repeat(100_000)}`)).toMatchObject([
      {
        code: "DEPTH_LIMIT",
        line: 1,
        message: "Program nesting limit exceeded: the limit is about 111 nested brackets (DEPTH_LIMIT)",
      },
    ]);
    expect(readViolations(`return ${"(".repeat(100_000)}`)[0]?.column).toBeLessThan(200);
    expect(PARSE_LIMITS.nesting).toBe(1_000);
  });

  test("does not compile regular expressions that take V8 seconds [S7]", () => {
    expect(read("/[\\p{RGI_Emoji}\\p{L}\\W]/vi;".repeat(2_000)).kind).toBe("program");
  });
});

describe("reports a syntax error with its position, a message and a fix [S5]", () => {
  test("reports the complete violation [S5]", () => {
    expect(readViolations("const a = 1;\nconst b = a +* 2;\nreturn b;")).toEqual([
      {
        code: "SYNTAX",
        message: "Cannot parse the program: unexpected token (SYNTAX)",
        line: 2,
        column: 13,
        endLine: 2,
        endColumn: 14,
        frame: "  1 | const a = 1;\n> 2 | const b = a +* 2;\n    |              ^\n  3 | return b;",
        fix: "Correct the mistake and send one JavaScript program",
        suggestions: [],
      },
    ]);
  });

  test.each([
    [
      "cut off in a block",
      "for (const a of b) {\n  print(a);",
      "the text ends before the { in line 1 is closed",
      "2:11",
    ],
    ["cut off in a call", 'print("(",', "the text ends before the ( in line 1 is closed", "1:10"],
    ["cut off in a string", 'return "abc', "an unterminated string", "1:7"],
    ["cut off in a template", "return `abc", "an unterminated template string", "1:8"],
    ["cut off in a comment", "1 /* abc", "an unterminated comment", "1:2"],
    ["with", "with (a) { b }", "with is not allowed", "1:0"],
    ["a comment of Python", "# first\n1", "# does not begin a comment", "1:1"],
    ["a function of Python", "def f():\n  return 1", "def", "1:4"],
    ["a block of Python", "if a > 1:\n  print(a)", "a block that begins with a colon", "1:3"],
    ["a string of Python", 'print(f"a {b}")', "a string with a prefix", "1:7"],
    ["an operator of Python", "if (a and b) { 1 }", "a Python operator", "1:6"],
    ["JSX", "return <div>1</div>", "a JSX or HTML tag", "1:15"],
    ["JSX of a component", "const App = () => <div>1</div>", "a JSX or HTML tag", "1:26"],
    ["an accessor", "class A { accessor b = 1 }", "an accessor field", "1:19"],
    ["a function without braces", "if (1) function f() {}", "a function declaration without braces", "1:7"],
    ["quotation marks of a word processor", "print(“a”)", "a typographic quotation mark", "1:6"],
    ["prose", "Sure, here is what I found so far", "a sentence where code was expected", "1:11"],
    ["an object as a statement", '{ "a": 1, "b": 2 }', "an object where a statement was expected", "1:5"],
    ["a program in JSON", '{"code": "return 1 + 1;"}', "JSON around the program", "1:7"],
    ["a program in JSON, over lines", '{\n  "code": "return 1;"\n}', "JSON around the program", "2:8"],
    ["an arrow in HTML", "const f = (x) =&gt; x + 1;", "an escape of HTML", "1:15"],
    ["an operator in HTML", "if (1 &lt; 2) print(1);", "an escape of HTML", "1:9"],
    ["operators in HTML", "return 1 &amp;&amp; 2;", "an escape of HTML", "1:14"],
    ["a quotation mark in a string", "const s = 'it's late';", "a word directly after a string", "1:14"],
    ["a name twice", "let a = 1;\nlet a = 2;", "identifier 'a' has already been declared", "2:4"],
    ["yield", "yield 1", "yield outside of a generator", "1:0"],
  ])("%s [S5]", (_what, source, what, place) => {
    const [violation] = readViolations(source);
    expect(violation?.message).toBe(`Cannot parse the program: ${what} (SYNTAX)`);
    expect(`${violation?.line}:${violation?.column}`).toBe(place);
    expect(violation?.fix).not.toBe("");
  });

  test("recognizes an import that cannot be parsed [S5]", () => {
    expect(readViolations('import defer * as a from "a"')).toMatchObject([
      { code: "MODULE_FORBIDDEN", line: 1, column: 13 },
    ]);
  });

  test("parses await in any function and leaves the decision to the gatekeeper [S5]", () => {
    expect(readText("ids.map((id) => await get(id))")).toBe("ids.map((id) => await get(id))");
    expect(sourceText("async function f(a = await 1) {}")).toEqual(["SYNTAX 1:21"]);
  });

  test("recognizes tool calls in JSON by their shape [S5]", () => {
    expect(read('{"name": "A.b", "arguments": {"c": 1}}')).toMatchObject({
      kind: "toolCalls",
      calls: [{ name: "A.b", arguments: { c: 1 } }],
    });
    expect(read('[{"name": "A.b"}]').kind).toBe("program");
    expect(read('{"tool_calls": [{"type": "function", "function": {"name": "A.b", "arguments": "{}"}}]}').kind).toBe(
      "toolCalls",
    );
  });
});
