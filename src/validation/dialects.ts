import { Ajv, type ErrorObject, type Options, type ValidateFunction } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";

import { messageOf } from "../errors.ts";
import { isRecord, type JsonSchema } from "../model/json.ts";
import { TIMED_OUT, within } from "../model/within.ts";
import type { Clock } from "./clock.ts";

/** Says what is wrong with a value. */
type Finder = (value: unknown) => readonly ErrorObject[];

type Attempt = { readonly kind: "compiled"; readonly find: Finder } | { readonly kind: "failed"; readonly why: string };

/** Compiles a schema as far as possible. The note says why not all of it; it is empty if all of it compiled. */
export function finderFor(
  schema: JsonSchema,
  options: Options,
  clock: Clock,
): { readonly find: Finder; readonly note: string } {
  let why = "";
  for (const Dialect of dialectsOf(schema)) {
    const attempt = attemptTo(schema, { Dialect, options, leftMs: clock.leftMs("schema") });
    if (attempt.kind === "compiled") return { find: attempt.find, note: "" };
    why ||= attempt.why;
  }
  const [Dialect] = dialectsOf(schema);
  const part = compilingPart(schema, (property) =>
    attemptTo(property, { Dialect, options, leftMs: clock.leftMs("properties") }),
  );
  const rest = attemptTo(part, { Dialect, options, leftMs: clock.leftMs("rest") });
  const note = `its schema cannot be used in full: ${JSON.stringify(why.slice(0, 200))}`;
  return { find: rest.kind === "compiled" ? rest.find : () => [], note };
}

type Dialect = typeof Ajv | typeof Ajv2019 | typeof Ajv2020;

/** What a schema may be meant as, the likeliest first. */
function dialectsOf({ $schema }: JsonSchema): readonly [Dialect, ...Dialect[]] {
  if (typeof $schema !== "string") return [Ajv2020, Ajv];
  if (/draft-0[3-7]/.test($schema)) return [Ajv, Ajv2020];
  return $schema.includes("2019-09") ? [Ajv2019, Ajv] : [Ajv2020, Ajv];
}

interface Way {
  readonly Dialect: Dialect;
  readonly options: Options;
  readonly leftMs: number;
}

/** Each schema has an ajv of its own: no `$id` of one can stand in the way of another, and what is unused is freed. */
function attemptTo(schema: JsonSchema, { Dialect, options, leftMs }: Way): Attempt {
  const { $schema: _, $async: __, ...plain } = schema;
  if (leftMs === 0) return TOO_SLOW;
  try {
    const validate = within(leftMs, () => formats.default(new Dialect(options)).compile(plain));
    return validate === TIMED_OUT ? TOO_SLOW : { kind: "compiled", find: finderOf(validate) };
  } catch (error) {
    return { kind: "failed", why: messageOf(error) };
  }
}

const TOO_SLOW: Attempt = { kind: "failed", why: "takes too long" };

function finderOf(validate: ValidateFunction): Finder {
  return (value) => (validate(value) ? [] : (validate.errors ?? []));
}

/** The names of an object schema, and those of its properties that compile each by itself. */
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
