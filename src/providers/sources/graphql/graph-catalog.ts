import type { JsonSchema } from "../../../model/json.ts";
import {
  collectNames,
  openCatalogFile,
  OUTPUT_LEVELS,
  type OperationRow,
  type SourceCatalog,
} from "../catalog-file.ts";
import type { ExampleQuery } from "./compile/example-query.ts";

/** The format of the catalogs of GraphQL APIs. */
export const GRAPHQL_FORMAT = "skillgate-graphql-2";

/** A field of the type of queries, or of mutations. */
export interface GraphField {
  readonly description: string;
  /** As SDL has it: `issues(first: Int): IssueConnection!`. */
  readonly signature: string;
  /** The reason of its deprecation. */
  readonly deprecated?: string;
  /** The schema of its arguments, with the types that they refer to. */
  readonly input: JsonSchema;
  /** The types of its arguments and of its result, without lists. */
  readonly inputTypes: readonly string[];
  readonly outputType: string;
  readonly example: ExampleQuery;
}

/** A named type of a GraphQL API. */
export interface StoredType {
  /** Its definition, with short texts as comments. */
  readonly text: string;
  /** The signatures of its fields, or its values or members, by name. */
  readonly parts: Readonly<Record<string, string>>;
  /** The schema of a type that arguments can have. */
  readonly schema?: JsonSchema;
}

/** The catalog of a GraphQL API: a row is a root field, with the verb `query` or `mutation` and the name `query:issues`. */
export interface GraphCatalog extends SourceCatalog {
  read(row: OperationRow): GraphField;
  /** Returns the whole schema as SDL, without texts. */
  readSchema(): string;
  /** Returns the definition of a type as SDL; the case of letters does not count. */
  findTypeText(name: string): string | undefined;
}

/** Opens the catalog of a GraphQL API. Throws for one that is missing, cut or of another format. */
export function openGraphCatalog(file: string): GraphCatalog {
  const catalog = openCatalogFile(file, GRAPHQL_FORMAT);
  const { definitions, schema } = catalog.index;
  const readField = (row: OperationRow): GraphField => JSON.parse(catalog.readPart(row.at)) as GraphField;
  const readType = (name: string): StoredType | undefined => {
    const location = Object.hasOwn(definitions, name) ? definitions[name] : undefined;
    return location && (JSON.parse(catalog.readPart([location[0], location[1]])) as StoredType);
  };
  const listTypes = (names: readonly string[], levels: number): readonly (readonly [string, StoredType])[] =>
    [...collectNames(names, definitions, levels)].flatMap(([name, isWhole]) => {
      const type = isWhole ? readType(name) : undefined;
      return type === undefined ? [] : [[name, type] as const];
    });
  return {
    ...catalog,
    read(row) {
      const { input, ...field } = readField(row);
      let withTypes: JsonSchema | undefined;
      return {
        ...field,
        // The index of a search reads the examples alone.
        get input() {
          return (withTypes ??= addTypes(input, listTypes(field.inputTypes, Infinity)));
        },
      };
    },
    readDefinition(row) {
      const { description, signature, deprecated, inputTypes, outputType } = readField(row);
      const types = [...listTypes(inputTypes, Infinity), ...listTypes([outputType], OUTPUT_LEVELS)];
      return {
        signature,
        description,
        ...(deprecated !== undefined && { deprecated }),
        ...Object.fromEntries(types.map(([name, { parts }]) => [name, parts])),
        // Texts of types count as well, after what programs depend on.
        texts: Object.fromEntries(types.map(([name, { text }]) => [name, text])),
      };
    },
    readSchema: () => (schema === undefined ? "" : catalog.readPart(schema)),
    findTypeText(name) {
      const lower = name.toLowerCase();
      const found = Object.hasOwn(definitions, name)
        ? name
        : Object.keys(definitions).find((each) => each.toLowerCase() === lower);
      return found === undefined ? undefined : readType(found)?.text;
    },
  };
}

/** Adds the schemas of the types that the schema of arguments refers to. */
function addTypes(input: JsonSchema, types: readonly (readonly [string, StoredType])[]): JsonSchema {
  const schemas = types.flatMap(([name, { schema }]) => (schema === undefined ? [] : [[name, schema] as const]));
  return schemas.length === 0 ? input : { ...input, $defs: Object.fromEntries(schemas) };
}
