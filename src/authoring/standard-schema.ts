import { createRequire } from "node:module";
import { join } from "node:path";

import { createError, getMessage, type SkillgateError } from "../errors.ts";
import { isRecord, type JsonSchema } from "../model/json.ts";

/** The Standard Schema interface (standardschema.dev) of zod, valibot, arktype and others, as far as it is used here. */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A schema with its two uses: to show it, and to parse a value. */
export interface ReadableSchema {
  readonly json: JsonSchema;
  /** Validates and converts a value. Rejects with `ARGUMENTS_INVALID`, which names the method `path`. */
  readonly parse: (value: unknown, path: string) => Promise<Readonly<Record<string, unknown>>>;
}

/**
 * Reads JSON Schema, a Standard Schema, or fields that are each a Standard Schema. The caller checks JSON Schema; a
 * Standard Schema checks and converts itself, even if it cannot be written as JSON Schema.
 */
export function readSchema(schema: unknown, side: "input" | "output", where: string): ReadableSchema {
  if (schema === undefined) return { json: NO_PARAMETERS, parse: asItIs };
  if (isStandardSchema(schema)) return readStandardSchema(schema, side, where);
  if (!isRecord(schema)) throw invalid(`${where} must be JSON Schema or a Standard Schema, not ${quoted(schema)}`);
  if (isFields(schema)) return readFields(schema, side, where);
  return { json: side === "input" ? toObjectSchema(plain(schema, where), where) : plain(schema, where), parse: asItIs };
}

const NO_PARAMETERS: JsonSchema = Object.freeze({ type: "object", properties: {}, additionalProperties: false });

async function asItIs(value: unknown): Promise<Readonly<Record<string, unknown>>> {
  return isRecord(value) ? value : {};
}

/** Accepts functions too: some libraries implement schemas as functions. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if (value === null || (typeof value !== "object" && typeof value !== "function")) return false;
  const standard: unknown = "~standard" in value ? value["~standard"] : undefined;
  return isRecord(standard) && isFunction(standard["validate"]);
}

function isFields(schema: Readonly<Record<string, unknown>>): schema is Readonly<Record<string, StandardSchema>> {
  const fields = Object.values(schema);
  return fields.length > 0 && fields.every(isStandardSchema);
}

function readStandardSchema(schema: StandardSchema, side: "input" | "output", where: string): ReadableSchema {
  const json = toJsonSchema(schema, side, where);
  const any = side === "input" ? { type: "object" } : {};
  return {
    json: json === undefined ? any : side === "input" ? toObjectSchema(json, where) : json,
    parse: async (value, path) => {
      const result = await schema["~standard"].validate(value);
      if (result.issues !== undefined) throw unfit(path, result.issues);
      return isRecord(result.value) ? result.value : {};
    },
  };
}

function readFields(
  fields: Readonly<Record<string, StandardSchema>>,
  side: "input" | "output",
  where: string,
): ReadableSchema {
  const entries = Object.entries(fields);
  const properties = entries.map(([name, schema]) => {
    const { $schema: _dialect, ...json } = toJsonSchema(schema, side, `${where}, field "${name}",`) ?? {};
    return [name, json] as const;
  });
  const required = entries.filter(([, schema]) => !takesUndefined(schema)).map(([name]) => name);
  return {
    json: { type: "object", properties: Object.fromEntries(properties), required, additionalProperties: false },
    parse: async (value, path) => {
      const input = await asItIs(value);
      const results = await Promise.all(
        entries.map(async ([name, schema]) => ({ name, result: await schema["~standard"].validate(input[name]) })),
      );
      const issues = results.flatMap(({ name, result }) =>
        (result.issues ?? []).map((issue) => ({ ...issue, path: [name, ...(issue.path ?? [])] })),
      );
      if (issues.length > 0) throw unfit(path, issues);
      const values = results.flatMap(({ name, result }) =>
        result.issues === undefined ? [[name, result.value] as const] : [],
      );
      return Object.fromEntries(values.filter(([, value]) => value !== undefined));
    },
  };
}

function takesUndefined(schema: StandardSchema): boolean {
  const result = schema["~standard"].validate(undefined);
  return !(result instanceof Promise) && result.issues === undefined;
}

function unfit(path: string, issues: readonly StandardIssue[]): SkillgateError {
  const texts = issues.slice(0, 8).map(({ message, path }) => {
    const keys = (path ?? []).map((part) => String(typeof part === "object" ? part.key : part));
    return keys.length === 0 ? message : `${quoted(keys.join("."))}: ${message}`;
  });
  return createError("ARGUMENTS_INVALID", `${path}: ${texts.join("; ")}`);
}

/** Converts a Standard Schema with the first converter that works; `undefined` if none does. */
function toJsonSchema(schema: StandardSchema, side: "input" | "output", where: string): JsonSchema | undefined {
  for (const convert of JSON_SCHEMA_CONVERTERS) {
    try {
      const json = convert(schema, side);
      if (isRecord(json)) return plain(json, "schema");
    } catch {
      // The type has no JSON Schema, or a library is not installed: try the next converter.
    }
  }
  if (schema["~standard"].vendor === "valibot")
    throw invalid(`${where} is a valibot schema that cannot be read. ${VALIBOT_HINT}`);
  return undefined;
}

type JsonSchemaConverter = (schema: StandardSchema, side: "input" | "output") => unknown;

const JSON_SCHEMA_CONVERTERS: readonly JsonSchemaConverter[] = [
  // ArkType's standard converter leaves out the defaults.
  (schema, side) =>
    schema["~standard"].vendor === "arktype" && side === "input"
      ? call(schema, "toJsonSchema", { fallback: ({ base }: { readonly base: unknown }) => base })
      : undefined,
  (schema, side) =>
    call(member(schema["~standard"], "jsonSchema"), side, {
      target: "draft-2020-12",
      ...(schema["~standard"].vendor === "zod" && { libraryOptions: { unrepresentable: "any" } }),
    }),
  (schema, io) => call(schema, "toJSONSchema", { io, unrepresentable: "any" }),
  (schema) => call(schema, "toJsonSchema"),
  (schema, io) => {
    const converter = CONVERTERS.get(schema["~standard"].vendor);
    return (
      converter && call(installed(converter.from), converter.by, schema, { ...converter.options, io, typeMode: io })
    );
  },
];

const VALIBOT_HINT = "Install its converter in the working directory: npm install @valibot/to-json-schema";

/** Converter packages. They are not dependencies: they are resolved from the working directory. */
const CONVERTERS: ReadonlyMap<string, Converter> = new Map([
  ["zod", { from: "zod", by: "toJSONSchema", options: { unrepresentable: "any" } }],
  [
    "valibot",
    { from: "@valibot/to-json-schema", by: "toJsonSchema", options: { errorMode: "ignore", target: "draft-2020-12" } },
  ],
]);

interface Converter {
  readonly from: string;
  readonly by: string;
  readonly options: object;
}

function installed(library: string): unknown {
  return createRequire(join(process.cwd(), "skill.js"))(library);
}

function call(target: unknown, name: string, ...args: readonly unknown[]): unknown {
  const found = member(target, name);
  return isFunction(found) ? Reflect.apply(found, target, args) : undefined;
}

function member(target: unknown, name: string): unknown {
  const holder = isRecord(target) || isFunction(target) ? target : {};
  return name in holder ? Reflect.get(holder, name) : undefined;
}

/** Returns a JSON copy of a schema. */
function plain(schema: object, where: string): JsonSchema {
  try {
    const copy: unknown = JSON.parse(JSON.stringify(schema));
    if (isRecord(copy)) return copy;
  } catch (error) {
    throw invalid(`${where} is not JSON: ${getMessage(error)}`);
  }
  throw invalid(`${where} must be a JSON Schema object`);
}

function toObjectSchema(schema: JsonSchema, where: string): JsonSchema {
  const { type = "object" } = schema;
  if (type !== "object") throw invalid(`${where} must be of type object, not ${quoted(type)}`);
  return { ...schema, type };
}

export function isFunction(value: unknown): value is (...args: unknown[]) => unknown {
  return typeof value === "function";
}

/** Creates the error of a skill that cannot be loaded, with the place and the reason. */
export function invalid(values: string): SkillgateError {
  return createError("SKILL_INVALID", values);
}

/** Formats a value for a message. */
export function quoted(value: unknown): string {
  if (isFunction(value)) return "a function";
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "a list" : "an object";
  return typeof value === "string" ? JSON.stringify(value.slice(0, 60)) : String(value);
}
