import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { onTestFinished } from "vitest";

import { compileSchema } from "../../../../src/providers/sources/graphql/compile/index.ts";
import { type GraphCatalog, openGraphCatalog } from "../../../../src/providers/sources/graphql/graph-catalog.ts";

export interface CompiledSchema {
  readonly catalog: GraphCatalog;
  readonly digest: string;
}

/** Compiles a schema of a file, SDL or JSON, and opens its catalog until the test is over. */
export async function compileText(text: string): Promise<CompiledSchema> {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-schema-"));
  const file = join(folder, "schema");
  const target = join(folder, "catalog");
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(file, text);
  const { digest } = await compileSchema({
    kind: "graphql",
    document: pathToFileURL(file).href,
    endpoint: "https://api.example.com/graphql",
    isPrivate: false,
    target,
  });
  const catalog = openGraphCatalog(target);
  onTestFinished(() => catalog.close());
  return { catalog, digest };
}
