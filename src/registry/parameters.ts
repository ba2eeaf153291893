import { isRecord, type JsonSchema, toList } from "../model/json.ts";
import type { Parameter } from "../model/catalog.ts";
import { RESPONSE_ARGUMENT, type ResponseForms } from "../model/skill.ts";
import { sanitizeText } from "./sanitize.ts";
import { dereference, resolveReference } from "./schema.ts";

const MAX_PARAMETERS = 1_000;

/** The properties of an object schema: their schemas and the required names. */
interface Inputs {
  readonly schemas: ReadonlyMap<string, unknown>;
  readonly required: ReadonlySet<string>;
}

/**
 * Returns the parameters of a method in the order of positional arguments: required ones first, each group as declared.
 * Follows references and `allOf`; under `anyOf` and `oneOf`, a name is required if every branch requires it. A parameter
 * with a default is optional, whatever `required` says; one with the schema `false` is left out.
 */
export function getParameters(input: JsonSchema): readonly Parameter[] {
  const inputs = collectInputs(input, input, new Set());
  const parameters = [...inputs.schemas].slice(0, MAX_PARAMETERS).map(([name, schema]): Parameter => {
    const target = dereference(schema, input);
    const hasDefault = [schema, target].some((part) => isRecord(part) && part["default"] !== undefined);
    return Object.freeze({
      name,
      required: inputs.required.has(name) && !hasDefault,
      schema: isRecord(schema) ? schema : ANYTHING,
      description: getDescription(schema) || getDescription(target),
    });
  });
  return Object.freeze([...parameters.filter((each) => each.required), ...parameters.filter((each) => !each.required)]);
}

/** Returns the parameters that a signature shows: what `response` says of a method stands beside its signature. */
export function getShownParameters({
  parameters,
  response,
}: {
  readonly parameters: readonly Parameter[];
  readonly response?: ResponseForms | undefined;
}): readonly Parameter[] {
  return response === undefined ? parameters : parameters.filter(({ name }) => name !== RESPONSE_ARGUMENT);
}

const ANYTHING: JsonSchema = Object.freeze({});

function getDescription(schema: unknown): string {
  return isRecord(schema) ? sanitizeText(schema["description"]) : "";
}

/** Collects the properties of a schema; `visited` stops at cycles. */
function collectInputs(schema: unknown, root: JsonSchema, visited: Set<unknown>): Inputs {
  if (!isRecord(schema) || visited.has(schema)) return { schemas: new Map(), required: new Set() };
  visited.add(schema);
  const properties = isRecord(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  const own: Inputs = {
    schemas: new Map(properties.filter(([, property]) => property !== false)),
    required: new Set(toStrings(schema["required"])),
  };
  const reference = schema["$ref"];
  const referred = typeof reference === "string" ? [resolveReference(reference, root)] : [];
  const branches = (keyword: string): Inputs[] =>
    toList(schema[keyword]).map((branch) => collectInputs(branch, root, visited));
  const all = [own, ...referred.map((target) => collectInputs(target, root, visited)), ...branches("allOf")];
  return withMissing(merged([...all, mergeAlternatives(branches("anyOf")), mergeAlternatives(branches("oneOf"))]));
}

/** Merges the properties of all parts; a name is required if one part requires it. */
function merged(parts: readonly Inputs[]): Inputs {
  const schemas = new Map<string, unknown>();
  for (const part of parts)
    for (const [name, schema] of part.schemas) if (!schemas.has(name)) schemas.set(name, schema);
  return { schemas, required: new Set(parts.flatMap((part) => [...part.required])) };
}

/** Merges the properties of all branches; a name is required only if all branches require it. */
function mergeAlternatives(branches: readonly Inputs[]): Inputs {
  const [first, ...others] = branches;
  const required = [...(first?.required ?? [])].filter((name) => others.every((branch) => branch.required.has(name)));
  return { schemas: merged(branches).schemas, required: new Set(required) };
}

/** Adds an unrestricted schema for each required name that is not described. */
function withMissing(inputs: Inputs): Inputs {
  const schemas = new Map(inputs.schemas);
  for (const name of inputs.required) if (!schemas.has(name)) schemas.set(name, ANYTHING);
  return { schemas, required: inputs.required };
}

function toStrings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
