import { GraphQLError, parseConstValue } from "graphql";

import { isRecord, toList, toRecord } from "../../../../model/json.ts";
import { DocumentError } from "../../documents/document-error.ts";
import { printLiteral } from "./print-literal.ts";
import type {
  Deprecable,
  Schema,
  SchemaArgument,
  SchemaDirective,
  SchemaField,
  SchemaType,
  TypeReference,
} from "./schema-model.ts";
import { NO_TYPE, toTypeReference } from "./type-reference.ts";

/** Levels of the type of a field that are looked at. More are no type. */
const MAX_LEVELS = 16;

/** Words and signs of a default value. */
const MAX_DEFAULT_TOKENS = 1_000;

/**
 * Reads the answer to an introspection query, or its part `data`. Throws a `DocumentError` for another value. Parts of an
 * unexpected form become parts without a name or a type, which `checkSchema` reports.
 */
export function readIntrospection(value: unknown): Schema {
  const schema = toRecord(value)["__schema"] ?? toRecord(toRecord(value)["data"])["__schema"];
  if (!isRecord(schema))
    throw new DocumentError('the schema has no "__schema", so it is no answer to an introspection');
  const { queryType, mutationType, types, directives, description } = schema;
  const query = readName(queryType);
  const mutation = readName(mutationType);
  return {
    description: toText(description),
    query,
    ...(mutation !== "" && { mutation }),
    types: toList(types)
      .filter((type) => !INTROSPECTION_TYPES.has(readName(type)))
      .map(toType),
    directives: toList(directives).map(toDirective),
  };
}

/** The types of introspection itself (specification, section 4.2), which each server has. */
const INTROSPECTION_TYPES: ReadonlySet<string> = new Set([
  "__Schema",
  "__Type",
  "__TypeKind",
  "__Field",
  "__InputValue",
  "__EnumValue",
  "__Directive",
  "__DirectiveLocation",
]);

const toText = (value: unknown): string => (typeof value === "string" ? value : "");
const readName = (value: unknown): string => toText(toRecord(value)["name"]);

function toType(value: unknown): SchemaType {
  const { kind, description, fields, inputFields, interfaces, possibleTypes, enumValues, isOneOf } = toRecord(value);
  const part = { name: readName(value), description: toText(description) };
  switch (kind) {
    case "OBJECT":
    case "INTERFACE":
      return {
        kind: kind === "OBJECT" ? "type" : "interface",
        ...part,
        interfaces: toList(interfaces).map(readName),
        fields: toList(fields).map(toField),
      };
    case "UNION":
      return { kind: "union", ...part, members: toList(possibleTypes).map(readName) };
    case "ENUM":
      return { kind: "enum", ...part, values: toList(enumValues).map(toDeprecable) };
    case "INPUT_OBJECT":
      return { kind: "input", ...part, fields: toList(inputFields).map(toArgument), hasOneValue: isOneOf === true };
    case "SCALAR":
      return { kind: "scalar", ...part };
    default:
      // Without values it cannot be used, and `checkSchema` says so.
      return { kind: "enum", ...part, values: [] };
  }
}

function toDeprecable(value: unknown): Deprecable {
  const { description, isDeprecated, deprecationReason } = toRecord(value);
  return {
    name: readName(value),
    description: toText(description),
    ...(isDeprecated === true && { deprecated: toText(deprecationReason) || "No longer supported" }),
  };
}

function toField(value: unknown): SchemaField {
  const { type, args } = toRecord(value);
  return { ...toDeprecable(value), type: readType(type), arguments: toList(args).map(toArgument) };
}

function toArgument(value: unknown): SchemaArgument {
  const { type, defaultValue } = toRecord(value);
  const literal = typeof defaultValue === "string" ? readLiteral(defaultValue) : undefined;
  return { ...toDeprecable(value), type: readType(type), ...(literal !== undefined && { default: literal }) };
}

/** A text that is no literal would be anything in the schema; without it, an argument with `!` counts as required. */
function readLiteral(text: string): string | undefined {
  try {
    return printLiteral(parseConstValue(text, { noLocation: true, maxTokens: MAX_DEFAULT_TOKENS }));
  } catch (error) {
    if (error instanceof GraphQLError || error instanceof RangeError) return undefined;
    throw error;
  }
}

function toDirective(value: unknown): SchemaDirective {
  const { description, args, isRepeatable, locations } = toRecord(value);
  return {
    name: readName(value),
    description: toText(description),
    arguments: toList(args).map(toArgument),
    isRepeatable: isRepeatable === true,
    locations: toList(locations).map(toText),
  };
}

function readType(value: unknown): TypeReference {
  const wrappers: ("list" | "required")[] = [];
  let at = toRecord(value);
  for (let level = 0; level < MAX_LEVELS; level++) {
    const { kind, ofType } = at;
    if (kind !== "LIST" && kind !== "NON_NULL") return toTypeReference(readName(at), wrappers);
    wrappers.push(kind === "LIST" ? "list" : "required");
    at = toRecord(ofType);
  }
  return NO_TYPE;
}
