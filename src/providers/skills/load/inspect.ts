import { builtinModules } from "node:module";

import { getMessage } from "../../../errors.ts";
import { moduleToSkillName } from "../names.ts";
import { ModuleFiles } from "../source-files.ts";
import { readModule } from "../type-reader/index.ts";
import { parseSource, SourceError } from "../type-reader/syntax.ts";
import { discover, type SkillModule } from "./discover.ts";
import { readGraph } from "./graph.ts";

/** Facts about a module, from its source. Nothing of it was run. */
export interface InspectedModule {
  /** The entry relative to the skills folder. */
  readonly source: string;
  readonly entry: string;
  /** The name that its functions have as a skill. */
  readonly skill: string;
  readonly description: string;
  /** The names of exported functions, and of methods of classes. Those of defined skills are known only when it runs. */
  readonly methods: readonly string[];
  /** The local files of its code. */
  readonly files: readonly string[];
  /** Modules of Node that it imports: `node:fs`. */
  readonly builtins: readonly string[];
  /** Names of packages that it imports. */
  readonly packages: readonly string[];
  /** Functions of the platform that reach the network: `fetch`. */
  readonly network: readonly string[];
}

/** Reads the modules of a folder without running any. Also returns why files cannot be read. */
export async function inspectSkills(
  folder: string,
): Promise<{ readonly modules: readonly InspectedModule[]; readonly problems: readonly string[] }> {
  const { root = folder, modules, problems } = await discover(folder);
  const results = modules.map((module) => inspectModule(module, root));
  return {
    modules: results.filter((each) => typeof each !== "string"),
    problems: [
      ...problems.map(({ source, error }) => `${source}: ${error}`),
      ...results.filter((each) => typeof each === "string"),
    ],
  };
}

function inspectModule(module: SkillModule, root: string): InspectedModule | string {
  const sources = new ModuleFiles();
  try {
    const graph = readGraph({ entry: module.entry, root, sources });
    const imports = graph.parts.flatMap(({ targets }) =>
      [...targets].flatMap(([{ specifier }, target]) => ("file" in target ? [] : specifier)),
    );
    const packages = imports.filter((specifier) => !isBuiltin(specifier)).map(toPackageName);
    const used = graph.parts.flatMap(({ facts }) => NETWORK.filter((name) => facts.used.has(name)));
    return {
      source: module.source,
      entry: module.entry,
      ...readNames(module, sources),
      files: graph.parts.map(({ module: { file } }) => file),
      builtins: unique(imports.filter(isBuiltin).map((name) => name.replace(/^(?:node:)?/, "node:"))),
      packages: unique(packages).filter((name) => name !== "skillgate"),
      network: unique(used),
    };
  } catch (error) {
    const position = error instanceof SourceError ? ` (line ${error.line}, column ${error.column})` : "";
    return `${module.source}: ${getMessage(error)}${position}`;
  }
}

/** A file whose types the parser does not support has no names until it runs. */
function readNames(
  { entry, stem }: SkillModule,
  sources: ModuleFiles,
): Pick<InspectedModule, "skill" | "description" | "methods"> {
  try {
    const read = readModule(parseSource(entry, sources.read(entry)), stem, sources);
    const methods = [...read.functions, ...read.classes.flatMap((each) => each.methods)].map(
      (each) => each.definition.name,
    );
    const description = read.description || (read.classes[0]?.description ?? "");
    return { skill: read.classes[0]?.name ?? read.name, description, methods };
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return { skill: moduleToSkillName(stem), description: "", methods: [] };
  }
}

const NETWORK = ["fetch", "WebSocket", "EventSource"];

function isBuiltin(specifier: string): boolean {
  return specifier.startsWith("node:") || builtinModules.includes(specifier);
}

/** Returns `@scope/name` of `@scope/name/part`. */
function toPackageName(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)].toSorted();
}
