import { realpathSync } from "node:fs";
import { dirname, extname, resolve } from "node:path";

import { isRegularFile } from "../../../shared/files/regular-file.ts";
import type { ModuleFiles } from "../source-files.ts";
import { type FileNames, type ImportedName, namesIn, type TypeDeclaration } from "./file-names.ts";
import { parseSource, type Source, type SyntaxNode } from "./syntax.ts";

/** The result of a name lookup. */
export type FoundName =
  | { readonly kind: "type"; readonly declaration: TypeDeclaration }
  | { readonly kind: "value"; readonly node: SyntaxNode; readonly names: FileNames }
  | { readonly kind: "package"; readonly from: string }
  | { readonly kind: "missing" };

const MAX_HOPS = 20;

/** A module with 300 methods takes some ten thousand steps; types that unfold without end take more than this. */
const MAX_STEPS = 200_000;

/** Reads the names of files, each file once. Runs no code. */
export class FileReader {
  /** Every file that was read. */
  readonly read = new Set<string>();
  readonly #names = new Map<string, FileNames | undefined>();
  readonly #sources: ModuleFiles;
  #steps = 0;

  constructor(sources: ModuleFiles) {
    this.#sources = sources;
  }

  /** Counts one step of reading; returns false once the limit is reached. */
  step(): boolean {
    return ++this.#steps < MAX_STEPS;
  }

  open(source: Source): FileNames {
    const names = namesIn(source);
    this.read.add(source.file);
    this.#names.set(source.file, names);
    return names;
  }

  /** Returns the imported file; `undefined` for a package, or a file that is missing or cannot be parsed. */
  resolve(from: string, specifier: string): FileNames | undefined {
    if (!specifier.startsWith(".")) return undefined;
    const file = resolveFile(resolve(dirname(from), specifier));
    if (file === undefined) return undefined;
    if (!this.#names.has(file)) {
      this.read.add(file);
      this.#names.set(file, parsed(file, this.#sources));
    }
    return this.#names.get(file);
  }

  /** Resolves a name of a file through its imports. Types take precedence over values. */
  find(names: FileNames, name: string, hops = MAX_HOPS): FoundName {
    const declaration = names.types.get(name);
    if (declaration !== undefined) return { kind: "type", declaration };
    const node = names.values.get(name);
    if (node !== undefined) return { kind: "value", node, names };
    const imported = names.imports.get(name);
    return imported === undefined ? { kind: "missing" } : this.#follow(names, imported, hops);
  }

  /** Resolves an exported name of a file. */
  findExported(names: FileNames, name: string, hops = MAX_HOPS): FoundName {
    const exported = names.exports.get(name);
    if (typeof exported === "string") return this.find(names, exported, hops);
    if (exported !== undefined) return this.#follow(names, exported, hops);
    for (const from of hops > 0 ? names.stars : []) {
      const found = this.#follow(names, { from, name }, hops);
      if (found.kind !== "missing") return found;
    }
    return { kind: "missing" };
  }

  #follow(names: FileNames, { from, name }: ImportedName, hops: number): FoundName {
    if (!from.startsWith(".")) return { kind: "package", from };
    const target = this.resolve(names.source.file, from);
    return target === undefined || hops === 0 ? { kind: "missing" } : this.findExported(target, name, hops - 1);
  }
}

function parsed(file: string, sources: ModuleFiles): FileNames | undefined {
  try {
    return namesIn(parseSource(file, sources.read(file)));
  } catch {
    // The loader reports the mistake; here the types of the file are unknown.
    return undefined;
  }
}

const EXTENSIONS = [".ts", ".js", ".mjs", ".cjs", ".mts", ".cts", ".d.ts"];

/**
 * Resolves a path like Node and TypeScript: the file itself, `.js` written for `.ts`, no extension, or a folder with an
 * index.
 */
export function resolveFile(path: string, extensions: readonly string[] = EXTENSIONS): string | undefined {
  const extension = extname(path);
  const bare = path.slice(0, path.length - extension.length);
  const candidates = [
    path,
    ...(/^\.[mc]?js$/.test(extension) ? [bare + extension.replace("js", "ts"), `${bare}.d.ts`] : []),
    ...extensions.map((each) => path + each),
    ...extensions.map((each) => resolve(path, `index${each}`)),
  ];
  const file = candidates.find((each) => extensions.some((end) => each.endsWith(end)) && isRegularFile(each));
  return file === undefined ? undefined : realpathSync(file);
}
