import ts from "typescript";

const TESTS: ReadonlySet<string> = new Set(["test", "it", "describe"]);

const titles = new Map<string, readonly string[]>();

/** Returns the titles of `test`, `test.each(…)`, `describe.skipIf(…)` and similar calls in the source of a test file, parsed once. */
export function parseTitles(source: string): readonly string[] {
  const found = titles.get(source) ?? findTitles(ts.createSourceFile("some.test.ts", source, ts.ScriptTarget.Latest));
  titles.set(source, found);
  return found;
}

function findTitles(file: ts.SourceFile): readonly string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && isTest(node.expression)) {
      const [title] = node.arguments;
      if (title && ts.isStringLiteralLike(title)) found.push(title.text);
      if (title && ts.isTemplateExpression(title)) found.push(title.head.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** True for `test`, and for what is called or read from it, such as `test.each(…)`. */
function isTest(node: ts.Expression): boolean {
  if (ts.isPropertyAccessExpression(node) || ts.isCallExpression(node)) return isTest(node.expression);
  return ts.isIdentifier(node) && TESTS.has(node.text);
}
