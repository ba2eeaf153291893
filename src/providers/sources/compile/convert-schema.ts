import { isRecord, type JsonSchema, toList, toRecord } from "../../../model/json.ts";
import { leaveOutForeignPatterns } from "../../../shared/json/foreign-patterns.ts";
import { quote, truncateText } from "../../../shared/format-text.ts";
import { isJsonType, isTextType } from "./media-types.ts";
import { shortHash } from "./names.ts";
import { type DocumentFiles, isReference, type Located, resolveReference } from "./document-files.ts";

/** Whether a schema describes what is sent or what is received: `readOnly` and `writeOnly` leave different properties. */
export type Use = "input" | "output";

/** The place of a schema that is converted. */
interface SchemaPlace {
  readonly file: string;
  readonly use: Use;
  readonly depth: number;
  /** Properties of the other direction in the schema that it is composed into. */
  readonly left: ReadonlySet<string>;
}

/** Levels of one schema, without those behind references. */
const MAX_DEPTH = 60;

/** Levels, and parts of each, of a composed schema that are searched for properties of the other direction. */
const MAX_COMPOSED = 4;
const MAX_PARTS = 20;

const MAX_DESCRIPTION = 1_000;
const MAX_EXAMPLE = 100;

/** Keywords whose members are schemas by name. A property may have the name `$ref`, so references stand only where a schema does. */
const MAPS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);
const LISTS: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const SINGLE: ReadonlySet<string> = new Set([
  "items",
  "additionalProperties",
  "not",
  "contains",
  "propertyNames",
  "if",
  "then",
  "else",
  "unevaluatedProperties",
  "unevaluatedItems",
]);

/** Keywords of OpenAPI that JSON Schema does not have, and those that are converted by themselves. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  "xml",
  "externalDocs",
  "example",
  "discriminator",
  "nullable",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "collectionFormat",
  "allowEmptyValue",
  "required",
  "readOnly",
  "writeOnly",
  "$schema",
  "$id",
  "$anchor",
  "$dynamicRef",
  "$dynamicAnchor",
  "$recursiveRef",
  "$recursiveAnchor",
  "__proto__",
]);

/** The named schemas that others refer to, by their names in `$defs`. */
export type Definitions = ReadonlyMap<string, JsonSchema>;

/**
 * Converts the schemas of a document, of OpenAPI 2.0, 3.0 or 3.1, to JSON Schema 2020-12. Each named schema is converted once, or
 * twice if what is sent differs from what is received, so that circles of references need no care.
 */
export class SchemaConverter {
  readonly #files: DocumentFiles;
  readonly #report: (problem: string) => void;
  readonly #definitions = new Map<string, JsonSchema>();
  /** The name of each location and use that is referred to, and the location of each name. */
  readonly #names = new Map<string, string>();
  readonly #open: { readonly name: string; readonly target: Located; readonly use: Use }[] = [];
  readonly #differing = new Map<string, boolean>();

  constructor(files: DocumentFiles, report: (problem: string) => void) {
    this.#files = files;
    this.#report = report;
  }

  convert(schema: unknown, file: string, use: Use): JsonSchema {
    const converted = this.#convert(schema, { file, use, depth: 0, left: new Set() });
    if (!isRecord(converted)) return converted ? {} : { not: {} };
    return leaveOutForeignPatterns(converted, (pattern) => {
      this.#report(`the pattern ${quote(pattern, 80)} of a schema is not a regular expression; it is left out`);
    });
  }

  /** Converts all schemas that are referred to, and returns them. */
  finish(): Definitions {
    for (let next = this.#open.pop(); next !== undefined; next = this.#open.pop())
      this.#definitions.set(next.name, this.convert(next.target.value, next.target.file, next.use));
    return this.#definitions;
  }

  /** True if the property with this schema belongs to the other direction. */
  isLeftOut(schema: unknown, file: string, use: Use): boolean {
    const flag = use === "input" ? "readOnly" : "writeOnly";
    const target = this.#files.follow({ value: schema, file })?.value;
    return [schema, target].some((each) => isRecord(each) && each[flag] === true);
  }

  #convert(schema: unknown, { file, use, depth, left: outer }: SchemaPlace): unknown {
    if (typeof schema === "boolean") return schema;
    if (!isRecord(schema)) return {};
    if (depth > MAX_DEPTH) {
      this.#report(`a schema has more than ${MAX_DEPTH} levels; what is deeper may be anything`);
      return {};
    }
    if (isReference(schema)) return this.#refer(schema, file, use);
    const left = new Set([...outer, ...this.#listLeftOut({ value: schema, file }, use)]);
    const converted: Record<string, unknown> = {};
    for (const [keyword, value] of Object.entries(schema)) {
      if (LEFT_OUT.has(keyword) || keyword.startsWith("x-")) continue;
      const inner = LISTS.has(keyword) ? left : new Set<string>();
      const convert = (part: unknown): unknown => this.#convert(part, { file, use, depth: depth + 1, left: inner });
      converted[keyword] = convertKeyword(keyword, value, { convert, left });
    }
    this.#addChoice(schema, file, converted);
    this.#checkEnumeration(converted);
    addBounds(schema, converted);
    addRequired(schema, converted, left);
    addExample(schema, converted);
    if (schema["type"] === "file") Object.assign(converted, { type: "string", format: "binary" });
    if (use === "input" && isBinary(converted)) return describeFile(converted);
    return addNull(schema, converted);
  }

  /** Lists the properties of the other direction, also those of the schemas that it is composed of: either may require them. */
  #listLeftOut(schema: Located, use: Use, levels = MAX_COMPOSED): readonly string[] {
    const { value, file } = this.#files.follow(schema) ?? schema;
    const { properties, allOf } = toRecord(value);
    const own = toRecord(properties);
    const names = Object.keys(own).filter((name) => this.isLeftOut(own[name], file, use));
    const parts = levels === 0 ? [] : toList(allOf).slice(0, MAX_PARTS);
    return [...names, ...parts.flatMap((part) => this.#listLeftOut({ value: part, file }, use, levels - 1))];
  }

  /**
   * Converts alternatives with a discriminator: its property decides which one applies, and a value may match several. A schema that it
   * names has its values there.
   */
  #addChoice(schema: Readonly<Record<string, unknown>>, file: string, converted: Record<string, unknown>): void {
    const { discriminator, oneOf, anyOf } = schema;
    const { propertyName, mapping } = toRecord(discriminator);
    if (typeof propertyName !== "string" || !Array.isArray(oneOf) || anyOf !== undefined) return;
    const values = new Map<string | undefined, string[]>();
    for (const [value, target] of Object.entries(toRecord(mapping))) {
      if (typeof target !== "string") continue;
      const reference = /[/#.]/.test(target) ? target : `#/components/schemas/${target}`;
      const location = resolveReference(reference, file);
      values.set(location, [...(values.get(location) ?? []), value]);
    }
    const parts = toList(converted["oneOf"]);
    delete converted["oneOf"];
    converted["anyOf"] = parts.map((part, at) => {
      const own: unknown = oneOf[at];
      const names = isReference(own) ? values.get(resolveReference(own.$ref, file)) : undefined;
      return names === undefined ? part : { allOf: [part, { properties: { [propertyName]: { enum: names } } }] };
    });
  }

  /** Leaves out an enumeration with values of another type: no value would match both. */
  #checkEnumeration(converted: Record<string, unknown>): void {
    const { type, enum: values } = converted;
    const types = [type].flat();
    if (type === undefined || !Array.isArray(values)) return;
    const other: unknown = values.find((value) => value !== null && !types.some((name) => isOfType(value, name)));
    if (other === undefined) return;
    this.#report(`the enumeration of a schema has ${JSON.stringify(other)}, which is not of its type; it is left out`);
    delete converted["enum"];
  }

  #refer(schema: { readonly $ref: string } & Readonly<Record<string, unknown>>, file: string, use: Use): JsonSchema {
    const location = resolveReference(schema.$ref, file);
    const target = location === undefined ? undefined : this.#files.find(schema.$ref, file);
    if (location === undefined || target === undefined) {
      this.#report(`the reference ${schema.$ref} leads nowhere; what it describes may be anything`);
      return {};
    }
    const reference = { $ref: `#/$defs/${this.#findName(location, target, use)}` };
    const { description } = schema;
    const described =
      typeof description === "string"
        ? { ...reference, description: truncateText(description, MAX_DESCRIPTION) }
        : reference;
    return schema["nullable"] === true ? { anyOf: [described, { type: "null" }] } : described;
  }

  #findName(location: string, target: Located, use: Use): string {
    const isOwn = use === "input" && this.#differs(location, target);
    const key = `${isOwn ? "input" : "both"} ${location}`;
    const existing = this.#names.get(key);
    if (existing !== undefined) return existing;
    const last = location.slice(location.search(/[^/#]*$/)).replaceAll("~1", "_");
    const words = last.replace(/\.(?:json|ya?ml)$/i, "").replaceAll(/[^A-Za-z0-9_]/g, "_");
    const plain = `${/^[A-Za-z_]/.test(words) ? words : `Type${words}`}${isOwn ? "Input" : ""}`;
    const name = this.#definitions.has(plain) ? `${plain}_${shortHash(key)}` : plain;
    this.#names.set(key, name);
    this.#definitions.set(name, {});
    this.#open.push({ name, target, use: isOwn ? "input" : "output" });
    return name;
  }

  /** True if the schema at a location, or one that it refers to, has a property for one direction only. */
  #differs(location: string, target: Located): boolean {
    if (!this.#differing.has(location)) this.#findDiffering(location, target);
    return this.#differing.get(location) === true;
  }

  /** Finds it for all locations that are reached from one, in one walk forth and one back. */
  #findDiffering(location: string, target: Located): void {
    const referrers = new Map<string, string[]>([[location, []]]);
    const differing: string[] = [];
    const open = [{ location, target }];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { hasFlag, references } = readFacts(next.target, this.#files);
      if (hasFlag) differing.push(next.location);
      for (const each of references) {
        if (this.#differing.get(each.location) === true) differing.push(next.location);
        if (this.#differing.has(each.location)) continue;
        const existing = referrers.get(each.location);
        if (existing === undefined) open.push(each);
        if (existing === undefined) referrers.set(each.location, [next.location]);
        else existing.push(next.location);
      }
    }
    for (const each of referrers.keys()) this.#differing.set(each, false);
    for (let each = differing.pop(); each !== undefined; each = differing.pop()) {
      if (this.#differing.get(each) === true) continue;
      this.#differing.set(each, true);
      differing.push(...(referrers.get(each) ?? []));
    }
  }
}

/** Facts about the schema at a location, without those that it refers to. */
interface PlaceFacts {
  readonly hasFlag: boolean;
  readonly references: readonly { readonly location: string; readonly target: Located }[];
}

function readFacts({ value, file }: Located, files: DocumentFiles): PlaceFacts {
  const references: { readonly location: string; readonly target: Located }[] = [];
  let hasFlag = false;
  const open: (readonly [part: unknown, depth: number])[] = [[value, 0]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [part, depth] = next;
    if (depth > 2 * MAX_DEPTH || typeof part !== "object" || part === null) continue;
    if (isReference(part)) {
      const location = resolveReference(part.$ref, file);
      const target = files.find(part.$ref, file);
      if (location !== undefined && target !== undefined) references.push({ location, target });
    }
    const members = part as Readonly<Record<string, unknown>>;
    hasFlag ||= members["readOnly"] === true || members["writeOnly"] === true;
    for (const each of Object.values(members)) open.push([each, depth + 1]);
  }
  return { hasFlag, references };
}

interface KeywordContext {
  readonly convert: (schema: unknown) => unknown;
  readonly left: ReadonlySet<string>;
}

function convertKeyword(keyword: string, value: unknown, { convert, left }: KeywordContext): unknown {
  if (MAPS.has(keyword)) {
    const entries = isRecord(value) ? Object.entries(value) : [];
    const ownEntries = keyword === "properties" ? entries.filter(([name]) => !left.has(name)) : entries;
    return Object.fromEntries(ownEntries.map(([name, schema]) => [name, convert(schema)]));
  }
  if (LISTS.has(keyword)) return Array.isArray(value) ? value.map(convert) : [];
  if (SINGLE.has(keyword)) return Array.isArray(value) ? value.map(convert) : convert(value);
  if (keyword === "description" || keyword === "title")
    return typeof value === "string" ? truncateText(value, MAX_DESCRIPTION) : undefined;
  return value;
}

/** True for a value of a type of JSON Schema, and for any value where the type is not one. */
function isOfType(value: unknown, type: unknown): boolean {
  if (type === "string" || type === "boolean") return typeof value === type;
  if (type === "number" || type === "integer") return typeof value === "number";
  if (type === "array") return Array.isArray(value);
  return type === "object" ? isRecord(value) : true;
}

/** Converts the exclusive bounds of OpenAPI 3.0, which are flags. */
function addBounds(schema: Readonly<Record<string, unknown>>, converted: Record<string, unknown>): void {
  for (const [bound, exclusive] of [
    ["minimum", "exclusiveMinimum"],
    ["maximum", "exclusiveMaximum"],
  ] as const) {
    const flag = schema[exclusive];
    if (typeof flag === "number") converted[exclusive] = flag;
    if (flag !== true || typeof schema[bound] !== "number") continue;
    delete converted[bound];
    converted[exclusive] = schema[bound];
  }
}

function addRequired(
  { required }: Readonly<Record<string, unknown>>,
  converted: Record<string, unknown>,
  left: ReadonlySet<string>,
): void {
  if (!Array.isArray(required)) return; // `required: true` of Swagger 2.0 says something of a parameter
  const names = required.filter((name) => typeof name === "string" && !left.has(name));
  if (names.length > 0) converted["required"] = names;
}

/** A short example shows models a format. */
function addExample({ example }: Readonly<Record<string, unknown>>, converted: Record<string, unknown>): void {
  const isShort = typeof example === "string" ? example.length <= MAX_EXAMPLE : typeof example === "number";
  if (isShort && converted["examples"] === undefined) converted["examples"] = [example];
}

/** Converts `nullable` of OpenAPI 3.0, and `x-nullable` of many documents of Swagger 2.0. */
function addNull(schema: Readonly<Record<string, unknown>>, converted: Record<string, unknown>): JsonSchema {
  if (schema["nullable"] !== true && schema["x-nullable"] !== true) return converted;
  const { type, enum: values } = converted;
  if (Array.isArray(values) && !values.includes(null)) converted["enum"] = [...values, null];
  if (typeof type === "string") return { ...converted, type: [type, "null"] };
  const isComposed = ["allOf", "oneOf", "anyOf"].some((keyword) => converted[keyword] !== undefined);
  return isComposed ? { anyOf: [converted, { type: "null" }] } : converted;
}

/** True for bytes: `format: binary` of OpenAPI 3.0, and a text of another media type that is not encoded of OpenAPI 3.1. */
function isBinary({ type, format, contentMediaType, contentEncoding }: Readonly<Record<string, unknown>>): boolean {
  if (format === "binary") return true;
  if (type !== "string" || typeof contentMediaType !== "string" || contentEncoding !== undefined) return false;
  return !isTextType(contentMediaType) && !isJsonType(contentMediaType);
}

/** A part of a form, or a body, can be bytes or a text; a file with a name is an object. */
function describeFile({ description }: Readonly<Record<string, unknown>>): JsonSchema {
  const forms = "bytes (Uint8Array), a text, or { data, filename, contentType }";
  return { description: typeof description === "string" ? `${description} (${forms})` : forms };
}
