import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

import { type DefinedSkill, isDefinedSkill } from "../../../../authoring/define-skill.ts";
import { isRecord, type JsonSchema } from "../../../../model/json.ts";
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
    },
  };
}

let imports = 0;

/** Imports a bundle without Node's module caches. */
async function importBundle({ bundle, format }: LoadRequest): Promise<unknown> {
  if (format === "esm") return import(`${pathToFileURL(bundle).href}?${++imports}`);
  const require = createRequire(import.meta.url);
  Reflect.deleteProperty(require.cache, bundle);
  return require(bundle) as unknown;
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
