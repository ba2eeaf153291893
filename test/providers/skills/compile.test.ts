import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, expect, test, vi } from "vitest";

import { compileModule } from "../../../src/providers/skills/index.ts";
import type { Compiler } from "../../../src/shared/package/typescript.ts";

const compiler = vi.hoisted(() => ({ missing: false }));
vi.mock("../../../src/shared/package/typescript.ts", async (load) => {
  const module = await load<{ loadTypeScript(): Compiler }>();
  const loadTypeScript = (): Compiler => (compiler.missing ? { kind: "missing" } : module.loadTypeScript());
  return { ...module, loadTypeScript };
});

const folders: string[] = [];
afterEach(() => {
  compiler.missing = false;
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Compiles `index.ts`, or the first of the files, and returns what it exports. */
async function importFiles(files: Readonly<Record<string, string>>): Promise<Record<string, unknown>> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "skillgate-compile-")));
  folders.push(root);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const out = join(root, "out");
  mkdirSync(out);
  const compiled = compileModule({ entry: join(root, Object.keys(files)[0] ?? ""), root });
  const written = compiled.createFiles("part");
  for (const { name, text } of written) writeFileSync(join(out, name), text);
  const file = join(out, written[0]?.name ?? "");
  const isCommonJs = file.endsWith(".cjs");
  return (isCommonJs ? createRequire(file)(file) : await import(pathToFileURL(file).href)) as Record<string, unknown>;
}

test("resolves imports as TypeScript writes them: without an extension, as .js, and a folder [L1]", async () => {
  const files = {
    "index.ts":
      'import { a } from "./a";\nimport { b } from "./b.js";\nimport { c } from "./c";\nexport const all = a + b + c;',
    "a.ts": 'export const a: string = "a";',
    "b.ts": 'export const b: string = "b";',
    "c/index.ts": 'export const c: string = "c";',
  };
  expect(await importFiles(files)).toMatchObject({ all: "abc" });
});

test("leaves out imports and exports of types that are not marked as types [L1]", async () => {
  const files = {
    "index.ts": `
      import { Shape, SIDES } from "./shape.ts";
      import { Page as Leaf } from "no-such-package";
      import { Own, type Other } from "./own.ts";
      export { Shape, SIDES };
      export { Colour, RED } from "./shape.ts";
      export * from "./own.ts";
      interface Local { a: number }
      export { Local, Own };
      export const count = (shape: Shape, leaf?: Leaf, other?: Other): number => SIDES;`,
    "shape.ts":
      'export interface Shape { a: number }\nexport { Colour, RED } from "./colour.ts";\nexport const SIDES = 4;',
    "colour.ts": 'export type Colour = "red";\nexport const RED = "red";',
    "own.ts": "export class Own { b = 1 }\nexport type Other = Own;",
  };
  const module = await importFiles(files);
  expect(Object.keys(module).sort()).toEqual(["Own", "RED", "SIDES", "count"]);
});

test("imports JSON by default and by name, CommonJS, and modules that import each other [L1]", async () => {
  const files = {
    "index.ts": `
      import data, { size } from "./data.json" with { type: "json" };
      import shout from "./shout.cjs";
      import { pong } from "./pong.ts";
      export const STEPS = 2;
      export const all = () => [data.size, size, shout("a"), pong()];`,
    "data.json": '{ "size": 3, "not-a-name": 1 }',
    "shout.cjs": 'const { end } = require("./end.js");\nmodule.exports = (text) => text + end;',
    "end.js": 'exports.end = "!";',
    "pong.ts": 'import { STEPS } from "./index.ts";\nexport const pong = (): number => STEPS;',
  };
  const { all } = await importFiles(files);
  expect((all as () => unknown)()).toEqual([3, 3, "a!", 2]);
});

test("resolves packages by their exports, patterns and conditions, and names of the own package [L2]", async () => {
  const manifest = (fields: object): string => JSON.stringify({ name: "x", type: "module", ...fields });
  const files = {
    "skills/index.ts": `
      import { one } from "one";
      import { deep } from "one/parts/deep";
      import { two } from "@scope/two";
      import { own } from "#own";
      export const all = [one, deep, two, own].join("");`,
    "package.json": manifest({ imports: { "#own": { node: "./lib/own.ts" } } }),
    "lib/own.ts": 'export const own: string = "o";',
    "node_modules/one/package.json": manifest({
      exports: { ".": { types: "./no.d.ts", require: "./no.cjs", import: "./one.js" }, "./parts/*": "./p/*.js" },
    }),
    "node_modules/one/one.js": 'export const one = "1";',
    "node_modules/one/p/deep.js": 'export const deep = "d";',
    "node_modules/@scope/two/package.json": manifest({ main: "two" }),
    "node_modules/@scope/two/two.js": 'export const two = "2";',
  };
  expect(await importFiles(files)).toMatchObject({ all: "1d2o" });
});

test("keeps the place of each file, and require in ES modules [L1]", async () => {
  const files = {
    "index.ts": `
      import { place } from "./lib/place.ts";
      const { sep } = require("node:path");
      export const all = [import.meta.url, import.meta.dirname, __filename, sep, place];`,
    "lib/place.ts": "export const place: string = import.meta.filename;",
  };
  const { all } = await importFiles(files);
  const [root = ""] = folders;
  const index = join(root, "index.ts");
  expect(all).toEqual([pathToFileURL(index).href, root, index, "/", join(root, "lib/place.ts")]);
});

const NEEDS_COMPILER = {
  "index.ts": "enum Level { Low, High = 5 }\nexport const high = (): number => Level.High;\n",
};

test(
  "compiles what cannot simply be removed with TypeScript, and shows the source in stacks [L1]",
  { tags: "rest" },
  async () => {
    const { high } = await importFiles(NEEDS_COMPILER);
    expect((high as () => number)()).toBe(5);
  },
);

test.each([
  [
    "enum Level { Low, High = 5 }",
    1,
    "enum Level needs a compiler: write const Level = Object.freeze({ Low: 0, High: 5 })",
  ],
  ["\nnamespace Deep { export const a = 1 }", 2, "namespace Deep needs a compiler: leave the namespace out"],
])("says without TypeScript what to write instead of %j [L4]", async (text, line, message) => {
  compiler.missing = true;
  const attempt = importFiles({ "index.ts": `${text}\nexport const a = 1;\n` });
  await expect(attempt).rejects.toThrow(
    expect.objectContaining({ line, column: 1, message: expect.stringContaining(message) }),
  );
  await expect(attempt).rejects.toThrow(/, or run: npm install --save-dev typescript@6$/);
});

test("names an import that another file does not export [L4]", async () => {
  const files = { "index.ts": 'import { b } from "./a.ts";\nexport const c = b + 1;', "a.ts": "export const a = 1;" };
  await expect(importFiles(files)).rejects.toThrow(
    expect.objectContaining({ line: 1, column: 10, message: 'No matching export in "a.ts" for import "b"' }),
  );
});

test("turns a file without imports into CommonJS with the same exports [L1]", async () => {
  const files = {
    "index.ts": `
      export let count = 0;
      export const { a, b: [first] } = { a: 1, b: [2] };
      export function increase(): void { count++; }
      const hidden = 3;
      export { hidden as shown, increase as default };`,
  };
  const module = await importFiles(files);
  (module["increase"] as () => void)();
  expect(module).toMatchObject({ count: 1, a: 1, first: 2, shown: 3, default: module["increase"] });
});
