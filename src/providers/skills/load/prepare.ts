import { readFile } from "node:fs/promises";

import { readModule, type ReadModule } from "../type-reader/index.ts";
import { parseSource, SourceError } from "../type-reader/syntax.ts";
import { bundleModule, stripTypes, translateModule } from "./bundle.ts";
import type { Cache, Prepared } from "./cache.ts";
import type { SkillModule } from "./discover.ts";

/** Reads a module's types and compiles it, or finds both in the cache. Does not run it. */
export async function prepare(module: SkillModule, root: string, cache: Cache): Promise<Prepared> {
  const cached = cache.find(module.entry);
  if (cached !== undefined) return cached;
  const since = Date.now();
  const text = await readFile(module.entry, "utf8");
  if (text.length > MAX_CHARACTERS) throw tooLong(text);
  const { definitions, warnings } = await read(module, text);
  const outfile = `${cache.dir}/bundle.mjs`;
  const request = { entry: module.entry, format: definitions.format, root, outfile };
  const bundle = (await translateModule(request, text)) ?? (await bundleModule(request));
  return cache.store(module.entry, {
    definitions,
    warnings,
    text: bundle.text,
    format: bundle.format,
    files: [...new Set([module.entry, ...bundle.files, ...definitions.files])],
    packages: bundle.packages,
    since,
  });
}

/** Size limit of a source file: reading a larger one would block the runtime for too long. */
const MAX_CHARACTERS = 2 << 20;

function tooLong(text: string): Error {
  const megabytes = (text.length / (1 << 20)).toFixed(1);
  return new Error(`its source has ${megabytes} MB, and the limit is 2 MB; move data to another file`);
}

interface ReadSource {
  readonly definitions: ReadModule;
  readonly warnings: readonly string[];
}

async function read({ entry, stem }: SkillModule, text: string): Promise<ReadSource> {
  try {
    return { definitions: readModule(parseSource(entry, text), stem), warnings: [] };
  } catch (error) {
    if (!(error instanceof SourceError) || !entry.endsWith(".ts")) throw error;
    return withoutTypes(entry, stem, text, error);
  }
}

/** Reads a module without its types: the parser for types supports less TypeScript than esbuild. */
async function withoutTypes(entry: string, stem: string, text: string, mistake: SourceError): Promise<ReadSource> {
  const stripped = await stripTypes(entry, text).catch(() => undefined);
  if (stripped === undefined) throw mistake;
  const source = parseSource(entry.replace(/ts$/, "js"), stripped);
  const { functions, classes, ...definitions } = readModule({ ...source, file: entry }, stem);
  const quiet = <Method extends { readonly warnings: readonly string[] }>(method: Method): Method => ({
    ...method,
    warnings: [],
  });
  return {
    definitions: {
      ...definitions,
      functions: functions.map(quiet),
      classes: classes.map((each) => ({ ...each, methods: each.methods.map(quiet) })),
    },
    warnings: [
      `Cannot read the types of this file: line ${mistake.line}, column ${mistake.column}: ${mistake.message.replace(/\.$/, "")}; every parameter accepts any value until that code is simplified`,
    ],
  };
}
