import { toVisibleLine } from "../../../../shared/visible-text.ts";
import { truncateText } from "../../../../shared/format-text.ts";
import type { CatalogDefinition } from "../../catalog-writer.ts";
import { CatalogWriter } from "../../catalog-writer.ts";
import { DocumentError } from "../../documents/document-error.ts";
import type { ProblemList } from "../../documents/problem-list.ts";
import { toSummary } from "../../documents/summary.ts";
import { GRAPHQL_FORMAT, type GraphField, type StoredType } from "../graph-catalog.ts";
import type { CheckedSchema } from "./check-schema.ts";
import { createExample } from "./example-query.ts";
import { toDefinitionSchema, toInputSchema } from "./input-schema.ts";
import { printDefinition, printSchema, printSignature, shorten } from "./print-schema.ts";
import { BUILT_IN_SCALARS, type SchemaArgument, type SchemaField, type SchemaType } from "./schema-model.ts";

/** Root fields of one schema, as operations of an OpenAPI document. */
export const MAX_ROOT_FIELDS = 20_000;

const MAX_DESCRIPTION = 2_000;
const MAX_DEPRECATION = 300;

/** Units of the SDL of a field, in differences. */
const MAX_SIGNATURE = 2_000;

/** Returns the catalog of a schema. Throws a `DocumentError` if it has no root field, or is too large. */
export function createGraphCatalog(schema: CheckedSchema, host: string, problems: ProblemList): Buffer {
  const writer = new CatalogWriter(GRAPHQL_FORMAT);
  const count = addRootFields("query", schema, writer, problems) + addRootFields("mutation", schema, writer, problems);
  if (count === 0) throw new DocumentError("the schema has no root field that can be used");
  const text = writer.put(Buffer.from(printSchema(schema)));
  const definitions = schema.types.map((type): readonly [string, CatalogDefinition] => [
    type.name,
    { content: toStoredType(type), references: listReferences(type) },
  ]);
  return writer.finish(
    {
      title: `GraphQL API at ${toVisibleLine(host)}`,
      version: "",
      description: truncateText(schema.description, MAX_DESCRIPTION),
      servers: [],
      problems: problems.list,
      schema: text,
    },
    new Map(definitions),
  );
}

/** Adds the fields of the type of queries, or of mutations. Returns how many. */
function addRootFields(
  kind: "query" | "mutation",
  schema: CheckedSchema,
  writer: CatalogWriter,
  problems: ProblemList,
): number {
  const root = schema.byName.get(schema[kind] ?? "");
  if (root?.kind !== "type") return 0;
  let count = 0;
  for (const field of root.fields.slice(0, MAX_ROOT_FIELDS)) {
    const name = `${kind === "query" ? "query" : "mutate"}:${field.name}`;
    const content = toGraphField(kind, field, schema);
    const { example: _, ...digested } = content;
    const why = writer.add(
      {
        name,
        verb: kind,
        path: field.name,
        summary: toSummary(field.description),
        tags: [],
        isDeprecated: field.deprecated !== undefined,
        servers: [],
        argumentNames: field.arguments.map((argument) => argument.name),
        ...(schema.query === schema.mutation && { isOfMutations: true }),
      },
      {
        content,
        digested: JSON.stringify(digested),
        inputTypes: content.inputTypes,
        outputTypes: [content.outputType],
      },
    );
    problems.location = name;
    if (why === undefined) count += 1;
    else problems.add(`${why}; it is left out`);
  }
  return count;
}

function toGraphField(kind: "query" | "mutation", field: SchemaField, schema: CheckedSchema): GraphField {
  return {
    description: truncateText(field.description, MAX_DESCRIPTION),
    signature: printSignature(field),
    ...(field.deprecated !== undefined && { deprecated: shorten(field.deprecated, MAX_DEPRECATION) }),
    input: toInputSchema(field.arguments),
    inputTypes: listNames(field.arguments),
    outputType: field.type.name,
    example: createExample(kind, field, schema),
  };
}

function toStoredType(type: SchemaType): StoredType {
  const schema = toDefinitionSchema(type);
  return { text: printDefinition(type), parts: listParts(type), ...(schema !== undefined && { schema }) };
}

/** The parts of a type that programs depend on, as SDL. */
function listParts(type: SchemaType): Readonly<Record<string, string>> {
  const toEntries = (): readonly (readonly [string, string])[] => {
    switch (type.kind) {
      case "scalar":
        return [];
      case "type":
      case "interface":
        return type.fields.map((field) => [field.name, truncateText(printSignature(field), MAX_SIGNATURE)]);
      case "union":
        return type.members.map((name) => [name, name]);
      case "enum":
        return type.values.map(({ name }) => [name, name]);
      case "input":
        return type.fields.map((field) => [
          field.name,
          `${field.type.text}${field.default === undefined ? "" : ` = ${field.default}`}`,
        ]);
    }
  };
  return Object.fromEntries(toEntries());
}

/** The types that a type refers to. */
function listReferences(type: SchemaType): readonly string[] {
  switch (type.kind) {
    case "scalar":
    case "enum":
      return [];
    case "union":
      return type.members;
    case "input":
      return listNames(type.fields);
    case "type":
    case "interface": {
      const names = type.fields.flatMap((field) => [...listNames(field.arguments), field.type.name]);
      return [...new Set([...type.interfaces, ...names])].filter((name) => !BUILT_IN_SCALARS.has(name));
    }
  }
}

function listNames(list: readonly SchemaArgument[]): readonly string[] {
  return [...new Set(list.map(({ type }) => type.name))].filter((name) => !BUILT_IN_SCALARS.has(name));
}
