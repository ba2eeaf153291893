import { isRecord, type JsonSchema } from "../../model/json.ts";
import { resolveReference } from "../schema.ts";
import { documented } from "./doc-comments.ts";
import { literalType, propertyName } from "./text.ts";
import type { KnownType, TypeNames } from "./type-names.ts";
import * as types from "./type-text.ts";
import { type ObjectMember, type Type, whole } from "./type-text.ts";

/** Beyond this many schemas in one type, the rest says nothing. */
const MAX_SCHEMAS = 5_000;
const MAX_NESTING = 100;

/** A referenced type that is no longer than this, and refers to no other, needs no name. */
const UNNAMED_UNITS = 30;

/** How a schema becomes a type. */
export interface TypeStyle {
  /** What its local references mean. */
  readonly root: JsonSchema;
  /** Where referenced types get their names; without it they are written in place. */
  readonly names?: TypeNames;
  /** Stands before the names of types, except inside one of them. */
  readonly qualifier?: string;
  /** How many objects deep members are shown; below that there is only `object`. */
  readonly depth: number;
  /** With descriptions and line breaks, or on one line without. */
  readonly comments: boolean;
  /**
   * What is not described may be anything in an input (`unknown`), and anything may be done with it in an output (`any`).
   * What has a default may be left out of an input.
   */
  readonly of: "input" | "output";
}

/** A type that is being written: what it has used up, and which alias its text belongs to. */
interface Writing extends TypeStyle {
  schemasLeft: number;
  nesting: number;
  /** References to named types so far. */
  references: number;
  alias: string | undefined;
  /** How TypeScript resolves what stands here: `deferred` in an object or array, where the alias may refer to itself. */
  resolved: Resolved;
}

/** `eager`: among what a tuple may have or not, even what arrays hold is looked into at once. */
type Resolved = "directly" | "deferred" | "eager";

/** A JSON Schema as a TypeScript type, which compiles under `strict` whatever the schema holds. */
export function toType(schema: unknown, style: TypeStyle): Type {
  const writing = { ...style, schemasLeft: MAX_SCHEMAS, nesting: 0, references: 0, alias: undefined };
  return write(schema, style.depth, { ...writing, resolved: "directly" });
}

function write(schema: unknown, depth: number, writing: Writing): Type {
  if (schema === false) return types.NEVER;
  writing.schemasLeft -= 1;
  if (!isRecord(schema) || writing.schemasLeft < 0 || writing.nesting >= MAX_NESTING) return unknownType(writing);
  writing.nesting += 1;
  const type = writeParts(schema, depth, writing);
  writing.nesting -= 1;
  return schema["nullable"] === true ? types.union([type, types.NULL]) : type;
}

function writeParts(schema: JsonSchema, depth: number, writing: Writing): Type {
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

/** True if the schema itself says no more than a type's name, which its branches say better. */
function isBare(schema: JsonSchema): boolean {
  return !["const", "enum", "properties", "patternProperties", "items", "prefixItems", "additionalProperties"].some(
    (keyword) => Object.hasOwn(schema, keyword),
  );
}

function writeBase(schema: JsonSchema, depth: number, writing: Writing): Type {
  if (Object.hasOwn(schema, "const")) return literalUnion([schema["const"]], writing);
  if (Array.isArray(schema["enum"])) return literalUnion(schema["enum"], writing);
  const named = Array.isArray(schema["type"]) ? schema["type"] : [schema["type"] ?? impliedType(schema)];
  return types.union(named.map((type) => writeKind(type, schema, depth, writing)));
}

function impliedType(schema: JsonSchema): string | undefined {
  if (isRecord(schema["properties"]) || isRecord(schema["patternProperties"])) return "object";
  if (isRecord(schema["additionalProperties"])) return "object";
  return schema["items"] !== undefined || schema["prefixItems"] !== undefined ? "array" : undefined;
}

function writeKind(type: unknown, schema: JsonSchema, depth: number, writing: Writing): Type {
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

/** The literals themselves; for too many, or too long ones, the types that they have. */
function literalUnion(values: readonly unknown[], writing: Writing): Type {
  const texts = values.slice(0, types.MAX_MEMBERS + 1).map((value) => literalType(value));
  if (texts.length <= types.MAX_MEMBERS && !texts.includes(undefined))
    return types.union(texts.map((text) => whole(text ?? "")));
  const kinds = new Set(values.map((value) => (value === null ? "null" : typeof value)));
  const simple = [...kinds].every((kind) => kind !== "object" && kind !== "undefined");
  return simple ? types.union([...kinds].map((kind) => whole(kind))) : unknownType(writing);
}

function writeArray(schema: JsonSchema, depth: number, writing: Writing): Type {
  const { items, prefixItems, minItems } = schema;
  const places = [prefixItems, items].find((list): list is unknown[] => Array.isArray(list));
  if (places === undefined)
    return types.arrayType(items === undefined ? unknownType(writing) : write(items, depth, writing));
  const eagerly = (inner: unknown): Type => within("eager", writing, () => write(inner, depth, writing));
  const least = typeof minItems === "number" ? Math.max(0, minItems) : places.length;
  const members = [
    ...places.slice(0, least).map((place) => write(place, depth, writing).text),
    ...places.slice(least).map((place) => types.optionalItem(eagerly(place))),
  ];
  const rest = Array.isArray(items) ? schema["additionalItems"] : items;
  if (rest === true || isRecord(rest)) members.push(`...${types.arrayType(eagerly(rest)).text}`);
  return whole(`[${members.join(", ")}]`);
}

function writeObject(schema: JsonSchema, depth: number, writing: Writing): Type {
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

/** An object of which no member is known by name. */
function writeDictionary(schema: JsonSchema, depth: number, writing: Writing): Type {
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

function within(resolved: Resolved, writing: Writing, writeInside: () => Type): Type {
  const before = writing.resolved;
  writing.resolved = resolved;
  const type = writeInside();
  writing.resolved = before;
  return type;
}

function writeReference(reference: string, depth: number, writing: Writing): Type {
  const { names } = writing;
  const target = resolveReference(reference, writing.root);
  if (!isRecord(target)) return unknownType(writing);
  if (names === undefined) return write(target, depth, writing);
  const known = names.known.get(target);
  return known === undefined
    ? writeNamed(target, createTypeName(reference), writing, names)
    : mentionType(known, writing, names);
}

/** A schema as a type of its own, under a name unless it is short. */
function writeNamed(schema: JsonSchema, wanted: string, writing: Writing, names: TypeNames): Type {
  const known: KnownType = { name: names.reserve(wanted), inline: undefined, width: types.MAX_MEMBERS };
  names.known.set(schema, known);
  const mention = mentionType(known, writing, names);
  const { alias, references: before } = writing;
  writing.alias = known.name;
  const type = within("directly", writing, () => write(schema, writing.depth, writing));
  writing.alias = alias;
  known.width = type.width;
  if (writing.references === before && type.text.length <= UNNAMED_UNITS) known.inline = type;
  else names.definitions.set(known.name, type.text);
  return known.inline ?? { ...mention, width: type.width };
}

/** The name of a type, or, where TypeScript would see it run in a circle, nothing. */
function mentionType(known: KnownType, writing: Writing, names: TypeNames): Type {
  if (known.inline !== undefined) return known.inline;
  const { alias } = writing;
  const deferred = writing.resolved === "deferred";
  if (alias !== undefined && !deferred && !names.refer(alias, known.name)) return unknownType(writing);
  writing.references += 1;
  return whole(alias === undefined ? `${writing.qualifier ?? ""}${known.name}` : known.name, known.width);
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

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
