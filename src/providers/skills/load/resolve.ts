import { builtinModules } from "node:module";
import { dirname, join, resolve } from "node:path";

import { isRecord } from "../../../model/json.ts";
import type { ModuleFiles } from "../source-files.ts";
import { resolveFile } from "../type-reader/files.ts";

/** The target of an import. */
export type ImportTarget =
  | { readonly kind: "builtin" }
  /** A file that is compiled together with its importer. */
  | { readonly kind: "local"; readonly file: string }
  /** A file of a package, which Node imports from its place. */
  | { readonly kind: "package"; readonly file: string }
  | { readonly kind: "missing" };

const BUILTINS: ReadonlySet<string> = new Set(builtinModules);

/** Files that a skill may import, in the order in which a missing extension is completed. */
const EXTENSIONS = [".ts", ".js", ".mjs", ".cjs", ".mts", ".cts", ".json"];

/** The conditions of `exports` in package.json that hold for an import. */
const CONDITIONS: ReadonlySet<string> = new Set(["node", "import", "module-sync", "default"]);

/** Resolves an import as Node does; for local files also as TypeScript does. */
export function resolveImport(specifier: string, importer: string, sources: ModuleFiles): ImportTarget {
  if (specifier.startsWith("node:") || BUILTINS.has(specifier)) return { kind: "builtin" };
  if (/^\.{0,2}\//.test(specifier) || /^\.\.?$/.test(specifier)) {
    return toTarget("local", resolveFile(resolve(dirname(importer), specifier), EXTENSIONS));
  }
  const file = specifier.startsWith("#")
    ? resolveOwnName(specifier, importer, sources)
    : resolvePackage(specifier, importer, sources);
  // Node cannot import these files directly.
  const isLocal = specifier.startsWith("#") || /\.(?:[mc]?ts|json)$/.test(file ?? "");
  return toTarget(isLocal ? "local" : "package", file);
}

function toTarget(kind: "local" | "package", file: string | undefined): ImportTarget {
  return file === undefined ? { kind: "missing" } : { kind, file };
}

interface Manifest {
  readonly folder: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

function readManifest(folder: string, sources: ModuleFiles): Manifest | undefined {
  try {
    const fields: unknown = JSON.parse(sources.read(join(folder, "package.json")));
    return isRecord(fields) ? { folder, fields } : undefined;
  } catch {
    return undefined; // the folder is not that of a package
  }
}

function* listParents(file: string): Generator<string> {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    yield folder;
    if (folder === dirname(folder)) return;
  }
}

/** Resolves `#name` by `imports` of the package that the importer belongs to. */
function resolveOwnName(specifier: string, importer: string, sources: ModuleFiles): string | undefined {
  for (const folder of listParents(importer)) {
    const manifest = readManifest(folder, sources);
    if (manifest === undefined) continue;
    const target = matchSubpath(manifest.fields["imports"], specifier);
    if (target === undefined) return undefined;
    return target.startsWith("./")
      ? resolveFile(join(folder, target), EXTENSIONS)
      : resolvePackage(target, importer, sources);
  }
  return undefined;
}

function resolvePackage(specifier: string, importer: string, sources: ModuleFiles): string | undefined {
  const [, name = "", rest = ""] = /^((?:@[^/]+\/)?[^/]+)(.*)$/.exec(specifier) ?? [];
  for (const folder of listParents(importer)) {
    const own = readManifest(folder, sources);
    const isOwn = own?.fields["name"] === name && own.fields["exports"] !== undefined;
    const manifest = isOwn ? own : readManifest(join(folder, "node_modules", name), sources);
    if (manifest !== undefined) return resolveInPackage(manifest, `.${rest}`);
  }
  return undefined;
}

function resolveInPackage({ folder, fields }: Manifest, subpath: string): string | undefined {
  const { exports: exported, main } = fields;
  if (exported === undefined) {
    const entry = typeof main === "string" ? main : "index.js";
    const path = join(folder, subpath === "." ? entry : subpath);
    return resolveFile(path, [".js", ".cjs", ".mjs", ".json", ".node", ".ts"]) ?? resolveFile(folder, [".js"]);
  }
  const isMap = isRecord(exported) && Object.keys(exported).every((key) => key.startsWith("."));
  const target = matchSubpath(isMap ? exported : { ".": exported }, subpath);
  return target === undefined ? undefined : resolve(folder, target);
}

/** Finds the target of a subpath, exactly or by the longest pattern with `*`. */
function matchSubpath(map: unknown, subpath: string): string | undefined {
  if (!isRecord(map)) return undefined;
  if (Object.hasOwn(map, subpath)) return chooseTarget(map[subpath], "");
  const patterns = Object.keys(map).filter((key) => key.includes("*"));
  for (const pattern of patterns.sort((a, b) => b.indexOf("*") - a.indexOf("*"))) {
    const [before = "", after = ""] = pattern.split("*");
    const isMatch = subpath.startsWith(before) && subpath.endsWith(after);
    if (isMatch && subpath.length >= pattern.length) {
      return chooseTarget(map[pattern], subpath.slice(before.length, subpath.length - after.length));
    }
  }
  return undefined;
}

function chooseTarget(target: unknown, star: string): string | undefined {
  if (typeof target === "string") return target.replaceAll("*", star);
  if (Array.isArray(target)) return target.map((each) => chooseTarget(each, star)).find((each) => each !== undefined);
  if (!isRecord(target)) return undefined;
  for (const [condition, value] of Object.entries(target)) {
    const chosen = CONDITIONS.has(condition) ? chooseTarget(value, star) : undefined;
    if (chosen !== undefined) return chosen;
  }
  return undefined;
}
