import { toRecord } from "../../../model/json.ts";
import { CatalogWriter } from "../catalog-writer.ts";
import { OPENAPI_FORMAT } from "../openapi/open-catalog.ts";
import { findReferences } from "../schema-references.ts";
import { compileDocument } from "./compile-document.ts";
import type { DocumentFiles } from "./document-files.ts";

interface CatalogOptions {
  /** The names that operations had before, by `getOperationKey`. */
  readonly names: ReadonlyMap<string, string>;
  /** Problems of reading the document. */
  readonly problems: readonly string[];
}

/** Compiles an OpenAPI document, and returns its catalog. Throws a `DocumentError`. */
export function createApiCatalog(files: DocumentFiles, { names, problems }: CatalogOptions): Buffer {
  const writer = new CatalogWriter(OPENAPI_FORMAT);
  const { definitions, ...document } = compileDocument(files, {
    names,
    take({ name, summary, tags, isDeprecated, servers, scopes, security, ...operation }) {
      const { verb, path, input, output } = operation;
      const argumentNames = Object.keys(toRecord(input["properties"]));
      const needs = { ...(scopes && { scopes }), ...(security && { security }) };
      return writer.add(
        { name, verb, path, summary, tags, isDeprecated, servers, ...needs, argumentNames },
        { content: operation, inputTypes: findReferences(input), outputTypes: findReferences(output) },
      );
    },
  });
  return writer.finish(
    { ...document, problems: [...problems, ...document.problems] },
    new Map([...definitions].map(([name, content]) => [name, { content, references: findReferences(content) }])),
  );
}
