import { describe, expect, test } from "vitest";

import { readViolations } from "../support/read-program-source.ts";

const IMPORT = "Leave it out and write JavaScript: everything is on device, call await device.Skill.method(…)";
const NO_SYSTEM = "Leave it out: there are no files and no processes here, call a method of device";
const NO_NETWORK = "Leave it out: there is no network here, call a method of device that fetches";

describe("refuses Python with the JavaScript to write instead", () => {
  test.each([
    ["import os", "1:0", "import os", NO_SYSTEM],
    ["import requests", "1:0", "import requests", NO_NETWORK],
    ["import os  # files", "1:0", "import os", NO_SYSTEM],
    ["import os, sys", "1:0", "import os, sys", NO_SYSTEM],
    ["import numpy as np", "1:0", "import numpy as np", IMPORT],
    ["from urllib.request import urlopen", "1:0", "from urllib.request import urlopen", NO_NETWORK],
    [
      'import json\n\ndata = json.loads("{}")',
      "1:0",
      "import json",
      "Leave it out and write JavaScript: JSON.parse(text) and JSON.stringify(value)",
    ],
    ["const a = 1;\nimport os\nconst b = a;", "2:0", "import os", NO_SYSTEM],
  ])("recognizes %j as an import [S4]", (source, place, values, fix) => {
    const [violation] = readViolations(source);
    expect(violation).toMatchObject({
      code: "MODULE_FORBIDDEN",
      message: `Cannot load modules: ${values} (MODULE_FORBIDDEN)`,
      fix,
    });
    expect(`${violation?.line}:${violation?.column}`).toBe(place);
    expect(violation?.frame).toContain(`> ${violation?.line} | ${source.split("\n")[(violation?.line ?? 0) - 1]}`);
  });

  test.each([
    ['raise ValueError("x")', "1:6", "raise", 'throw new Error("…")'],
    ["try {\n  raise Failed\n} catch {}", "2:8", "raise", 'throw new Error("…")'],
    ["def f():", "1:4", "def", "async function name(…) { … }"],
    ["async def f(a: int) -> int:\n  return a", "1:10", "def", "async function name(…) { … }"],
    ["class A:\n  pass", "1:7", "a class that begins with a colon", "class Name { … }"],
    ["class A(B):\n  pass", "1:7", "a class that begins with a colon", "class Name { … }"],
    ['with open("a") as f:\n  pass', "1:0", "a block that begins with a colon", "{ … }"],
    ["for a in [1, 2]: print(a)", "1:4", "a block that begins with a colon", "for (const item of list) { … }"],
    ["for a in list.items():\n  print(a)", "1:4", "a block that begins with a colon", "for (const item of list) { … }"],
    ["for k, v in zip(a, b):\n  1", "1:4", "a block that begins with a colon", "for (const item of list) { … }"],
    ["for a in range(3) { print(a) }", "1:4", "a condition without parentheses", "for (const item of list) { … }"],
    ["if a > 1 { print(a) }", "1:3", "a condition without parentheses", "if (…) { … }"],
    ["while True:\n  break", "1:6", "a block that begins with a colon", "while (…) { … }"],
    ["if (a) {\n  1\n} elif (b) {\n  2\n}", "3:11", "elif", "else if (…) { … }"],
    ["try {\n  1\n} except (e) {\n}", "1:0", "except", "try { … } catch (error) { … }"],
    ["x = [a for a in b if a]", "1:7", "a comprehension", "list.filter((item) => …).map((item) => …)"],
    ["x = {k: v for k, v in b}", "1:10", "a comprehension", "list.filter((item) => …).map((item) => …)"],
    ["x = a if b else c", "1:6", "a Python conditional expression", "condition ? a : b"],
    ["assert a == 1", "1:7", "assert", 'if (!condition) throw new Error("…")'],
    ["del a", "1:4", "del", "delete object.key"],
    ["global a", "1:7", "global", "remove the line: a function sees the variables around it"],
    ['print "hello"', "1:6", "print without parentheses", "print(value)"],
    ["print(a[1:])", "1:9", "a slice", "list.slice(start, end)"],
    ["print(a[:2])", "1:8", "a slice", "list.slice(start, end)"],
    ["'''text'''", "1:2", "a triple-quoted string", "`text`"],
    ['print(f"{a}")', "1:7", "a string with a prefix", "`text ${value}`"],
    ["f = lambda a: a", "1:11", "lambda", "(x) => …"],
    ["if (a and b) { 1 }", "1:6", "a Python operator", "&& || ==="],
  ])("reports %j with its position and a message [S5]", (source, place, values, fix) => {
    const [violation] = readViolations(source);
    expect(violation?.message).toBe(`Cannot parse the program: ${values} (SYNTAX)`);
    expect(`${violation?.line}:${violation?.column}`).toBe(place);
    expect(violation?.fix).toContain("This is Python: write JavaScript");
    expect(violation?.fix).toContain(fix);
    expect(violation?.frame).toContain("^");
  });

  test("explains that a comment after code begins with two slashes [S5]", () => {
    expect(readViolations("print(1)  # one")).toMatchObject([
      { message: "Cannot parse the program: # does not begin a comment (SYNTAX)", fix: "Write // before comments" },
    ]);
  });

  test.each(["import defer * as a from 'a'", "for (const a of b { print(a) }", "if (a { 1 }", "const x = a[1;2]"])(
    "reports %j as JavaScript with a mistake [S5]",
    (source) => {
      expect(readViolations(source)[0]?.fix).not.toContain("Python");
    },
  );
});
