import ts from "typescript";

/** Returns the titles of `test`, `test.each(…)`, `describe.skipIf(…)` and similar calls in the source of a test file. */
export function parseTitles(source: string): readonly string[] {
  return titlesIn(ts.createSourceFile("some.test.ts", source, ts.ScriptTarget.Latest, true));
}

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
