import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

/** Bottom up. A room may use the floors below and knows nothing of its neighbours. `*.ts`: the other files of src/. */
const FLOORS = [
  ["shared"],
  ["errors.ts", "sandbox"],
  ["model"],
  [
    "define-skill.ts",
    "skill-metadata.ts",
    "standard-schema.ts",
    "valibot-schema.ts",
    "frontend",
    "gatekeeper",
    "typecheck",
    "registry",
    "validation",
    "store",
  ],
  ["router", "providers", "learning"],
  ["config"],
  ["*.ts"],
  ["testing"],
  ["surfaces/mcp"],
  ["surfaces/http"],
  ["surfaces"],
  ["index.ts", "bin.ts"],
];

test("imports go down, and into another room only through its door", () => {
  const files = ["src", "sandbox", "skills"].flatMap(filesIn).filter((file) => file.endsWith(".ts"));
  const imports = files.flatMap((from) => importsOf(from).map((to) => ({ from, to })));
  expect(imports.length).toBeGreaterThan(100);
  expect(imports.filter(({ from, to }) => !isAllowed(from, to))).toEqual([]);
});

test.each([
  ["up", "src/model/json.ts", "src/router/index.ts"],
  ["sideways", "src/gatekeeper/walk.ts", "src/registry/index.ts"],
  ["sideways, to a sibling", "src/providers/mcp/index.ts", "src/providers/skills/index.ts"],
  ["past a door", "src/router/index.ts", "src/registry/search/index.ts"],
  ["past the door of the sandbox", "src/runtime.ts", "sandbox/pool.ts"],
  ["from the sandbox", "sandbox/index.ts", "src/errors.ts"],
  ["from a skill", "skills/time.ts", "src/model/json.ts"],
  ["to a room without a floor", "src/runtime.ts", "src/attic/index.ts"],
])("an import that goes %s is found", (_way, from, to) => {
  expect(isAllowed(from, to)).toBe(false);
});

function isAllowed(from: string, to: string): boolean {
  const [here, there] = [roomOf(from), roomOf(to)];
  const [high, low] = [floorOf(here), floorOf(there)];
  const isDoor =
    ["model", "shared"].includes(there) || [`src/${there}`, `src/${there}/index.ts`, "sandbox/index.ts"].includes(to);
  const isDown = low < high || (low === high && [here, there].every((room) => room.endsWith(".ts")));
  return here === there || (isDoor && isDown && low >= 0 && here !== "sandbox");
}

/** `gatekeeper`, `providers/mcp`, `sandbox`, `runtime.ts`. */
const roomOf = (file: string): string =>
  file.replace(/^(?:src\/)?((?:providers|surfaces)\/[^/]+|[^/]+).*/, (_file, room: string) => room);
function floorOf(room: string): number {
  const own = FLOORS.findIndex((rooms) => rooms.includes(room));
  const floor = own < 0 ? FLOORS.findIndex((rooms) => rooms.includes(room.replace(/\/.*/, ""))) : own;
  return floor < 0 && room.endsWith(".ts") ? floorOf("*.ts") : floor;
}

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => posix.join(folder, name));
const importsOf = (file: string): readonly string[] =>
  [...ts.preProcessFile(readFileSync(file, "utf8")).importedFiles]
    .filter(({ fileName }) => fileName.startsWith("."))
    .map(({ fileName }) => posix.join(posix.dirname(file), fileName));
