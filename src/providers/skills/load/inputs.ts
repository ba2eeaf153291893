import { readFileSync } from "node:fs";

import { discover } from "./discover.ts";
import { readGraph } from "./graph.ts";

/**
 * Lists the files that the modules of a folder import, without running any: local files wherever they are, and the files of
 * packages that they name. A module that cannot be read has no files: it does not run either.
 */
export async function listImportedFiles(dir: string): Promise<readonly string[]> {
  const { root, modules } = await discover(dir);
  if (root === undefined) return [];
  const files = modules.flatMap(({ entry }) => listFiles(entry, root));
  return [...new Set(files)];
}

function listFiles(entry: string, root: string): readonly string[] {
  try {
    if (!importsFiles(readFileSync(entry, "utf8"))) return [entry];
    const { parts, packages } = readGraph({ entry, root, own: {} });
    return [...parts.map(({ module }) => module.file), ...packages];
  } catch {
    return [];
  }
}

/** False only if each import of a text certainly names `skillgate` or a module of Node: then nothing has to be parsed. */
function importsFiles(text: string): boolean {
  const imports = text.match(/\b(?:import|require|from)\b/g) ?? [];
  const harmless = text.match(/\bimport\s[^"'`;()]*\bfrom\s*(["'])(?:skillgate|node:[\w/]+)\1/g) ?? [];
  return imports.length !== 2 * harmless.length;
}
