import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

/** From the bottom to the top. A module imports only modules of lower layers. ARCHITECTURE.md shows the same table. */
const LAYERS = parseLayers(readFileSync(".github/layers.json", "utf8"));

/** Modules without an entry point: each of their files may be imported. */
const LIBRARIES = new Set(["model", "shared", "authoring"]);

/** Files that other modules may import in addition to the `index.ts` of a module. */
const ENTRY_POINTS = [
  "sandbox/index.ts",
  "sandbox/package-files.ts",
  "sandbox/processors.ts",
  "sandbox/spin-wait.ts",
  "src/agent/events.ts",
  "src/config/locations.ts",
  "src/providers/mcp/known-server.ts",
  "src/runtime.ts",
  "src/runtime/api/view.ts",
  "src/runtime/builtin-tools/definitions.ts",
  "src/runtime/builtin-tools/index.ts",
  "src/runtime/saved/write-skill.ts",
  "src/runtime/mcp-options.ts",
  "src/runtime/options.ts",
  "src/runtime/settings/index.ts",
  "src/runtime/change-skill-settings.ts",
  "src/runtime/skill-settings.ts",
  "src/runtime/storage/program-store.ts",
  "src/runtime/api/view.ts",
  "src/surfaces/cli/commands/early-client.ts",
  "src/surfaces/cli/commands/early-server.ts",
  "src/surfaces/http/opening/index.ts",
  "src/surfaces/mcp/opening/index.ts",
];

/** Files beside the folder of the module that they belong to. */
const MODULE_BY_FILE: Readonly<Record<string, string>> = {
  "src/runtime.ts": "runtime",
};

const MAX_LOOSE_FILES = 6;
const MAX_FILES_IN_FOLDER = 20;

test("allows imports only down the layers, and into another module only through its entry point", () => {
  const files = ["src", "sandbox", "skills"].flatMap(listFiles).filter((file) => /\.tsx?$/.test(file));
  const imports = files.flatMap((from) => getImports(from).map((to) => ({ from, to })));
  expect(imports.length).toBeGreaterThan(100);
  expect(imports.filter(({ from, to }) => !isAllowed(from, to))).toEqual([]);
});

test.each([
  ["up", "src/model/json.ts", "src/router/index.ts"],
  ["sideways", "src/gatekeeper/ast/walk.ts", "src/registry/index.ts"],
  ["sideways, to a sibling", "src/providers/mcp/index.ts", "src/providers/skills/index.ts"],
  ["past an entry point", "src/router/index.ts", "src/registry/search/index.ts"],
  ["past the entry point of the sandbox", "src/runtime.ts", "sandbox/host/pool.ts"],
  ["past the entry points of the runtime", "src/surfaces/cli/session.ts", "src/runtime/services.ts"],
  ["from the sandbox", "sandbox/index.ts", "src/errors.ts"],
  ["from a skill", "skills/time.ts", "src/model/json.ts"],
  ["to a module without a layer", "src/runtime.ts", "src/attic/index.ts"],
])("finds an import that goes %s", (_direction, from, to) => {
  expect(isAllowed(from, to)).toBe(false);
});

/** Surfaces that serve several callers: they use a runtime through `viewFor(caller)`. */
const SERVED = /^src\/(?:surfaces\/(?:http|mcp|console)|agent)\//;

/** What answers or reads without asking whom it is for. */
const UNASKED = /\b(?:Runtime|createRuntime|createApprovals|createKeys|openDatabase|Database)\b/;

/** Where a surface is put together, and the check of keys; the events of the console are filtered by the view of each reader. */
const ASSEMBLY = [
  "src/agent/index.ts",
  "src/surfaces/console/events/activity.ts",
  "src/surfaces/console/events/event-hub.ts",
  "src/surfaces/console/events/watches.ts",
  "src/surfaces/console/index.ts",
  "src/surfaces/http/auth/key-check.ts",
  "src/surfaces/http/index.ts",
  "src/surfaces/mcp/index.ts",
];

/** Returns the names in the imports of a text that reach around the views. */
function findUnasked(text: string): readonly string[] {
  const imports = text.match(/^import\b[^;]*;/gm) ?? [];
  return imports.flatMap((each) => UNASKED.exec(each.replace(/"[^"]*"/, ""))?.[0] ?? []);
}

test("lets surfaces that serve several callers use a runtime only through a view", () => {
  const files = listFiles("src").filter((file) => SERVED.test(file) && /\.tsx?$/.test(file));
  const unasked = files.filter((file) => findUnasked(readFileSync(file, "utf8")).length > 0);
  expect(unasked.toSorted()).toEqual(ASSEMBLY);
  expect(findUnasked(`import { type Runtime } from "../runtime.ts";`)).toEqual(["Runtime"]);
  expect(findUnasked(`import {\n  createKeys,\n} from "../keys/index.ts";`)).toEqual(["createKeys"]);
  expect(findUnasked(`import type { RuntimeView } from "../runtime/api/view.ts";`)).toEqual([]);
});

test("names every module and every file beside the modules in a layer", () => {
  const modules = new Set(
    ["src", "sandbox"]
      .flatMap(listFiles)
      .filter((file) => /\.tsx?$/.test(file))
      .map(getModule),
  );
  expect(LAYERS.flat().toSorted()).toEqual([...modules].toSorted());
});

test("limits the number of files in a folder", () => {
  const folders = ["src", "sandbox", "test"].flatMap((root) => [root, ...listFolders(root)]);
  const written = folders.filter((folder) => !/^test\/(?:fixtures|corpus|surfaces\/console\/screenshots)/.test(folder));
  const counts = written.map((folder) => ({ folder, files: countFiles(folder) }));
  expect(counts.filter(({ folder, files }) => files > getMaxFiles(folder))).toEqual([]);
  expect(getMaxFiles("src")).toBe(MAX_LOOSE_FILES);
});

function isAllowed(from: string, to: string): boolean {
  const [importer, imported] = [getModule(from), getModule(to)];
  if (importer === imported) return true;
  const isEntryPoint =
    LIBRARIES.has(imported) || [`src/${imported}`, `src/${imported}/index.ts`, ...ENTRY_POINTS].includes(to);
  const [high, low] = [getLayer(importer), getLayer(imported)];
  return isEntryPoint && low >= 0 && low < high && importer !== "sandbox";
}

/** `gatekeeper`, `providers/mcp`, `sandbox`, `errors.ts`. */
function getModule(file: string): string {
  const path = /^(?:src\/)?((?:providers|surfaces)\/[^/]+|[^/]+)/.exec(file)?.[1] ?? file;
  return MODULE_BY_FILE[file] ?? path;
}

function getLayer(module: string): number {
  return LAYERS.findIndex((modules) => modules.includes(module));
}

/** Each layer is an object from the names of its modules to what they do. */
function parseLayers(text: string): readonly (readonly string[])[] {
  const layers: readonly Readonly<Record<string, string>>[] = JSON.parse(text);
  return layers.map((layer) => Object.keys(layer));
}

const getMaxFiles = (folder: string): number => (folder === "src" ? MAX_LOOSE_FILES : MAX_FILES_IN_FOLDER);

const listFiles = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => posix.join(folder, name));

const listFolders = (root: string): readonly string[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => posix.join(entry.parentPath, entry.name));

const countFiles = (folder: string): number =>
  readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile()).length;

const getImports = (file: string): readonly string[] =>
  [...ts.preProcessFile(readFileSync(file, "utf8")).importedFiles]
    .filter(({ fileName }) => fileName.startsWith("."))
    .map(({ fileName }) => posix.join(posix.dirname(file), fileName));
