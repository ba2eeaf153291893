import type { JsonSchema } from "../../../model/json.ts";
import { OMITTED_TYPE } from "../../../model/skill.ts";
import {
  type CatalogFile,
  collectNames,
  openCatalogFile,
  OUTPUT_LEVELS,
  type OperationRow,
  type SourceCatalog,
} from "../catalog-file.ts";
import { toPlainName } from "../pages/cursor-members.ts";
import type { DescribedOperation } from "./operation.ts";
import { findReferences, REFERENCE_PREFIX } from "../schema-references.ts";

/** The format of the catalogs of OpenAPI documents. */
export const OPENAPI_FORMAT = "skillgate-openapi-9";

/** The catalog of an OpenAPI document. */
export interface OpenCatalog extends SourceCatalog {
  read(row: OperationRow): DescribedOperation;
  /** Returns a named schema; the case of letters and characters that are not in all languages do not count. */
  readonly findType: (name: string) => JsonSchema | undefined;
}

/** Opens the catalog of an OpenAPI document. Throws for one that is missing, cut or of another format. */
export function openCatalog(file: string): OpenCatalog {
  const catalog = openCatalogFile(file, OPENAPI_FORMAT);
  const { index } = catalog;
  const read = (row: OperationRow): DescribedOperation => {
    const { input, output, ...operation } = JSON.parse(catalog.readPart(row.at)) as DescribedOperation;
    return {
      ...operation,
      input: collectDefinitions(catalog, input, Infinity),
      ...(output !== undefined && { output: collectDefinitions(catalog, output, OUTPUT_LEVELS) }),
    };
  };
  return {
    ...catalog,
    read,
    readDefinition(row) {
      const { summary, tags, isDeprecated, servers } = row;
      return { summary, tags, isDeprecated, servers, ...read(row) };
    },
    findType(name) {
      const found = Object.keys(index.definitions).find((each) => toPlainName(each) === toPlainName(name));
      return found === undefined
        ? undefined
        : collectDefinitions(catalog, { $ref: `${REFERENCE_PREFIX}${found}` }, OUTPUT_LEVELS);
    },
  };
}

/** Adds the definitions to a schema that it refers to, within the levels. */
function collectDefinitions(catalog: CatalogFile, schema: JsonSchema, levels: number): JsonSchema {
  const closure = collectNames(findReferences(schema), catalog.index.definitions, levels);
  const definitions = [...closure].map(([name, isWhole]) => {
    const location = catalog.index.definitions[name];
    const isStored = location !== undefined && isWhole;
    return [
      name,
      isStored
        ? (JSON.parse(catalog.readPart([location[0], location[1]])) as unknown)
        : { title: name, [OMITTED_TYPE]: true },
    ];
  });
  return definitions.length === 0 ? schema : { ...schema, $defs: Object.fromEntries(definitions) };
}
