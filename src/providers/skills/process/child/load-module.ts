import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, extname, join } from "node:path";
import { pathToFileURL } from "node:url";

import { type DefinedSkill, isDefinedSkill } from "../../../../authoring/define-skill.ts";
import { isRecord, isTextList, type JsonSchema } from "../../../../model/json.ts";
import { isStandardSchema, readSchema } from "../../../../authoring/standard-schema.ts";
import type { ExportPath } from "../../type-reader/index.ts";
import { toFailure } from "./failure.ts";
import type { Failure, Loaded, LoadedSkill, LoadRequest } from "../messages.ts";
import { asTool, type SkillTool } from "./tools.ts";
import { isFunction, valueAt } from "./values.ts";

/** An imported module with its callable values. Keys are paths, joined by dots. */
export interface ImportedModule {
  /** The namespace of an ES module, or `module.exports`. */
  readonly root: unknown;
  readonly objects: ReadonlyMap<string, object>;
  readonly skills: ReadonlyMap<string, DefinedSkill>;
  readonly tools: ReadonlyMap<string, SkillTool>;
}

export function formatExportPath(path: ExportPath): string {
  return path.join(".");
}

/** Imports a module, instantiates its classes, and lists its content. Throws what the module throws. */
export async function loadModule(
  request: LoadRequest,
): Promise<{ readonly module: ImportedModule; readonly response: Loaded }> {
  const root = await importBundle(request);
  const instances = request.classes.map((path) => ({ path, ...make(valueAt(root, path)) }));
  const found = request.values.map((path) => ({ path, value: valueAt(root, path) }));
  const skills = found.flatMap(({ path, value }) => (isDefinedSkill(value) ? [{ path, skill: value }] : []));
  const tools = found.flatMap(({ path, value }) => toolsIn(path, value));
  const { settings, failure } = readSettings(root);
  return {
    module: {
      root,
      objects: new Map(
        instances.flatMap(({ path, object }) => (object === undefined ? [] : [[formatExportPath(path), object]])),
      ),
      skills: new Map(skills.map(({ path, skill }) => [formatExportPath(path), skill])),
      tools: new Map(tools.flatMap(({ path, tool }) => (tool === undefined ? [] : [[formatExportPath(path), tool]]))),
    },
    response: {
      classes: instances.map(({ failure }) => failure),
      skills: skills.map(({ path, skill }) => described(path, skill)),
      tools: tools.flatMap(({ path, tool }) => (tool === undefined ? [] : [{ path, definition: tool.definition }])),
      functions: found.flatMap(({ path, value }) => (isFunction(value) ? [path] : [])),
      failures: [...tools.flatMap((tool) => tool.failure ?? []), ...(failure === undefined ? [] : [failure])],
      ...(settings !== undefined && { settings }),
      ...readAccounts(root),
    },
  };
}

let imports = 0;

/** Imports a bundle without Node's module caches. */
async function importBundle({ bundle, format }: LoadRequest): Promise<unknown> {
  const parts = listParts(bundle);
  if (format === "cjs") {
    const require = createRequire(import.meta.url);
    for (const file of [bundle, ...parts]) Reflect.deleteProperty(require.cache, file);
    return require(bundle) as unknown;
  }
  imports += 1;
  if (parts.length === 0) return import(`${pathToFileURL(bundle).href}?${imports}`);
  if (!IMPORTED.has(bundle)) {
    IMPORTED.add(bundle);
    return import(pathToFileURL(bundle).href);
  }
  const copies = [bundle, ...parts].map((file) => copyPart(file, getStem(bundle), imports));
  try {
    return await import(pathToFileURL(copies[0] ?? "").href);
  } finally {
    for (const copy of copies) rmSync(copy, { force: true });
  }
}

/** Bundles of several files that this process has imported: Node keeps them, so another import needs other names. */
const IMPORTED = new Set<string>();

/** Returns the other files of a bundle: those of `a.mjs` are `a-1.mjs` or `a-1.cjs`, and so on. */
function listParts(bundle: string): readonly string[] {
  const parts: string[] = [];
  for (;;) {
    const path = join(dirname(bundle), `${getStem(bundle)}-${parts.length + 1}`);
    const file = [`${path}.mjs`, `${path}.cjs`].find((each) => existsSync(each));
    if (file === undefined) return parts;
    parts.push(file);
  }
}

function getStem(bundle: string): string {
  return basename(bundle, extname(bundle));
}

/** The files of a bundle import each other by their names, which begin with its stem. */
function copyPart(file: string, stem: string, number: number): string {
  const copy = join(dirname(file), basename(file).replace(stem, `${stem}.${process.pid}.${number}`));
  const text = readFileSync(file, "utf8").replaceAll(`"./${stem}`, `"./${stem}.${process.pid}.${number}`);
  writeFileSync(copy, text, { mode: 0o600 });
  return copy;
}

interface Instantiation {
  readonly object?: object;
  readonly failure?: Failure;
}

function make(value: unknown): Instantiation {
  try {
    if (!isFunction(value)) throw new TypeError("the export is not a class");
    const object: unknown = Reflect.construct(value, []);
    return typeof object === "object" && object !== null ? { object } : {};
  } catch (error) {
    return { failure: toFailure(error) };
  }
}

interface FoundTool {
  readonly path: ExportPath;
  readonly tool?: SkillTool;
  readonly failure?: Failure;
}

/** Returns the value if it is a tool, or the tools in an object or list that holds only tools. */
function toolsIn(path: ExportPath, value: unknown): readonly FoundTool[] {
  if (isDefinedSkill(value)) return [];
  try {
    const tool = asTool(value);
    if (tool !== undefined) return [{ path, tool }];
  } catch (error) {
    return [{ path, failure: toFailure(error) }];
  }
  if (typeof value !== "object" || value === null) return [];
  const names = Object.keys(value);
  const tools = names.flatMap((name) => {
    const tool = attempt(() => asTool(valueAt(value, [name])));
    return tool === undefined ? [] : [{ path: [...path, name], tool }];
  });
  return tools.length === names.length ? tools : [];
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    // A member that is not a tool: the whole value is ignored.
    return undefined;
  }
}

function described(path: ExportPath, { name, description, guidance, settings, methods }: DefinedSkill): LoadedSkill {
  return {
    path,
    name,
    description,
    methods,
    ...(guidance !== undefined && { guidance }),
    ...(settings !== undefined && { settings }),
  };
}

/** Reads `export const accounts = ["github"]`: the accounts that functions and classes of the module use. */
function readAccounts(root: unknown): Pick<Loaded, "accounts"> {
  const accounts = valueAt(root, ["accounts"]);
  return isTextList(accounts) ? { accounts: [...accounts] } : {};
}

interface ReadSettings {
  readonly settings?: JsonSchema;
  readonly failure?: Failure;
}

/** Reads `export const settings = …`: the schema of `skills.<name>` in the settings. */
function readSettings(root: unknown): ReadSettings {
  const settings = valueAt(root, ["settings"]);
  if (!isRecord(settings) && !isStandardSchema(settings)) return {};
  try {
    return { settings: readSchema(settings, "input", "settings").json };
  } catch (error) {
    return { failure: toFailure(error) };
  }
}
