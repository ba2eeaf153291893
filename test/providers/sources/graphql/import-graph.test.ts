import { build } from "esbuild";
import { expect, test } from "vitest";

/** The modules that users import, and the program. */
const HOST = ["index", "bin", "agent/index", "ai/index", "testing/index", "surfaces/cli/index"];

/** The entries of threads that read schemas and texts. */
const THREADS = ["providers/sources/compile/worker", "providers/sources/graphql/check/worker"];

/** Returns the modules that imports, also dynamic ones, reach from a text in `src`, and those of them that import `graphql`. */
async function readGraph(contents: string): Promise<Readonly<Record<"modules" | "importers", readonly string[]>>> {
  const { metafile } = await build({
    stdin: { contents, resolveDir: "src", loader: "ts" },
    bundle: true,
    metafile: true,
    write: false,
    format: "esm",
    platform: "node",
    packages: "external",
    treeShaking: false,
    jsx: "automatic",
    logLevel: "silent",
  });
  const modules = Object.keys(metafile.inputs);
  const importers = modules.filter((file) =>
    metafile.inputs[file]?.imports.some(({ path }) => /^graphql(?:\/|$)/.test(path)),
  );
  return { modules, importers };
}

const importAll = (names: readonly string[]): string =>
  names.map((name, at) => `export * as part${at} from "./${name}.ts";`).join("\n");

test("the thread of the host imports no module that loads the package of GraphQL", async () => {
  const { modules, importers } = await readGraph(importAll(HOST));
  expect(importers).toEqual([]);
  expect(modules).toEqual(
    expect.arrayContaining(["check/index", "graphql-kind"].map((name) => `src/providers/sources/graphql/${name}.ts`)),
  );
});

test.each([
  ["the package itself", 'import { parse } from "graphql"; parse("");', 1],
  ["a part of it", 'import { parse } from "graphql/language/parser.js"; parse("");', 1],
  ["a module of a thread, loaded later", 'void import("./providers/sources/graphql/check/check-in-thread.ts");', 5],
  ["the compiler of schemas", 'export * from "./providers/sources/graphql/compile/index.ts";', 3],
  ["the entries of threads", importAll(THREADS), 8],
])("finds an import of %s", async (_what, contents, atLeast) => {
  const { importers } = await readGraph(contents);
  expect(importers.length).toBeGreaterThanOrEqual(atLeast);
});
