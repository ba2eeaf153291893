import { Ajv, type ErrorObject, type Options, type ValidateFunction } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";

import { getMessage } from "../errors.ts";
import { isRecord, type JsonSchema } from "../model/json.ts";
import { TIMED_OUT, runSyncWithTimeout } from "../shared/run-with-timeout.ts";
import type { TimeBudget } from "./time-budget.ts";
import { quote } from "../shared/format-text.ts";

/** Returns the errors of a value. */
type FindErrors = (value: unknown) => readonly ErrorObject[];

type Attempt =
  | { readonly kind: "compiled"; readonly find: FindErrors }
  | { readonly kind: "failed"; readonly why: string };

/** Compiles as much of a schema as possible. The note gives the reason if part of it does not compile, and is empty otherwise. */
export function compileForDraft(
  schema: JsonSchema,
  options: Options,
  budget: TimeBudget,
): { readonly find: FindErrors; readonly note: string } {
  let why = "";
  for (const Dialect of selectDialects(schema)) {
    const attempt = tryCompile(schema, { Dialect, options, leftMs: budget.leftMs("schema") });
    if (attempt.kind === "compiled") return { find: attempt.find, note: "" };
    why ||= attempt.why;
  }
  const [Dialect] = selectDialects(schema);
  const part = compilingPart(schema, (property) =>
    tryCompile(property, { Dialect, options, leftMs: budget.leftMs("properties") }),
  );
  const rest = tryCompile(part, { Dialect, options, leftMs: budget.leftMs("rest") });
  const note = `part of its schema cannot be checked: ${quote(why, 200)}`;
  return { find: rest.kind === "compiled" ? rest.find : () => [], note };
}

type Dialect = typeof Ajv | typeof Ajv2019 | typeof Ajv2020;

/** The JSON Schema dialects that a schema may be written in, the likeliest first. */
function selectDialects({ $schema }: JsonSchema): readonly [Dialect, ...Dialect[]] {
  if (typeof $schema !== "string") return [Ajv2020, Ajv];
  if (/draft-0[3-7]/.test($schema)) return [Ajv, Ajv2020];
  return $schema.includes("2019-09") ? [Ajv2019, Ajv] : [Ajv2020, Ajv];
}

interface CompileOptions {
  readonly Dialect: Dialect;
  readonly options: Options;
  readonly leftMs: number;
}

/** Uses one ajv instance per schema: equal `$id`s cannot collide, and unused schemas are freed. */
function tryCompile(schema: JsonSchema, { Dialect, options, leftMs }: CompileOptions): Attempt {
  const { $schema: _, $async: __, ...plain } = schema;
  if (leftMs === 0) return COMPILE_TIMEOUT;
  try {
    const validate = runSyncWithTimeout(leftMs, () => formats.default(new Dialect(options)).compile(plain));
    return validate === TIMED_OUT ? COMPILE_TIMEOUT : { kind: "compiled", find: toFinder(validate) };
  } catch (error) {
    return { kind: "failed", why: getMessage(error) };
  }
}

const COMPILE_TIMEOUT: Attempt = { kind: "failed", why: "takes too long" };

function toFinder(validate: ValidateFunction): FindErrors {
  return (value) => (validate(value) ? [] : (validate.errors ?? []));
}

/** Reduces an object schema to its property names and the properties that compile on their own. */
function compilingPart(schema: JsonSchema, attempt: (property: JsonSchema) => Attempt): JsonSchema {
  const { $defs = {}, definitions = {}, required, additionalProperties, patternProperties } = schema;
  const compiles = (name: string, property: unknown): boolean =>
    attempt({ $defs, definitions, properties: { [name]: property } }).kind === "compiled";
  const properties = Object.entries(isRecord(schema["properties"]) ? schema["properties"] : {});
  return {
    type: "object",
    $defs,
    definitions,
    properties: Object.fromEntries(properties.map(([name, each]) => [name, compiles(name, each) ? each : true])),
    required: Array.isArray(required) ? required.filter((name) => typeof name === "string") : [],
    additionalProperties: additionalProperties !== false || patternProperties !== undefined,
  };
}
