import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript";
import { afterAll, expect, test } from "vitest";

// @ts-expect-error a script of the build, without declarations
import { findUnexportedTypes } from "../../scripts/bundle-types.mjs";

const folder = mkdtempSync(join(tmpdir(), "skillgate-types-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ENTRIES = ["index", "agent", "ai", "testing"];

test("exports every type that a public signature names", () => {
  const files = ENTRIES.map((name) => join("dist", "types", `${name}.d.ts`));
  expect(findUnexportedTypes(files)).toEqual([]);
});

test("finds a type that is named and not exported", () => {
  const file = join(folder, "probe.d.ts");
  writeFileSync(
    file,
    "interface Inner { a: Deep }\ninterface Deep {}\nexport interface Outer { inner: Inner }\nexport {};\n",
  );
  expect(findUnexportedTypes([file])).toEqual(["Deep", "Inner"]);
});

test("compiles the library examples of the README files strictly, with the declarations of the package and without those of browsers", () => {
  installPackage();
  const blocks = ["README.md", "docs/skills.md"].flatMap(readBlocks);
  const examples = blocks.filter((text) => text.includes('from "skillgate'));
  expect(examples.length).toBeGreaterThan(1);
  const files = examples.map((text, at) => writeProgram(`example-${at}.ts`, text));
  expect(compile(files)).toEqual([]);
});

test("finds a mistake in an example", () => {
  installPackage();
  const file = writeProgram("wrong.ts", 'import { createRuntime } from "skillgate";\ncreateRuntime({ skillDir: 1 });');
  expect(compile([file])).toEqual([expect.stringContaining("'skillDir' does not exist")]);
});

test("infers the arguments of a method from its literal schema", () => {
  installPackage();
  const method = (body: string): string => `import { defineSkill } from "skillgate";
    export default defineSkill({ name: "ASkill", description: "x", methods: { add: { description: "x",
      input: { type: "object", properties: { a: { type: "number" }, kind: { enum: ["x", "y"] } }, required: ["a"] },
      run: ({ a, kind }) => { ${body} } } } });`;
  const right = writeProgram(
    "right.ts",
    method("const b: number = a; const k: 'x' | 'y' | undefined = kind; return [b, k];"),
  );
  const wrong = writeProgram("inferred.ts", method("const b: string = a; return b;"));
  expect(compile([right, wrong])).toEqual([expect.stringContaining("'number' is not assignable to type 'string'")]);
});

/** Installs the package as npm would: package.json and dist, and Node's types beside it. */
function installPackage(): void {
  const target = join(folder, "node_modules", "skillgate");
  mkdirSync(join(folder, "node_modules", "@types"), { recursive: true });
  if (ts.sys.directoryExists(target)) return;
  mkdirSync(target);
  cpSync("package.json", join(target, "package.json"));
  cpSync(join("dist", "types"), join(target, "dist", "types"), { recursive: true });
  for (const name of ["@types/node", "undici-types", "@ai-sdk"])
    symlinkSync(join(process.cwd(), "node_modules", name), join(folder, "node_modules", name));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
}

function readBlocks(page: string): readonly string[] {
  return [...readFileSync(page, "utf8").matchAll(/```(?:ts|js)\n([^]*?)```/g)].map(([, text = ""]) => text);
}

function writeProgram(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, `${text}\nexport {};\n`);
  return file;
}

/** Compiles strictly, and also checks the declarations of the package; those of others are not ours. */
function compile(files: readonly string[]): readonly string[] {
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    lib: ["lib.es2023.d.ts"],
    types: ["node"],
    typeRoots: [join(folder, "node_modules", "@types")],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    preserveSymlinks: true,
  });
  return ts
    .getPreEmitDiagnostics(program)
    .filter(
      ({ file }) => file === undefined || /skillgate\/dist|\/[\w-]+\.ts$/.test(file.fileName.slice(folder.length)),
    )
    .filter(({ file }) => file === undefined || !/node_modules\/@/.test(file.fileName))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}
