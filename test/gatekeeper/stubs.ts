import { readProgramSource } from "../../src/frontend/index.ts";
import { gatekeep, type Host, type Verdict } from "../../src/gatekeeper/index.ts";
import { type Catalog } from "../../src/model/catalog.ts";
import type { ProvidedSkill } from "../../src/model/skill.ts";
import { createRegistry, search } from "../../src/registry/index.ts";
import { createValidator } from "../../src/validation/index.ts";
import { toInputSchema, type Stub, STUBS } from "../support/stubs.ts";

const { tools } = STUBS;

/** The paths of the stub skills that have one of the permissions. */
export function pathsWith(...permissions: readonly Stub["permission"][]): readonly string[] {
  return Object.keys(tools).filter((path) => permissions.includes(tools[path]?.permission ?? "hidden"));
}

/** The stub skills as a caller sees them who may call some methods, only see others, and knows nothing of the hidden ones. */
export const catalog: Catalog = createCatalog(pathsWith("allow", "approve", "deny"));

const validator = createValidator();
const callable = new Set(pathsWith("allow", "approve"));

export const questions: Host = {
  catalog,
  problems: (method, args) => validator.problems(method, args),
  findRefusal: ({ path }) => (callable.has(path) ? undefined : { code: "PERMISSION_MISSING", values: path }),
  findSimilar: (words) =>
    search(catalog, words, { limit: 3 }).results.flatMap(({ path }) => catalog.method(path) ?? []),
};

export function check(source: string, asked: Host = questions): Verdict {
  return gatekeep(readProgramSource(source, { sourceBytes: 256 << 10 }), asked);
}

/** The code of a program that is fine, without what begins and ends it. */
export function emitCode(source: string): string {
  const { program, violations } = check(source);
  if (program === undefined) throw new Error(violations.map(({ message }) => message).join("\n"));
  return program.code.slice(1, -2).replace(/^__waitForCalls\(\w+\);/, "");
}

/** `CODE line:column` of everything that is wrong. */
export function sourceText(source: string): readonly string[] {
  return check(source).violations.map(({ code, line, column }) => `${code} ${line}:${column}`);
}

function createCatalog(paths: readonly string[]): Catalog {
  const registry = createRegistry();
  for (const name of new Set(paths.map((path) => path.split(".")[0] ?? "")))
    registry.register(createSkill(name, paths));
  return registry.catalog;
}

function createSkill(name: string, paths: readonly string[]): ProvidedSkill {
  const own = paths.filter((path) => path.startsWith(`${name}.`));
  return {
    name,
    description: `${name} of the samples`,
    source: "stubs.json",
    kind: "code",
    methods: own.map((path) => ({
      name: path.slice(name.length + 1),
      description: path,
      input: toInputSchema(tools[path] as Stub),
    })),
    invoke: () => Promise.reject(new Error("Cannot call a method of a sample")),
  };
}
