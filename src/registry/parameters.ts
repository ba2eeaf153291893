import { isRecord, type JsonSchema } from "../model/json.ts";
import type { Parameter } from "../model/catalog.ts";
import { sanitizeText } from "./sanitize.ts";
import { dereference, resolveReference } from "./schema.ts";

const MAX_PARAMETERS = 1_000;

/** The named inputs of an object schema: their schemas, and which of them every input must have. */
interface Inputs {
  readonly schemas: ReadonlyMap<string, unknown>;
  readonly required: ReadonlySet<string>;
}

/**
 * The parameters of a method in the order of positional arguments: required ones first, each group as declared. They are
 * found through references and `allOf`; of `anyOf` and `oneOf`, what every branch requires is required. A parameter with a
 * default need not be given, whatever `required` says; one that may not be given at all (`false`) is left out.
 */
export function getParameters(input: JsonSchema): readonly Parameter[] {
  const inputs = collectInputs(input, input, new Set());
  const parameters = [...inputs.schemas].slice(0, MAX_PARAMETERS).map(([name, schema]): Parameter => {
    const target = dereference(schema, input);
    const hasDefault = [schema, target].some((place) => isRecord(place) && place["default"] !== undefined);
    return Object.freeze({
      name,
      required: inputs.required.has(name) && !hasDefault,
      schema: isRecord(schema) ? schema : ANYTHING,
      description: getDescription(schema) || getDescription(target),
    });
  });
  return Object.freeze([...parameters.filter((each) => each.required), ...parameters.filter((each) => !each.required)]);
}

const ANYTHING: JsonSchema = Object.freeze({});

function getDescription(schema: unknown): string {
  return isRecord(schema) ? sanitizeText(schema["description"]) : "";
}

/** `seen` keeps a schema that leads back to itself from being read twice. */
function collectInputs(schema: unknown, root: JsonSchema, seen: Set<unknown>): Inputs {
  if (!isRecord(schema) || seen.has(schema)) return { schemas: new Map(), required: new Set() };
  seen.add(schema);
  const properties = isRecord(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  const own: Inputs = {
    schemas: new Map(properties.filter(([, property]) => property !== false)),
    required: new Set(toStrings(schema["required"])),
  };
  const reference = schema["$ref"];
  const referred = typeof reference === "string" ? [resolveReference(reference, root)] : [];
  const branches = (keyword: string): Inputs[] =>
    toList(schema[keyword]).map((branch) => collectInputs(branch, root, seen));
  const all = [own, ...referred.map((target) => collectInputs(target, root, seen)), ...branches("allOf")];
  return withMissing(merged([...all, mergeAlternatives(branches("anyOf")), mergeAlternatives(branches("oneOf"))]));
}

/** Every input of every part; what one part requires is required. */
function merged(parts: readonly Inputs[]): Inputs {
  const schemas = new Map<string, unknown>();
  for (const part of parts)
    for (const [name, schema] of part.schemas) if (!schemas.has(name)) schemas.set(name, schema);
  return { schemas, required: new Set(parts.flatMap((part) => [...part.required])) };
}

/** Every input of every branch; only what all branches require is required. */
function mergeAlternatives(branches: readonly Inputs[]): Inputs {
  const [first, ...others] = branches;
  const required = [...(first?.required ?? [])].filter((name) => others.every((branch) => branch.required.has(name)));
  return { schemas: merged(branches).schemas, required: new Set(required) };
}

/** With an input that takes anything for each name that is required but nowhere described. */
function withMissing(inputs: Inputs): Inputs {
  const schemas = new Map(inputs.schemas);
  for (const name of inputs.required) if (!schemas.has(name)) schemas.set(name, ANYTHING);
  return { schemas, required: inputs.required };
}

function toStrings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
