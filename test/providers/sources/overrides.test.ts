import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime, type Runtime, type RuntimeOptions } from "../../../src/index.ts";

const DOCUMENT = {
  openapi: "3.1.0",
  info: { title: "Pets", version: "1" },
  servers: [{ url: "https://api.example.com" }],
  paths: {
    "/pets": {
      get: { operationId: "pets/list-all", summary: "Lists the pets", responses: {} },
      post: { operationId: "pets/create", summary: "Creates a pet", responses: {} },
    },
  },
};

function createProject(settings: NonNullable<RuntimeOptions["sources"]>[string] | object) {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = (name: string, value: unknown): void => writeFileSync(join(folder, name), JSON.stringify(value));
  write("pets.json", DOCUMENT);
  const start = async (): Promise<Runtime> => {
    const runtime = await createRuntime({
      cwd: folder,
      skillsDir: false,
      workers: 1,
      sources: { pets: { openapi: "pets.json", ...settings } },
      mcp: { stateDir: join(folder, "state") },
    });
    onTestFinished(() => runtime.close());
    await runtime.known;
    return runtime;
  };
  return { write, start };
}

const describe = (runtime: Runtime): readonly (readonly [string, string])[] =>
  runtime.catalog.skill("PetsAPI")?.methods.map(({ name, description }) => [name, description]) ?? [];

const getErrors = (runtime: Runtime): readonly string[] => runtime.problems.map(({ error }) => error);

test("names and texts of the settings replace those of the document [M1]", async () => {
  const { start } = createProject({
    methods: {
      pets_listAll: { name: "listPets", description: "Lists every pet" },
      missing: { name: "found" },
    },
    effects: { pets_listAll: "destructive" },
  });
  const runtime = await start();
  expect(describe(runtime)).toEqual([
    ["listPets", "Lists every pet. GET /pets"],
    ["pets_create", "Creates a pet. POST /pets"],
  ]);
  expect(runtime.catalog.method("PetsAPI.listPets")?.metadata.destructive).toBe(true);
  expect(getErrors(runtime)).toEqual(['methods names "missing", which the document does not have']);
});

test("a new name is taken from the operation that has it, and refused if it cannot be a name [M1]", async () => {
  const taken = await createProject({ methods: { pets_listAll: { name: "pets_create" } } }).start();
  expect(describe(taken)).toEqual([["pets_create", "Lists the pets. GET /pets"]]);
  expect(getErrors(taken)).toEqual(["pets_create is left out, because methods gives its name to pets_listAll"]);
  const swapped = await createProject({
    methods: { pets_listAll: { name: "pets_create" }, pets_create: { name: "pets_listAll" } },
  }).start();
  expect(describe(swapped).map(([name]) => name)).toEqual(["pets_create", "pets_listAll"]);
  expect(getErrors(swapped)).toEqual([]);
  const wrong = await createProject({ methods: { pets_listAll: { name: "a b" } } }).start();
  expect(getErrors(wrong)).toEqual([
    expect.stringContaining('sources.pets.methods of "pets_listAll": "a b" cannot be the name of a method'),
  ]);
});

test("a patch changes the document, and each change of it is read at the next start [M10]", async () => {
  const { write, start } = createProject({ patch: "pets.patch.json" });
  write("pets.patch.json", [{ op: "replace", path: "/paths/~1pets/get/summary", value: "Lists all pets" }]);
  const first = await start();
  expect(describe(first)[0]).toEqual(["pets_listAll", "Lists all pets. GET /pets"]);
  await first.close();
  write("pets.patch.json", [{ op: "remove", path: "/paths/~1pets/post" }]);
  const second = await start();
  expect(describe(second)).toEqual([["pets_listAll", "Lists the pets. GET /pets"]]);
  await second.close();
  write("pets.patch.json", [{ op: "remove", path: "/paths/~1pet" }]);
  const third = await start();
  expect(describe(third)).toEqual(describe(second));
  expect(getErrors(third)[0]).toMatch(
    /the patch \S+pets\.patch\.json cannot be applied: operation 1 \(remove \/paths\/~1pet\): the document has nothing at \/paths\/~1pet; the catalog of its last document serves/,
  );
});
