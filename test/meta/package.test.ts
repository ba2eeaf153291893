// @module-tag rest

import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { expect, onTestFinished, test } from "vitest";

// @ts-expect-error: a script without types
import { DEMO_PACKAGES } from "../../scripts/prepare.mjs";

test("links from every packed page only to files in the package or to addresses", () => {
  const [{ files }] = JSON.parse(npm(".", "pack", "--dry-run", "--json", "--ignore-scripts")) as [PackedPackage];
  const packed = new Set(files.map(({ path }) => path));
  const pages = [...packed].filter((path) => path.endsWith(".md") && !path.startsWith("dist/"));
  expect(pages).toContain("README.md");
  expect(pages).toContain("docs/start.md");
  expect(pages.flatMap((page) => findLostLinks(page, readFileSync(page, "utf8"), packed))).toEqual([]);
});

test("finds a link to a file that is not in the package", () => {
  const text = "[a](docs/a.md#part) [b](https://example.org/b) ![c](docs/c.png) [d](#d)";
  expect(findLostLinks("README.md", text, new Set(["docs/a.md"]))).toEqual(["README.md: docs/c.png"]);
});

test("packs a README with absolute links if package.json names a repository, and leaves the file as it was", () => {
  const folder = createPackage({ type: "git", url: "git+https://example.org/ada/sample.git" });
  npm(folder, "pack");
  expect(readPackedReadme(folder)).toBe(
    "[a](https://example.org/ada/sample/blob/v1.2.3/docs/a.md#part) " +
      "![b](https://example.org/ada/sample/raw/v1.2.3/docs/b.png) [c](https://example.com) [d](#d)\n",
  );
  expect(readFileSync(join(folder, "README.md"), "utf8")).toBe(SAMPLE_README);
});

test("packs a README with relative links if package.json names no repository", () => {
  const folder = createPackage();
  npm(folder, "pack");
  expect(readPackedReadme(folder)).toBe(SAMPLE_README);
});

test("has no empty field about the project in package.json", () => {
  const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Record<string, unknown>;
  for (const field of ["author", "homepage", "bugs", "repository"])
    expect(JSON.stringify(manifest[field]) ?? "absent").not.toMatch(/""/);
});

const MAX_PACKAGES = 8;
const MAX_MEGABYTES = 20;

test("installs few and small packages, none with a script", () => {
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as LockFile;
  const installed = Object.entries(packages).filter(
    ([path, { dev, devOptional, peer }]) => path !== "" && !dev && !devOptional && !peer,
  );
  const [{ unpackedSize }] = JSON.parse(npm(".", "pack", "--dry-run", "--json", "--ignore-scripts")) as [PackedPackage];
  const bytes = installed.reduce((sum, [path]) => sum + measureFolder(path), unpackedSize);
  expect(installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)).toEqual([]);
  expect(installed.length + 1).toBeLessThanOrEqual(MAX_PACKAGES);
  expect(bytes / 2 ** 20).toBeLessThanOrEqual(MAX_MEGABYTES);
});

test("bundles the packages that users do not install, with their licences, and the demo installs them for its build", () => {
  const { dependencies, peerDependencies, devDependencies } = readManifest();
  const scripts = readdirSync("dist/lib").filter((name) => name.endsWith(".js"));
  const imported = scripts.flatMap((name) => findPackages(readFileSync(join("dist/lib", name), "utf8")));
  const installed = Object.keys({ ...dependencies, ...peerDependencies });
  expect(new Set(imported)).toContain("commander");
  expect(imported.filter((name) => name !== "skillgate" && !installed.includes(name))).toEqual([]);
  const licences = readFileSync("dist/lib/licences.txt", "utf8").split("\n----\n\n");
  const bundled = licences.map(
    (licence) => /^(\S+) \d\S* \(\S+\)\n\n\S/.exec(licence)?.[1] ?? `no licence: ${licence}`,
  );
  expect(bundled).toEqual(expect.arrayContaining(["@modelcontextprotocol/client", "ajv-formats", "zod"]));
  const direct = bundled.filter((name) => name !== "zod" && devDependencies[name] !== undefined);
  expect(direct.filter((name) => !(DEMO_PACKAGES as readonly string[]).includes(name))).toEqual([]);
  expect(bundled.filter((name) => name.startsWith("no licence"))).toEqual([]);
});

test("the demo installs the packages that its build imports", () => {
  const files = ["build.mjs"];
  for (const file of files) {
    const text = readFileSync(join("scripts", file), "utf8");
    files.push(...Array.from(text.matchAll(/^import .* from "\.\/(.+)";$/gm), ([, name = ""]) => name));
  }
  expect(files).toContain("transpile.mjs");
  const imported = files.flatMap((file) => findPackages(readFileSync(join("scripts", file), "utf8")));
  expect(imported).toContain("es-module-lexer");
  expect(imported.filter((name) => !(DEMO_PACKAGES as readonly string[]).includes(name))).toEqual([]);
});

/** Returns the packages that a script imports. */
function findPackages(script: string): readonly string[] {
  const specifiers = script.matchAll(/^import .* from "([^"]+)";$|\bimport\("([^"]+)"\)/gm);
  return [...specifiers].flatMap(([, fixed, lazy]) => {
    const [name] = /^(?:@[^/]+\/)?[a-z][^/]*/.exec(fixed ?? lazy ?? "") ?? [];
    return name === undefined || name.startsWith("node:") ? [] : [name];
  });
}

function readManifest(): Readonly<
  Record<"dependencies" | "peerDependencies" | "devDependencies", Record<string, string>>
> {
  return JSON.parse(readFileSync("package.json", "utf8")) as ReturnType<typeof readManifest>;
}

interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly peer?: boolean;
  readonly hasInstallScript?: boolean;
}

/** Returns the bytes of a folder on a disk with blocks of 4 KB, as `du` counts them. */
function measureFolder(folder: string): number {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries.reduce((sum, entry) => {
    const size = entry.isFile() ? statSync(join(entry.parentPath, entry.name)).size : 4096;
    return sum + Math.ceil(size / 4096) * 4096;
  }, 4096);
}

interface PackedPackage {
  readonly files: readonly { readonly path: string }[];
  readonly unpackedSize: number;
}

const SAMPLE_README = "[a](docs/a.md#part) ![b](docs/b.png) [c](https://example.com) [d](#d)\n";

function findLostLinks(page: string, text: string, packed: ReadonlySet<string>): readonly string[] {
  const targets = [...text.matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)[^)]*\)/g)].map(([, target = ""]) => target);
  const isPacked = (target: string): boolean => packed.has(posix.join(posix.dirname(page), target));
  return targets.filter((target) => !isPacked(target)).map((target) => `${page}: ${target}`);
}

/** Creates a package with the packing scripts of this one, without its build. */
function createPackage(repository?: object): string {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-package-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync("scripts/package-links.mjs", join(folder, "scripts/package-links.mjs"));
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
  const prepack = scripts["prepack"]?.replace("npm run build && ", "");
  const fields = { name: "sample", version: "1.2.3", files: ["README.md"], repository };
  const text = JSON.stringify({ ...fields, scripts: { prepack, postpack: scripts["postpack"] } });
  writeFileSync(join(folder, "package.json"), text);
  writeFileSync(join(folder, "README.md"), SAMPLE_README);
  return folder;
}

function readPackedReadme(folder: string): string {
  const archive = readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "";
  const { stdout } = spawnSync("tar", ["-xzOf", archive, "package/README.md"], { cwd: folder, encoding: "utf8" });
  return stdout;
}

function npm(cwd: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("npm", [...args], { cwd, encoding: "utf8" });
  expect(status, stderr).toBe(0);
  return stdout;
}
