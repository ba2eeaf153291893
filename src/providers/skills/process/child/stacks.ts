import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The address of a file in a stack line: of the source of a bundle, or of another file. */
const FILE_URL = /file:\/\/\/[^\s()]+?(?=(?:\?\d+)?:\d+:\d+)/;

/** A position in a bundle that was compiled, as a stack line shows it; `?7` distinguishes versions of one module. */
const PLACE = /(\/[^()]+\.[cm]js)(?:\?\d+)?:(\d+):(\d+)/;

/**
 * Makes stack traces show source files instead of bundles. Node can do this too, but reads the source map of every
 * imported module; here a map is read only when an error is thrown in its module.
 */
export function showSourcesInStacks(): void {
  const maps = new Map<string, SourceMap | undefined>();
  const getSourceMap = (file: string): SourceMap | undefined => {
    if (!maps.has(file)) maps.set(file, mapIn(file));
    return maps.get(file);
  };
  Error.prepareStackTrace = (error, sites: readonly Site[]) =>
    [formatErrorHead(error), ...sites.map((site) => `    at ${inSource(site.toString(), getSourceMap)}`)].join("\n");
}

/** Its text is what V8 would write: `WeatherSkill.now (file:///…/bundle.mjs?1:12:5)`. */
type Site = NodeJS.CallSite & { toString(): string };

/** Returns the first line of a stack, as V8 writes it. */
function formatErrorHead(error: Error): string {
  try {
    return String(error);
  } catch {
    // An error whose name or message cannot be read.
    return "Error";
  }
}

function inSource(line: string, getSourceMap: (file: string) => SourceMap | undefined): string {
  const readable = line.replace(FILE_URL, (url) => fileURLToPath(url));
  return readable.replace(PLACE, (frame, file: string, row: string, column: string) => {
    const entry = getSourceMap(file)?.findEntry(Number(row) - 1, Number(column) - 1);
    if (entry === undefined || !("originalSource" in entry)) return frame;
    const { originalSource, originalLine, originalColumn } = entry;
    return `${resolve(dirname(file), originalSource)}:${originalLine + 1}:${originalColumn + 1}`;
  });
}

const MAP = "\n//# sourceMappingURL=data:application/json;base64,";

/** Returns the source map at the end of a bundle; `undefined` for any other file. */
function mapIn(file: string): SourceMap | undefined {
  try {
    const text = readFileSync(file, "utf8");
    const at = text.lastIndexOf(MAP);
    if (at < 0) return undefined;
    const json = Buffer.from(text.slice(at + MAP.length), "base64").toString();
    return new SourceMap(JSON.parse(json) as ConstructorParameters<typeof SourceMap>[0]);
  } catch {
    // A missing map must not replace the original error.
    return undefined;
  }
}
