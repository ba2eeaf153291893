// @module-tag rest

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterEach, expect, test } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "skillgate-checkers-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const TIDY = "export const one: number = 1;\n";

test("reports a value that may be undefined (oxlint --type-check)", () => {
  const compilerOptions = { rootDir: ".", types: [] };
  const check = (): ReturnType<typeof run> =>
    run("oxlint/bin/oxlint", "-c", resolve(".oxlintrc.json"), "--type-aware", "--type-check", folder);
  write("tsconfig.json", JSON.stringify({ extends: resolve("tsconfig.json"), include: ["src"], compilerOptions }));
  write("package.json", JSON.stringify({ type: "module" }));
  write("src/a.ts", TIDY);
  expect(check().status).toBe(0);
  write("src/a.ts", "export const one: number = [1][0];\n");
  const { status, says } = check();
  expect(status).toBe(1);
  expect(says).toContain("TS2322");
  expect(says).toContain("Type 'number | undefined' is not assignable to type 'number'.");
});

test("reports any, a floating promise and a function longer than a screen (oxlint)", () => {
  const config = resolve(".oxlintrc.json");
  write("tsconfig.json", JSON.stringify({ compilerOptions: { strict: true, target: "es2023" } }));
  write("a.ts", TIDY);
  expect(run("oxlint/bin/oxlint", "-c", config, "--type-aware", "--deny-warnings", folder).status).toBe(0);
  const lines = "  one();\n".repeat(71);
  write(
    "a.ts",
    `export function one(_: any = 1): void {\n${lines}}\nexport function two(): void {\n  Promise.resolve(1);\n}\n`,
  );
  const { status, says } = run("oxlint/bin/oxlint", "-c", config, "--type-aware", "--deny-warnings", folder);
  expect(status).toBe(1);
  expect(says).toContain("no-explicit-any");
  expect(says).toContain("max-lines-per-function");
  expect(says).toContain("no-floating-promises");
});

test("reports a fetch that may send credentials to another server, in src alone (oxlint)", () => {
  // The patterns of a configuration count from its folder.
  write(".oxlintrc.json", readFileSync(".oxlintrc.json", "utf8"));
  write("tsconfig.json", JSON.stringify({ compilerOptions: { strict: true, target: "es2023" } }));
  const check = (): ReturnType<typeof run> =>
    run("oxlint/bin/oxlint", "-c", join(folder, ".oxlintrc.json"), "--deny-warnings", folder);
  write(
    "src/a.ts",
    'export const call = fetchOne("https://a.example");\ndeclare function fetchOne(url: string): unknown;\n',
  );
  write("scripts/a.ts", 'export const call = fetch("https://a.example");\n');
  expect(check().status).toBe(0);
  write("src/a.ts", 'export const call = fetch("https://a.example");\n');
  const { status, says } = check();
  expect(status).toBe(1);
  expect(says).toContain("Use fetchSameServer, which sends credentials to no other server.");
});

test("reports a file that is not formatted (oxfmt)", () => {
  const config = resolve(".oxfmtrc.json");
  write("a.ts", TIDY);
  expect(run("oxfmt/bin/oxfmt", "-c", config, "--check", folder).status).toBe(0);
  write("a.ts", "export const   one = 1\n");
  const { status, says } = run("oxfmt/bin/oxfmt", "-c", config, "--check", folder);
  expect(status).toBe(1);
  expect(says).toContain("a.ts");
});

test("reports an unused file, export and dependency (knip)", () => {
  write("knip.json", readFileSync("knip.json", "utf8"));
  const facts = { name: "probe", type: "module", main: "./src/index.ts", dependencies: { leftover: "1.0.0" } };
  write("package.json", JSON.stringify(facts));
  write("src/index.ts", 'import { one } from "./one.ts";\nexport default one;\n');
  write("src/one.ts", "export const one = 1;\nexport const spare = 2;\n");
  write("src/alone.ts", "export const alone = 1;\n");
  const { status, says } = run("knip/bin/knip.js", "--directory", folder);
  expect(status).toBe(1);
  for (const finding of ["src/alone.ts", "spare", "leftover"]) expect(says).toContain(finding);
});

test("fails a run whose tests leave a temporary file, and names it (vitest)", () => {
  const setup = resolve("test/support/suite/temporary-folder.ts");
  write("vitest.config.js", `export default ${JSON.stringify({ test: { globals: true, globalSetup: [setup] } })};\n`);
  const create = 'const file = join(tmpdir(), "left.txt"); writeFileSync(file, "");';
  const imports =
    'import { rmSync, writeFileSync } from "node:fs"; import { tmpdir } from "node:os"; import { join } from "node:path";';
  const check = (): ReturnType<typeof run> => run("vitest/vitest.mjs", "run", "--root", folder);
  write("a.test.js", `${imports}\ntest("tidy", () => { ${create} rmSync(file); });\n`);
  expect(check().status).toBe(0);
  write("a.test.js", `${imports}\ntest("untidy", () => { ${create} });\n`);
  const { status, says } = check();
  expect(status).toBe(1);
  expect(says).toContain("Tests have left 1 temporary files or folders: left.txt");
});

function write(file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

/** Runs a program of a package that is installed here. */
function run(program: string, ...args: readonly string[]): { readonly status: number | null; readonly says: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join("node_modules", program), ...args], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], TMPDIR: folder },
  });
  return { status, says: stdout + stderr };
}
