import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, extname, resolve } from "node:path";

import { type FileNames, type ImportedName, namesIn, type TypeDeclaration } from "./file-names.ts";
import { parseSource, type Source, type SyntaxNode } from "./syntax.ts";

/** Where a name leads: to a declaration, to a package, or nowhere. */
export type FoundName =
  | { readonly kind: "type"; readonly declaration: TypeDeclaration }
  | { readonly kind: "value"; readonly node: SyntaxNode; readonly names: FileNames }
  | { readonly kind: "package"; readonly from: string }
  | { readonly kind: "missing" };

const MAX_HOPS = 20;

/** A module with 300 methods takes some ten thousand steps; types that unfold without end take more than this. */
const MAX_STEPS = 200_000;

/** Reads files for the names in them, each once. Nothing is run. */
export class FileReader {
  /** Every file that was looked at. */
  readonly read = new Set<string>();
  readonly #names = new Map<string, FileNames | undefined>();
  #steps = 0;

  /** Counts one step of reading; false once a module has taken more than any honest one needs. */
  step(): boolean {
    return ++this.#steps < MAX_STEPS;
  }

  open(source: Source): FileNames {
    const names = namesIn(source);
    this.read.add(source.file);
    this.#names.set(source.file, names);
    return names;
  }

  /** The file that an import means; `undefined` for a package, and for what is not there or cannot be parsed. */
  resolve(from: string, specifier: string): FileNames | undefined {
    if (!specifier.startsWith(".")) return undefined;
    const file = resolveFile(resolve(dirname(from), specifier));
    if (file === undefined) return undefined;
    if (!this.#names.has(file)) {
      this.read.add(file);
      this.#names.set(file, parsed(file));
    }
    return this.#names.get(file);
  }

  /** What a name means in a file, through as many imports as it takes. Types win over values. */
  find(names: FileNames, name: string, hops = MAX_HOPS): FoundName {
    const declaration = names.types.get(name);
    if (declaration !== undefined) return { kind: "type", declaration };
    const node = names.values.get(name);
    if (node !== undefined) return { kind: "value", node, names };
    const imported = names.imports.get(name);
    return imported === undefined ? { kind: "missing" } : this.#follow(names, imported, hops);
  }

  /** What a file exports under a name. */
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

function parsed(file: string): FileNames | undefined {
  try {
    return namesIn(parseSource(file, readFileSync(file, "utf8")));
  } catch {
    // Whoever loads the file says what is wrong with it; here its types are merely unknown.
    return undefined;
  }
}

const EXTENSIONS = [".ts", ".js", ".mjs", ".cjs", ".mts", ".cts", ".d.ts"];

/** As Node and TypeScript look: the file itself, `.js` written for `.ts`, no extension, or a folder with an index. */
function resolveFile(path: string): string | undefined {
  const extension = extname(path);
  const bare = path.slice(0, path.length - extension.length);
  const candidates = [
    path,
    ...(/^\.[mc]?js$/.test(extension) ? [bare + extension.replace("js", "ts"), `${bare}.d.ts`] : []),
    ...EXTENSIONS.map((each) => path + each),
    ...EXTENSIONS.map((each) => resolve(path, `index${each}`)),
  ];
  const file = candidates.find((each) => /\.[mc]?[jt]s$/.test(each) && isFile(each));
  return file === undefined ? undefined : realpathSync(file);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
