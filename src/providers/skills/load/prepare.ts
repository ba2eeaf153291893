import { readModule, type ReadModule } from "../type-reader/index.ts";
import { parseSource, type Source, SourceError } from "../type-reader/syntax.ts";
import { ModuleFiles } from "../source-files.ts";
import { compileModule } from "./compile.ts";
import { readModuleText } from "./module-text.ts";
import type { Cache, Prepared } from "./cache.ts";
import type { SkillModule } from "./discover.ts";

/** Reads a module's types and compiles it, or finds both in the cache. Does not run it. */
export function prepare(module: SkillModule, { root, cache, sources = new ModuleFiles() }: PrepareOptions): Prepared {
  const cached = cache.find(module.entry);
  if (cached !== undefined) return cached;
  const since = Date.now();
  const text = sources.read(module.entry);
  if (text.length > MAX_CHARACTERS) throw tooLong(text);
  const { definitions, warnings, source } = read(module, text, sources);
  const compiled = compileModule({ entry: module.entry, source, root, sources });
  return cache.store(module.entry, {
    definitions,
    warnings,
    compiled,
    files: [...new Set([...compiled.files, ...definitions.files])],
    digests: sources.digests,
    since,
  });
}

interface PrepareOptions {
  readonly root: string;
  readonly cache: Cache;
  /** Reads the files, and remembers their digests also if a file has a mistake. */
  readonly sources?: ModuleFiles;
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
  /** The parsed file; `undefined` for one that the parser does not support. */
  readonly source?: Source;
}

function read({ entry, stem }: SkillModule, text: string, sources: ModuleFiles): ReadSource {
  try {
    const source = parseSource(entry, text);
    return { definitions: readModule(source, stem, sources), warnings: [], source };
  } catch (error) {
    if (!(error instanceof SourceError) || !entry.endsWith(".ts")) throw error;
    return withoutTypes({ entry, stem }, error, sources);
  }
}

/** Reads a module without its types: the parser for types supports less TypeScript than the compiler. */
function withoutTypes(
  { entry, stem }: Pick<SkillModule, "entry" | "stem">,
  mistake: SourceError,
  sources: ModuleFiles,
): ReadSource {
  const { functions, classes, ...definitions } = readModule(
    { ...readModuleText(entry, sources), docs: [] },
    stem,
    sources,
  );
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
