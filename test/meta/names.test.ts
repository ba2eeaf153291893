import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

const FILES = ["src", "sandbox"].flatMap(listFiles).map((file) => ({ file, text: readFileSync(file, "utf8") }));

/** A function, a variable or a private member, such as `textOf`, whose name is no verb. */
const OF_NAME = /\b(?:function\*?|const|let) (\w*[a-z]Of)\b|^\s*(?:readonly |async )*(#\w*[a-z]Of)\b/gm;

/** Names of the public interface, and those that end in the name of a built-in method. */
const FIXED_NAME = /^(?:categoriesOf|settingsOf)$|(?:indexOf|valueOf|prototypeOf)$/i;

const LIMIT_NAME = /\b(?:MOST|LEAST|LONGEST|SHORTEST|LARGEST|SMALLEST|DEEPEST)_[A-Z]\w*/g;

const TYPE_NAME =
  /^\s*(?:export )?(?:abstract )?(?:interface|class|type|enum) ([A-Z]\w*)(?=\s*[<={]|\s+(?:extends|implements)\b)/gm;

/** Participles and figurative words that say nothing about a value without a noun. */
const HEADLESS_NAMES: ReadonlySet<string> = new Set(
  "known wanted named made given asked taken meant held said shown kept told heard seen gone place places way look turn reading strangers".split(
    " ",
  ),
);

test("calls functions by verbs, not by `xOf`", () => {
  expect(FILES.length).toBeGreaterThan(300);
  expect(FILES.flatMap(({ file, text }) => findOfNames(text).map((name) => `${file}: ${name}`))).toEqual([]);
});

test("calls limits MAX_ and MIN_", () => {
  expect(FILES.flatMap(({ file, text }) => findLimitNames(text).map((name) => `${file}: ${name}`))).toEqual([]);
});

test("declares each type name in one file", () => {
  expect(findSharedTypeNames(FILES)).toEqual([]);
});

test(
  "calls variables, parameters and functions by nouns and verbs, not by a participle alone",
  { tags: "rest" },
  () => {
    expect(FILES.flatMap(({ file, text }) => findHeadlessNames(text).map((name) => `${file}: ${name}`))).toEqual([]);
  },
);

test("finds names that break the rules", () => {
  const text =
    "function textOf() {}\nconst sizeOf = 1, { indexOf } = x;\n  readonly #kindOf = 2;\nfunction isOfUser() {}";
  expect(findOfNames(text)).toEqual(["textOf", "sizeOf", "#kindOf"]);
  expect(findOfNames("export const indexOf = 1;\nfunction getText() { return listOf(); }")).toEqual([]);
  expect(findLimitNames("const MOST_BYTES = 2;\nconst MAX_BYTES = 2;")).toEqual(["MOST_BYTES"]);
  expect(findHeadlessNames("const known = 1, { told, at: [seen] } = x;\nfunction named(given) {}")).toEqual([
    "known",
    "told",
    "seen",
    "named",
    "given",
  ]);
  expect(findHeadlessNames("class A { #kept = 1; asked() {} }\nlist.map((wanted) => wanted);")).toEqual([
    "#kept",
    "asked",
    "wanted",
  ]);
  expect(findHeadlessNames("const knownNames = { kept: entry.held };\ninterface B { made: string }")).toEqual([]);
  const files = [
    { file: "a.ts", text: "interface Page {}\nexport class Line<T> {}\nimport {\n  type Known,\n} from 'b';" },
    { file: "b.ts", text: "export type Page = 1;\nclass Line extends Base {}\nexport type Known = 2;" },
  ];
  expect(findSharedTypeNames(files)).toEqual(["Page: a.ts, b.ts", "Line: a.ts, b.ts"]);
});

/** Declarations for code of others, in `.d.ts` files, have the names of that code. */
function listFiles(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".d.ts")).map((name) => join(folder, name));
}

function findOfNames(text: string): readonly string[] {
  const names = [...text.matchAll(OF_NAME)].map(([, name, member]) => name ?? member ?? "");
  return names.filter((name) => !FIXED_NAME.test(name));
}

const findLimitNames = (text: string): readonly string[] => text.match(LIMIT_NAME) ?? [];

/** Returns the declared names among `HEADLESS_NAMES`. Fields of data are free, because files and answers have them, too. */
function findHeadlessNames(text: string): readonly string[] {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    const name = isDeclaration(node) ? node.name : undefined;
    if (name !== undefined && (ts.isIdentifier(name) || ts.isPrivateIdentifier(name)))
      if (HEADLESS_NAMES.has(name.text.replace("#", ""))) names.push(name.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("file.ts", text, ts.ScriptTarget.Latest));
  return names;
}

function isDeclaration(node: ts.Node): node is ts.NamedDeclaration {
  return (
    ts.isVariableDeclaration(node) ||
    ts.isParameter(node) ||
    ts.isBindingElement(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isMethodSignature(node) ||
    (ts.isPropertyDeclaration(node) && ts.isPrivateIdentifier(node.name))
  );
}

/** Returns the names with more than one file, each with its files. */
function findSharedTypeNames(files: typeof FILES): readonly string[] {
  const filesByName = new Map<string, Set<string>>();
  for (const { file, text } of files)
    for (const [, name = ""] of text.matchAll(TYPE_NAME))
      filesByName.set(name, (filesByName.get(name) ?? new Set()).add(file));
  const shared = [...filesByName].filter(([, declaredIn]) => declaredIn.size > 1);
  return shared.map(([name, declaredIn]) => `${name}: ${[...declaredIn].join(", ")}`);
}
