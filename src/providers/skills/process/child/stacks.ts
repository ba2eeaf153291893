import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** A place in a bundle, as a line of a stack names it; `?7` tells versions of one module apart. */
const PLACE = /((?:file:\/\/)?\/[^\s()]+\.[cm]js)(?:\?\d+)?:(\d+):(\d+)/;

/**
 * Makes stacks name the files that an author wrote, not the bundles made of them. Node can do that too, but would read
 * the source map of every module that is imported; here one is read when something is thrown in it.
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

/** As V8 would begin the stack. */
function formatErrorHead(error: Error): string {
  try {
    return String(error);
  } catch {
    // An error whose name or message cannot be read.
    return "Error";
  }
}

function inSource(line: string, getSourceMap: (file: string) => SourceMap | undefined): string {
  return line.replace(PLACE, (place, url: string, row: string, column: string) => {
    const file = url.startsWith("file:") ? fileURLToPath(url) : url;
    const entry = getSourceMap(file)?.findEntry(Number(row) - 1, Number(column) - 1);
    if (entry === undefined || !("originalSource" in entry)) return place;
    const { originalSource, originalLine, originalColumn } = entry;
    return `${resolve(dirname(file), originalSource)}:${originalLine + 1}:${originalColumn + 1}`;
  });
}

const MAP = "\n//# sourceMappingURL=data:application/json;base64,";

/** The source map at the end of a bundle; none in any other file. */
function mapIn(file: string): SourceMap | undefined {
  try {
    const text = readFileSync(file, "utf8");
    const at = text.lastIndexOf(MAP);
    if (at < 0) return undefined;
    const json = Buffer.from(text.slice(at + MAP.length), "base64").toString();
    return new SourceMap(JSON.parse(json) as ConstructorParameters<typeof SourceMap>[0]);
  } catch {
    // No map is no reason for an error about an error.
    return undefined;
  }
}
