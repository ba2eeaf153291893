import { createError } from "../errors.ts";
import { isRecord, isTextList, type JsonSchema } from "../model/json.ts";
import { isMemberName } from "../shared/names/skill-names.ts";
import { describeUnknownField } from "../shared/suggest.ts";
import type {
  CallContext,
  Health,
  MethodDefinition,
  MethodExample,
  MethodMetadata,
  ProvidedSkill,
} from "../model/skill.ts";
import { METADATA_FIELDS, parseMetadata } from "./metadata.ts";
import { invalid, isFunction, quoted, readSchema, type StandardSchema } from "./standard-schema.ts";

export interface SkillSource<Inputs> {
  /** A JavaScript identifier; by convention it ends in `Skill`. */
  readonly name: string;
  readonly description: string;
  readonly methods: { readonly [Name in keyof Inputs]: MethodSource<Inputs[Name]> };
  /** Schema of `skills.<name>` in the settings; the values arrive in `context.settings`. */
  readonly settings?: JsonSchema | StandardSchema;
  readonly healthCheck?: () => Health | Promise<Health>;
  /** Longer guidance for models, shown by `describe`. */
  readonly guidance?: string;
  /** The names of the accounts that `context.account` gives: `["github"]`. */
  readonly accounts?: readonly string[];
}

/** A method with the metadata that differs from `METADATA_DEFAULTS`. */
export interface MethodSource<Input> extends Partial<MethodMetadata> {
  readonly description: string;
  /** JSON Schema or a Standard Schema, of type object; without it the method takes no parameters. */
  readonly input?: Input;
  readonly output?: JsonSchema | StandardSchema;
  readonly examples?: readonly MethodExample[];
  readonly run: (input: InputOf<Input>, context: CallContext) => unknown;
}

/** A skill with a health check. */
export interface DefinedSkill extends ProvidedSkill {
  /** Runs the health check, or `byDefault` if the skill has none. */
  health(byDefault?: () => unknown): Promise<Health>;
}

/** The input type of `run`: the output of a Standard Schema, or the type of a literal JSON Schema. */
type InputOf<Schema> =
  Schema extends StandardSchema<infer Output>
    ? Output
    : Schema extends { readonly properties: infer Properties }
      ? FieldsOf<Properties, Schema>
      : Readonly<Record<string, unknown>>;

type FieldsOf<Properties, Schema> = {
  readonly [Name in keyof Properties as IsSure<Properties, Schema, Name> extends true ? Name : never]: ValueOf<
    Properties[Name]
  >;
} & {
  readonly [Name in keyof Properties as IsSure<Properties, Schema, Name> extends true ? never : Name]?: ValueOf<
    Properties[Name]
  >;
};

/** True for a required field and for one with a default, which fills a missing value before the method runs. */
type IsSure<Properties, Schema, Name extends keyof Properties> = Properties[Name] extends { readonly default: unknown }
  ? true
  : Schema extends { readonly required: readonly (infer Required)[] }
    ? Name extends Required
      ? true
      : false
    : false;

/** The type of a value that a literal JSON Schema describes; `unknown` for keywords that are not read. */
type ValueOf<Schema> = Schema extends { readonly enum: readonly (infer Value)[] }
  ? Value
  : Schema extends { readonly const: infer Value }
    ? Value
    : Schema extends { readonly anyOf: readonly (infer Choice)[] }
      ? Choice extends unknown
        ? ValueOf<Choice>
        : never
      : Schema extends { readonly type: infer Type }
        ? TypedValueOf<Type, Schema>
        : unknown;

/** The type of a value by the keyword `type`, which may be a list. */
type TypedValueOf<Type, Schema> = Type extends readonly (infer Each)[]
  ? TypedValueOf<Each, Schema>
  : Type extends "array"
    ? Schema extends { readonly items: infer Items }
      ? readonly ValueOf<Items>[]
      : readonly unknown[]
    : Type extends "object"
      ? Schema extends { readonly properties: infer Properties }
        ? FieldsOf<Properties, Schema>
        : Readonly<Record<string, unknown>>
      : Type extends keyof SimpleTypes
        ? SimpleTypes[Type]
        : unknown;

interface SimpleTypes {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  readonly null: null;
}

/**
 * Defines a skill by methods with explicit schemas. Pass it to `createRuntime({ skills: […] })`, or export it from a file
 * in the skills folder. Throws a `SkillgateError` with code `SKILL_INVALID` for an invalid definition.
 */
export function defineSkill<const Inputs extends Readonly<Record<string, unknown>>>(
  source: SkillSource<Inputs>,
): DefinedSkill {
  const { name, description, methods, settings, healthCheck, guidance } = parseSkill(source);
  const runs = new Map(methods.map((method) => [method.definition.name, method.run]));
  const skill: DefinedSkill & Readonly<Record<typeof DEFINED, true>> = {
    [DEFINED]: true,
    name,
    description,
    source: "code",
    kind: "code",
    ...(guidance !== undefined && { guidance }),
    ...(settings !== undefined && { settings }),
    methods: Object.freeze(methods.map((method) => method.definition)),
    invoke: async (method, input, context) => {
      const run = runs.get(method.name);
      if (run === undefined) {
        throw createError("METHOD_UNKNOWN", `${name}.${method.name}`);
      }
      return run(input, context);
    },
    health: async (byDefault = isWell) => parseHealth(await (healthCheck ?? byDefault)()),
  };
  return Object.freeze(skill);
}

function isWell(): Health {
  return { healthy: true, message: "ok" };
}

/** Shared by all copies of this module, so that a skill file may import another copy. */
const DEFINED: unique symbol = Symbol.for("skillgate.skill");

export function isDefinedSkill(value: unknown): value is DefinedSkill {
  return isRecord(value) && DEFINED in value;
}

/** Parses the answer of a health check; an answer of another form means unhealthy. */
export function parseHealth(answer: unknown): Health {
  if (!isRecord(answer) || typeof answer["healthy"] !== "boolean") {
    return { healthy: false, message: "healthCheck() did not return { healthy, message }" };
  }
  const { healthy, message } = answer;
  return { healthy, message: typeof message === "string" && message !== "" ? message : healthy ? "ok" : "unhealthy" };
}

type RunMethod = (input: Readonly<Record<string, unknown>>, context: CallContext) => Promise<unknown>;

interface ParsedMethod {
  readonly definition: MethodDefinition;
  readonly run: RunMethod;
}

/** Validates a definition, which may be written in plain JavaScript without type checks. */
function parseSkill(source: unknown) {
  if (!isRecord(source)) throw invalid(`defineSkill expects an object, not ${quoted(source)}`);
  const { name, description, methods, settings, healthCheck, guidance, accounts } = source;
  if (typeof name !== "string" || !isMemberName(name)) throw invalid(`name must be an identifier, not ${quoted(name)}`);
  refuseUnknownFields(source, SKILL_FIELDS, quoted(name));
  if (typeof description !== "string") throw invalid(`"${name}" needs a description`);
  if (guidance !== undefined && typeof guidance !== "string") throw invalid(`guidance of "${name}" must be text`);
  if (accounts !== undefined && !isTextList(accounts)) throw invalid(`accounts of "${name}" must be a list of names`);
  if (!isRecord(methods) || Object.keys(methods).length === 0) throw invalid(`"${name}" needs methods: { … }`);
  if (healthCheck !== undefined && !isFunction(healthCheck)) {
    throw invalid(`healthCheck of "${name}" must be a function, not ${quoted(healthCheck)}`);
  }
  return {
    name,
    description,
    guidance,
    healthCheck,
    settings: settings === undefined ? undefined : readSchema(settings, "input", `settings of "${name}"`).json,
    methods: Object.entries(methods).map(([method, definition]) =>
      parseMethod(name, method, { source: definition, accounts }),
    ),
  };
}

interface WrittenMethod {
  readonly source: unknown;
  readonly accounts: readonly string[] | undefined;
}

function parseMethod(skill: string, name: string, { source, accounts }: WrittenMethod): ParsedMethod {
  const path = `${skill}.${name}`;
  if (!isMemberName(name)) throw invalid(`"${path}" cannot be the name of a method`);
  if (!isRecord(source)) throw invalid(`"${path}" must be { description, input, run }, not ${quoted(source)}`);
  refuseUnknownFields(source, METHOD_FIELDS, quoted(path));
  const { description, input, output, examples, run } = source;
  if (typeof description !== "string") throw invalid(`"${path}" needs a description`);
  if (!isFunction(run)) throw invalid(`run of "${path}" must be a function, not ${quoted(run)}`);
  const inputReader = readSchema(input, "input", `input of "${path}"`);
  const metadata = parseMetadata(source, path);
  const definition: MethodDefinition = {
    name,
    description,
    input: inputReader.json,
    ...(output !== undefined && { output: readSchema(output, "output", `output of "${path}"`).json }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(accounts !== undefined && accounts.length > 0 && { accounts: Object.freeze([...accounts]) }),
    ...(examples !== undefined && { examples: parseExamples(examples, path) }),
  };
  return {
    definition: Object.freeze(definition),
    run: async (input, context) => run(await inputReader.parse(input, path), context),
  };
}

const SKILL_FIELDS = ["name", "description", "methods", "settings", "healthCheck", "guidance", "accounts"];
const METHOD_FIELDS = ["description", "input", "output", "examples", "run", ...METADATA_FIELDS];

function refuseUnknownFields(source: object, fields: readonly string[], where: string): void {
  const unknown = Object.keys(source).find((field) => !fields.includes(field));
  if (unknown === undefined) return;
  throw invalid(`${where} has the unknown field ${describeUnknownField(unknown, fields)}`);
}

function parseExamples(examples: unknown, path: string): readonly MethodExample[] {
  if (Array.isArray(examples) && examples.every(isExample)) return examples;
  throw invalid(`examples of "${path}" must be a list of { request, code }`);
}

function isExample(example: unknown): example is MethodExample {
  return (
    isRecord(example) &&
    [example["request"], example["code"]].every((text) => text === undefined || typeof text === "string")
  );
}
