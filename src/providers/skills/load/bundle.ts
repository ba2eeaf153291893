import { readFile } from "node:fs/promises";
import { builtinModules } from "node:module";
import { dirname, extname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import type * as Esbuild from "esbuild";
import type {
  BuildOptions,
  Message,
  OnLoadResult,
  OnResolveArgs,
  OnResolveResult,
  Plugin,
  PluginBuild,
  transform as Transform,
} from "esbuild";

import { createPackageRequire, findPackageFile } from "../../../../sandbox/package-files.ts";
import { isRecord } from "../../../model/json.ts";
import type { ModuleFormat } from "../type-reader/index.ts";
import { SourceError } from "../type-reader/syntax.ts";
import { isInside } from "./discover.ts";

export interface Bundle {
  readonly format: ModuleFormat;
  /** The module and the local files that it imports, as one JavaScript file. */
  readonly text: string;
  /** The files in it. */
  readonly files: readonly string[];
  /** The package files that it imports without bundling them. */
  readonly packages: readonly string[];
}

export interface BundleRequest {
  readonly entry: string;
  readonly format: ModuleFormat;
  /** The skills folder. */
  readonly root: string;
  /** A path in the folder of the bundle, so that source maps point to the source. */
  readonly outfile: string;
  /** Files of this package by import name; by default the one for skills. */
  readonly own?: Readonly<Record<string, string>>;
}

/**
 * Bundles a module and its local imports, TypeScript or JavaScript, into one file; ignores project settings. Packages
 * are not bundled. Throws a `SourceError` for a mistake in a file.
 */
export async function bundleModule(request: BundleRequest): Promise<Bundle> {
  const esbuild = loadEsbuild();
  const packages = new Set<string>();
  const plugins = [besideTheModule(request, packages), withOwnPlace(esbuild.transform)];
  try {
    const { outputFiles, metafile } = await esbuild.build({
      ...optionsFor(request),
      write: false,
      metafile: true,
      plugins,
    });
    // esbuild lists its own helpers too, as `<runtime>`.
    const files = Object.keys(metafile.inputs).filter((file) => !file.startsWith("<"));
    return {
      format: request.format,
      text: outputFiles[0]?.text ?? "",
      files: files.map((file) => resolve(request.root, file)),
      packages: [...packages],
    };
  } catch (error) {
    throw findMistake(error, request);
  }
}

/** Matches a file that may import or export through other modules; a match in a comment only costs time. */
const NEEDS_OTHERS = /\b(?:import|require|module|exports)\b|\bfrom\s*["']/;

/**
 * Compiles a file without imports in a fraction of the time; returns `undefined` for any other. The result is CommonJS,
 * which Node loads many times faster than an ES module and can release.
 */
export async function translateModule({ entry, format }: BundleRequest, text: string): Promise<Bundle | undefined> {
  if (NEEDS_OTHERS.test(text)) return undefined;
  const { transform } = loadEsbuild();
  try {
    const { code } = await transform(text, {
      loader: extname(entry).endsWith("ts") ? "ts" : "js",
      format: "cjs",
      platform: "node",
      target: "node20",
      sourcefile: entry,
      sourcemap: "inline",
      sourcesContent: false,
      legalComments: "none",
      tsconfigRaw: {},
      define: getFileConstants(entry),
      // ES modules are strict.
      ...(format === "esm" && { banner: '"use strict";' }),
      logLevel: "silent",
    });
    return { format: "cjs", text: code, files: [entry], packages: [] };
  } catch {
    // The file has a top-level await, or a mistake that bundling reports.
    return undefined;
  }
}

/** Removes the types of a file, for a parser that supports only JavaScript. */
export async function stripTypes(file: string, text: string): Promise<string> {
  const { transform } = loadEsbuild();
  return (await transform(text, { loader: "ts", sourcefile: file, tsconfigRaw: {}, logLevel: "silent" })).code;
}

function optionsFor({ entry, format, root, outfile }: BundleRequest): BuildOptions {
  const url = JSON.stringify(pathToFileURL(entry).href);
  return {
    entryPoints: [entry],
    absWorkingDir: root,
    outfile,
    bundle: true,
    format,
    platform: "node",
    target: "node20",
    conditions: [],
    tsconfigRaw: {},
    logLevel: "silent",
    legalComments: "none",
    sourcemap: "inline",
    sourcesContent: false,
    banner: { js: requireFrom(url, format) },
  };
}

/** Makes `require` resolve from the folder of the entry, in ES modules too: they may have CommonJS helpers. */
function requireFrom(url: string, format: ModuleFormat): string {
  if (format === "cjs") return `require = require("node:module").createRequire(${url});`;
  return `import { createRequire as __createRequire } from "node:module"; const require = __createRequire(${url});`;
}

/** Loads esbuild, which does not work as part of a bundle: its program is found beside its package. */
function loadEsbuild(): typeof Esbuild {
  return createPackageRequire()("esbuild") as typeof Esbuild;
}

/** The module behind `import "skillgate"` in a skill: only `defineSkill`, not the whole runtime. */
function findSkillModule(): string {
  const getUrl = (): URL => new URL("../../../authoring/define-skill.js", import.meta.url);
  return fileURLToPath(findPackageFile("src/authoring/define-skill.js", getUrl));
}

const BUILTINS: ReadonlySet<string> = new Set(builtinModules);

/** Bundles local files and leaves packages external. */
function besideTheModule(request: BundleRequest, packages: Set<string>): Plugin {
  return {
    name: "beside-the-module",
    setup(build) {
      build.onResolve({ filter: /.*/ }, (args) => {
        if (args.kind === "entry-point" || args.pluginData === ASKED) return undefined;
        if (args.path.startsWith("node:") || BUILTINS.has(args.path)) return { path: args.path, external: true };
        return /^[./#]/.test(args.path)
          ? resolveFile(build, args, request)
          : resolvePackage(build, args, request, packages);
      });
    },
  };
}

/** Marks the plugin's own requests to esbuild. */
const ASKED = Symbol("asked");

async function resolveFile(build: PluginBuild, args: OnResolveArgs, { root }: BundleRequest): Promise<OnResolveResult> {
  const { path, errors, external } = await ask(build, args);
  const isLink = isInside(root, resolve(args.resolveDir, args.path)) && !isInside(root, path);
  if (errors.length === 0 && isLink && !external) {
    return { errors: [{ text: `"${args.path}" is a symbolic link that leaves the skills folder` }] };
  }
  return { path, external, errors };
}

/**
 * Imports packages by file URL, because the bundle is not in the folder of the module. A missing package fails only when
 * it is imported, which may never happen: the module may use only its types.
 */
async function resolvePackage(
  build: PluginBuild,
  args: OnResolveArgs,
  { format, own = { skillgate: findSkillModule() } }: BundleRequest,
  packages: Set<string>,
): Promise<OnResolveResult> {
  const ours = Object.hasOwn(own, args.path) ? own[args.path] : undefined;
  const isRequired = args.kind.startsWith("require") || (format === "cjs" && args.kind === "import-statement");
  if (ours !== undefined) {
    packages.add(ours);
    return { path: isRequired ? ours : pathToFileURL(ours).href, external: true };
  }
  if (isRequired) return { path: args.path, external: true };
  const { path, errors } = await ask(build, args);
  if (errors.length > 0) return { path: args.path, external: true };
  // Node cannot import these files directly.
  if (/\.(?:[mc]?tsx?|json)$/.test(path)) return { path };
  packages.add(path);
  return { path: pathToFileURL(path).href, external: true };
}

function ask(
  build: PluginBuild,
  { path, importer, resolveDir, kind }: OnResolveArgs,
): ReturnType<PluginBuild["resolve"]> {
  return build.resolve(path, { importer, resolveDir, kind, pluginData: ASKED });
}

/** Keeps `import.meta.url` and `__dirname` of each bundled file. */
function withOwnPlace(transform: typeof Transform): Plugin {
  return {
    name: "with-own-place",
    setup(build) {
      build.onLoad({ filter: /\.[mc]?[jt]s$/ }, async ({ path }): Promise<OnLoadResult | undefined> => {
        const text = await readFile(path, "utf8");
        if (!/\bimport\.meta\b|\b__(?:dir|file)name\b/.test(text)) return undefined;
        const loader = extname(path).endsWith("ts") ? "ts" : "js";
        try {
          const define = getFileConstants(path);
          const { code } = await transform(text, {
            loader,
            sourcefile: path,
            sourcemap: "inline",
            tsconfigRaw: {},
            define,
          });
          return { contents: code, loader: "js", resolveDir: dirname(path) };
        } catch (error) {
          return { errors: [...getMessages(error)] };
        }
      });
    },
  };
}

function getFileConstants(path: string): Readonly<Record<string, string>> {
  const file = JSON.stringify(path);
  const folder = JSON.stringify(dirname(path));
  return {
    "import.meta.url": JSON.stringify(pathToFileURL(path).href),
    "import.meta.filename": file,
    "import.meta.dirname": folder,
    __filename: file,
    __dirname: folder,
  };
}

/** Returns the first of the mistakes that esbuild reports. */
function findMistake(error: unknown, { root, entry }: BundleRequest): unknown {
  const [message] = getMessages(error);
  if (message === undefined) return error;
  const { text, location } = message;
  if (location === null) return new SourceError(text, 1, 1, entry);
  return new SourceError(text, location.line, location.column + 1, resolve(root, location.file));
}

function getMessages(error: unknown): readonly Message[] {
  const errors: unknown = error instanceof Error ? Reflect.get(error, "errors") : undefined;
  return Array.isArray(errors) ? (errors as readonly Message[]).filter(isRecord) : [];
}
