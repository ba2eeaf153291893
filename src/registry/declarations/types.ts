import { isRecord, type JsonSchema, toList } from "../../model/json.ts";
import { OMITTED_TYPE } from "../../model/skill.ts";
import { resolveReference } from "../schema.ts";
import { documented } from "./doc-comments.ts";
import { literalType, propertyName } from "./text.ts";
import type { KnownType, TypeNames } from "./type-names.ts";
import * as types from "./type-text.ts";
import { type ObjectMember, type Type, whole } from "./type-text.ts";

/** Maximum schemas in one type; further ones become `unknown` or `any`. */
const MAX_SCHEMAS = 5_000;
const MAX_NESTING = 100;

/** A referenced type up to this length that refers to no other is written inline. */
const UNNAMED_UNITS = 30;

/** Options of the conversion from schema to type. */
export interface TypeStyle {
  /** The root for local references. */
  readonly root: JsonSchema;
  /** Names of referenced types; without it they are written inline. */
  readonly names?: TypeNames;
  /** Prefix of type names, except inside a named type. */
  readonly qualifier?: string;
  /** Depth to which object members are shown; deeper objects are `object`. */
  readonly depth: number;
  /** With descriptions and line breaks, or on one line without. */
  readonly comments: boolean;
  /**
   * An undescribed value is `unknown` in an input and `any` in an output. In an input, a property with a default is
   * optional.
   */
  readonly of: "input" | "output";
}

/** The state of writing a type: the remaining budget, and the alias to which the text belongs. */
interface TypeContext extends TypeStyle {
  schemasLeft: number;
  nesting: number;
  /** Number of references to named types so far. */
  references: number;
  alias: string | undefined;
  /** How TypeScript resolves the current position: `deferred` in an object or array, where an alias may refer to itself. */
  resolved: Resolved;
}

/** `eager`: in optional and rest elements of a tuple, TypeScript resolves even array items immediately. */
type Resolved = "directly" | "deferred" | "eager";

/** Converts a JSON Schema to a TypeScript type that compiles under `strict`, whatever the schema holds. */
export function toType(schema: unknown, style: TypeStyle): Type {
  const writing = { ...style, schemasLeft: MAX_SCHEMAS, nesting: 0, references: 0, alias: undefined };
  return write(schema, style.depth, { ...writing, resolved: "directly" });
}

/** Maximum depth of a type on one line. */
const ONE_LINE_DEPTH = 3;

/** Formats the type of a value on one line. */
export function formatSchemaType(schema: JsonSchema): string {
  return toType(schema, { root: schema, depth: ONE_LINE_DEPTH, comments: false, of: "output" }).text;
}

function write(schema: unknown, depth: number, writing: TypeContext): Type {
  if (schema === false) return types.NEVER;
  writing.schemasLeft -= 1;
  if (!isRecord(schema) || writing.schemasLeft < 0 || writing.nesting >= MAX_NESTING) return unknownType(writing);
  writing.nesting += 1;
  const type = writeParts(schema, depth, writing);
  writing.nesting -= 1;
  return schema["nullable"] === true ? types.union([type, types.NULL]) : type;
}

function writeParts(schema: JsonSchema, depth: number, writing: TypeContext): Type {
  const branches = (keyword: string): Type[] => toList(schema[keyword]).map((branch) => write(branch, depth, writing));
  const unionOfBranches = (keyword: string): Type[] =>
    toList(schema[keyword]).length > 0 ? [types.union(branches(keyword))] : [];
  const parts = [
    ...(typeof schema["$ref"] === "string" ? [writeReference(schema["$ref"], depth, writing)] : []),
    ...branches("allOf"),
    ...unionOfBranches("anyOf"),
    ...unionOfBranches("oneOf"),
  ];
  const others = types.intersection(parts.length > 0 ? parts : [unknownType(writing)]);
  const base = writeBase(schema, depth, writing);
  if (isBare(schema) && !types.saysNothing(others)) return others;
  return types.intersection([base, others]);
}

/** True if the schema has at most a type name, so that its branches describe it better. */
function isBare(schema: JsonSchema): boolean {
  return !["const", "enum", "properties", "patternProperties", "items", "prefixItems", "additionalProperties"].some(
    (keyword) => Object.hasOwn(schema, keyword),
  );
}

function writeBase(schema: JsonSchema, depth: number, writing: TypeContext): Type {
  if (Object.hasOwn(schema, "const")) return literalUnion([schema["const"]], writing);
  if (Array.isArray(schema["enum"])) return literalUnion(schema["enum"], writing);
  const kinds = Array.isArray(schema["type"]) ? schema["type"] : [schema["type"] ?? impliedType(schema)];
  return types.union(kinds.map((type) => writeKind(type, schema, depth, writing)));
}

function impliedType(schema: JsonSchema): string | undefined {
  if (isRecord(schema["properties"]) || isRecord(schema["patternProperties"])) return "object";
  if (isRecord(schema["additionalProperties"])) return "object";
  return schema["items"] !== undefined || schema["prefixItems"] !== undefined ? "array" : undefined;
}

function writeKind(type: unknown, schema: JsonSchema, depth: number, writing: TypeContext): Type {
  switch (type) {
    case "string":
      return whole("string");
    case "number":
    case "integer":
      return whole("number");
    case "boolean":
      return whole("boolean", 2);
    case "null":
      return types.NULL;
    case "array":
      return within(writing.resolved === "eager" ? "eager" : "deferred", writing, () =>
        writeArray(schema, depth, writing),
      );
    case "object":
      return within("deferred", writing, () => writeObject(schema, depth, writing));
    default:
      return unknownType(writing);
  }
}

/** Writes a union of literals; for too many or too long ones, a union of their types. */
function literalUnion(values: readonly unknown[], writing: TypeContext): Type {
  const texts = values.slice(0, types.MAX_MEMBERS + 1).map((value) => literalType(value));
  if (texts.length <= types.MAX_MEMBERS && !texts.includes(undefined))
    return types.union(texts.map((text) => whole(text ?? "")));
  const kinds = new Set(values.map((value) => (value === null ? "null" : typeof value)));
  const simple = [...kinds].every((kind) => kind !== "object" && kind !== "undefined");
  return simple ? types.union([...kinds].map((kind) => whole(kind))) : unknownType(writing);
}

function writeArray(schema: JsonSchema, depth: number, writing: TypeContext): Type {
  const { items, prefixItems, minItems } = schema;
  const positions = [prefixItems, items].find((list): list is unknown[] => Array.isArray(list));
  if (positions === undefined)
    return types.arrayType(items === undefined ? unknownType(writing) : write(items, depth, writing));
  const eagerly = (inner: unknown): Type => within("eager", writing, () => write(inner, depth, writing));
  const least = typeof minItems === "number" ? Math.max(0, minItems) : positions.length;
  const members = [
    ...positions.slice(0, least).map((position) => write(position, depth, writing).text),
    ...positions.slice(least).map((position) => types.optionalItem(eagerly(position))),
  ];
  const rest = Array.isArray(items) ? schema["additionalItems"] : items;
  if (rest === true || isRecord(rest)) members.push(`...${types.arrayType(eagerly(rest)).text}`);
  return whole(`[${members.join(", ")}]`);
}

function writeObject(schema: JsonSchema, depth: number, writing: TypeContext): Type {
  const properties = isRecord(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  if (properties.length === 0) return writeDictionary(schema, depth, writing);
  if (depth <= 0) return whole("object");
  const required = new Set(toList(schema["required"]));
  const members = properties.map(([name, property]): ObjectMember => {
    const description =
      isRecord(property) && typeof property["description"] === "string" ? property["description"] : "";
    return {
      name: propertyName(name),
      optional: !required.has(name) || (writing.of === "input" && hasDefault(property)),
      type: write(property, depth - 1, writing),
      comment: writing.comments ? documented(description, property) : "",
    };
  });
  const additional = schema["additionalProperties"];
  const open = additional === true || isRecord(additional) || isRecord(schema["patternProperties"]);
  if (open) members.push({ name: "[key: string]", optional: false, type: unknownType(writing), comment: "" });
  return types.objectType(members, writing.comments);
}

/** Writes an object without named members. */
function writeDictionary(schema: JsonSchema, depth: number, writing: TypeContext): Type {
  const patterns = isRecord(schema["patternProperties"]) ? Object.values(schema["patternProperties"]) : [];
  const additional = schema["additionalProperties"];
  const values = additional === undefined || additional === false ? patterns : [...patterns, additional];
  if (values.length === 0)
    return whole(`Record<string, ${additional === false ? "never" : unknownType(writing).text}>`);
  const before = writing.references;
  const value = types.union(values.map((each) => write(each, depth - 1, writing)));
  // An alias may refer to itself through an index signature, but not through a type argument.
  return whole(writing.references === before ? `Record<string, ${value.text}>` : `{ [key: string]: ${value.text} }`);
}

function within(resolved: Resolved, writing: TypeContext, writeInside: () => Type): Type {
  const before = writing.resolved;
  writing.resolved = resolved;
  const type = writeInside();
  writing.resolved = before;
  return type;
}

function writeReference(reference: string, depth: number, writing: TypeContext): Type {
  const { names } = writing;
  const target = resolveReference(reference, writing.root);
  if (!isRecord(target)) return unknownType(writing);
  if (names === undefined) return write(target, depth, writing);
  if (target[OMITTED_TYPE] === true && !names.namesOmitted) return unknownType(writing);
  const entry = names.bySchema.get(target);
  return entry === undefined
    ? writeNamed(target, createTypeName(reference), writing, names)
    : mentionType(entry, writing, names);
}

/** Writes a schema as a named type, or inline if it is short. */
function writeNamed(schema: JsonSchema, preferred: string, writing: TypeContext, names: TypeNames): Type {
  const entry: KnownType = { name: names.reserve(preferred), inline: undefined, width: types.MAX_MEMBERS };
  names.bySchema.set(schema, entry);
  if (schema[OMITTED_TYPE] === true) {
    names.definitions.set(entry.name, "");
    return whole(entry.name);
  }
  const mention = mentionType(entry, writing, names);
  const { alias, references: before } = writing;
  writing.alias = entry.name;
  const type = within("directly", writing, () => write(schema, writing.depth, writing));
  writing.alias = alias;
  entry.width = type.width;
  if (writing.references === before && type.text.length <= UNNAMED_UNITS) entry.inline = type;
  else names.definitions.set(entry.name, type.text);
  return entry.inline ?? { ...mention, width: type.width };
}

/** Returns a reference to a named type, or `unknown`/`any` where TypeScript would reject a cycle. */
function mentionType(entry: KnownType, writing: TypeContext, names: TypeNames): Type {
  if (entry.inline !== undefined) return entry.inline;
  const { alias } = writing;
  const deferred = writing.resolved === "deferred";
  if (alias !== undefined && !deferred && !names.refer(alias, entry.name)) return unknownType(writing);
  writing.references += 1;
  return whole(alias === undefined ? `${writing.qualifier ?? ""}${entry.name}` : entry.name, entry.width);
}

/** `#/$defs/RichText` → `RichText`. */
function createTypeName(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1).replace(/^#/, "") || "Input";
}

function hasDefault(schema: unknown): boolean {
  return isRecord(schema) && schema["default"] !== undefined;
}

function unknownType({ of }: TypeStyle): Type {
  return of === "input" ? types.UNKNOWN : types.ANY;
}
