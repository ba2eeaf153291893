import { type ChildProcess, execFile, spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { expect } from "vitest";

/**
 * Creates a project in which the package is installed as npm packs it, without a registry: its dependencies are links to
 * those of this project. Tests remove the folder.
 */
export function createProject(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-project-"));
  const all = { "package.json": '{ "private": true, "type": "module" }\n', ...files };
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const modules = join(folder, "node_modules");
  mkdirSync(modules, { recursive: true });
  mkdirSync(join(modules, ".bin"));
  symlinkSync("../skillgate/dist/src/bin.js", join(modules, ".bin/skillgate"));
  for (const path of (packed ??= listPacked())) cpSync(path, join(modules, "skillgate", path));
  for (const name of listDependencies()) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(resolve("node_modules", name), join(modules, name));
  }
  chmodSync(join(modules, "skillgate/dist/src/bin.js"), 0o755);
  return folder;
}

interface Exit {
  readonly status: ChildProcess["exitCode"];
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. */
export async function runNode(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Exit> {
  return new Promise((done) => {
    const child = execFile(process.execPath, args, { env: { ...process.env, ...env } }, (_error, stdout, stderr) =>
      done({ status: child.exitCode, stdout, stderr }),
    );
  });
}

/** The files of the package. They are the same for all projects of this process, and npm takes a second to list them. */
let packed: readonly string[] | undefined;

function listPacked(): readonly string[] {
  const { status, stdout, stderr } = spawnSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    encoding: "utf8",
  });
  expect(status, stderr).toBe(0);
  const [{ files }] = JSON.parse(stdout) as [{ readonly files: readonly { readonly path: string }[] }];
  return files.map(({ path }) => path);
}

/** Returns the names of the packages that a user installs with this one. */
function listDependencies(): readonly string[] {
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  return Object.keys(dependencies);
}
