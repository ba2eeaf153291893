import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

const KNOWN = new Set(readFileSync("docs/requirements.md", "utf8").match(/(?<=^\| )[A-Z]\d+(?= +\|)/gm));

test("a test title names only requirements that exist", () => {
  const files = readdirSync("test", { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".test.ts"));
  const unknown = files.flatMap((file) => unknownIds(readFileSync(join("test", file), "utf8")).map((id) => [file, id]));
  expect(KNOWN.size).toBeGreaterThan(90);
  expect(unknown).toEqual([]);
});

test("an id that does not exist is found, wherever a title has it", () => {
  expect(unknownIds(`test("S99: a fence", () => {})`)).toEqual(["S99"]);
  expect(unknownIds(`test.each([["B77: data"]])("B1, Q7: %s", () => {})`)).toEqual(["Q7"]);
  expect(unknownIds("describe.skipIf(true)(`S1 and S13: arguments`, () => { it('Z1: one', run); })")).toEqual([
    "S13",
    "Z1",
  ]);
  expect(unknownIds(`test("S1, S2: a call", () => {}); test("no id", () => {})`)).toEqual([]);
});

function unknownIds(source: string): readonly string[] {
  const ids = titlesIn(ts.createSourceFile("some.test.ts", source, ts.ScriptTarget.Latest, true)).flatMap(idsOf);
  return ids.filter((id) => !KNOWN.has(id));
}

/** The texts of `test`, `test.each(…)`, `describe.skipIf(…)` and their like. */
function titlesIn(node: ts.Node): readonly string[] {
  const titles: string[] = [];
  if (ts.isCallExpression(node) && /^(test|it|describe)\b/.test(node.expression.getText())) {
    const [title] = node.arguments;
    if (title && ts.isStringLiteralLike(title)) titles.push(title.text);
    if (title && ts.isTemplateExpression(title)) titles.push(title.head.text);
  }
  ts.forEachChild(node, (child) => void titles.push(...titlesIn(child)));
  return titles;
}

/** `"S1, S2: …"` names two. */
function idsOf(title: string): readonly string[] {
  const [ids = ""] = /^[A-Z]\d+(?:(?:, | and )[A-Z]\d+)*(?=: )/.exec(title) ?? [];
  return ids.split(/, | and /).filter((id) => id !== "");
}
