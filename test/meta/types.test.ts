// @module-tag rest

import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

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

describe("the declarations of the package", () => {
  const examples = ["README.md", "docs/skills.md"]
    .flatMap(readBlocks)
    .filter((text) => text.includes('from "skillgate'));
  const method = (body: string): string => `import { defineSkill } from "skillgate";
    export default defineSkill({ name: "ASkill", description: "x", methods: { add: { description: "x",
      input: { type: "object", required: ["a", "place", "note", "any"], properties: {
        a: { type: "number" }, kind: { enum: ["x", "y"] }, mode: { const: "fast" },
        place: { type: "object", properties: { tags: { type: "array", items: { type: "string" } } }, required: ["tags"] },
        note: { type: ["string", "null"] }, size: { anyOf: [{ type: "integer" }, { const: "all" }] }, any: {} } },
      run: ({ a, kind, mode, place, note, size, any }) => { ${body} } } } });`;
  const mistakes = {
    "wrong.ts": 'import { createRuntime } from "skillgate";\ncreateRuntime({ skillDir: 1 });',
    "inferred.ts": method("const b: string = a; return b;"),
    "choice.ts": method("const s: number = size; const n: string = note; return [s, n];"),
  };
  const right = method(
    "const b: number = a; const k: 'x' | 'y' | undefined = kind; const m: 'fast' | undefined = mode;" +
      "const tags: readonly string[] = place.tags; const n: string | null = note;" +
      "const s: number | 'all' | undefined = size; const u: unknown = any; return [b, k, m, tags, n, s, u];",
  );
  let found: readonly CompilerMessage[];

  // All at once: the compiler needs most of its time for the declarations of Node and of the package.
  beforeAll(() => {
    installPackage();
    const files = [...examples.map((text, at) => [`example-${at}.ts`, text]), ["right.ts", right]];
    found = compile([...files, ...Object.entries(mistakes)].map(([name = "", text = ""]) => writeProgram(name, text)));
  });

  const findIn = (name: string): readonly string[] =>
    found.flatMap(({ file, message }) => (file === name ? [message] : []));

  test("compile the library examples of the README files strictly, without those of browsers", () => {
    expect(examples.length).toBeGreaterThan(1);
    expect(found.filter(({ file }) => !(file in mistakes))).toEqual([]);
  });

  test("show a mistake in an example", () => {
    expect(findIn("wrong.ts")).toEqual([expect.stringContaining("'skillDir' does not exist")]);
  });

  test("infer the arguments of a method from its literal schema", () => {
    expect(findIn("right.ts")).toEqual([]);
    expect(findIn("inferred.ts")).toEqual([expect.stringContaining("'number' is not assignable to type 'string'")]);
    expect(findIn("choice.ts")).toEqual([
      expect.stringContaining("'number | \"all\" | undefined' is not assignable to type 'number'"),
      expect.stringContaining("'string | null' is not assignable to type 'string'"),
    ]);
  });
});

interface CompilerMessage {
  /** Without its folder. */
  readonly file: string;
  readonly message: string;
}

/** Installs the package as npm would: package.json and dist, and Node's types beside it. */
function installPackage(): void {
  const target = join(folder, "node_modules", "skillgate");
  mkdirSync(join(folder, "node_modules", "@types"), { recursive: true });
  if (ts.sys.directoryExists(target)) return;
  mkdirSync(target);
  cpSync("package.json", join(target, "package.json"));
  cpSync(join("dist", "types"), join(target, "dist", "types"), { recursive: true });
  for (const name of ["@types/node", "undici-types"])
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
function compile(files: readonly string[]): readonly CompilerMessage[] {
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
    .map(({ file, messageText }) => ({
      file: basename(file?.fileName ?? ""),
      message: ts.flattenDiagnosticMessageText(messageText, "\n"),
    }));
}
