import { createHash } from "node:crypto";

import type { ModuleFormat } from "../type-reader/index.ts";
import { toCommonJs } from "./common-js.ts";
import { type CompileRequest, readGraph } from "./graph.ts";
import { addPlace, linkPart, toName } from "./link.ts";

/** A module and the local files that it imports, as JavaScript files that import each other. */
export interface CompiledModule {
  readonly format: ModuleFormat;
  /** The files, the entry first. Their names begin with `stem`, and they import each other by these names. */
  readonly createFiles: (stem: string) => readonly CompiledFile[];
  /** Identifies the content of the files. */
  readonly digest: string;
  /** The source files. */
  readonly files: readonly string[];
  /** The package files that it imports from their places. */
  readonly packages: readonly string[];
}

export interface CompiledFile {
  readonly name: string;
  readonly text: string;
}

/**
 * Compiles a module and its local imports, TypeScript or JavaScript, each into a file of its own; ignores project settings.
 * Packages are imported from their places. Throws a `SourceError` for a mistake in a file.
 */
export function compileModule(request: CompileRequest): CompiledModule {
  const graph = readGraph(request);
  const [entry] = graph.parts;
  const single = graph.parts.length === 1 && entry !== undefined ? toCommonJs(entry.module, entry.facts) : undefined;
  const createFiles = (stem: string): readonly CompiledFile[] =>
    single !== undefined && entry !== undefined
      ? [{ name: `${stem}.cjs`, text: addPlace(entry, single, "cjs") }]
      : graph.parts.map((part) => ({ name: toName(part, stem), text: linkPart(part, graph, stem) }));
  const content = createFiles("part").map(({ text }) => text);
  return {
    format: single === undefined ? (entry?.module.format ?? "esm") : "cjs",
    createFiles,
    digest: createHash("sha256").update(content.join("\0")).digest("hex").slice(0, 32),
    files: graph.parts.map(({ module }) => module.file),
    packages: [...graph.packages],
  };
}
