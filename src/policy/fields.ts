import type { JsonSchema } from "../model/json.ts";
import { type Decision, DECISIONS } from "../model/policy.ts";
import type { MethodMetadata } from "../model/skill.ts";

/** The fields of a row, as they were written. */
export interface RowFields {
  readonly decision?: Decision;
  readonly required_scopes?: readonly string[];
  readonly sensitivity?: MethodMetadata["sensitivity"];
  /** Calls per minute; 0 means no limit. */
  readonly rate_limit?: number;
  readonly requires_approval?: boolean;
  readonly approval?: MethodMetadata["approval"];
  readonly cooldown_seconds?: number;
  /** In seconds. */
  readonly timeout?: number;
}

interface Field {
  /** The form of the value, for messages. */
  readonly form: string;
  readonly schema: JsonSchema;
  readonly isValid: (value: unknown) => boolean;
}

/** The longest delay of a timer, in seconds. */
const MAX_TIMEOUT_SECONDS = 2_147_483;
const MAX_COOLDOWN_SECONDS = 31 * 24 * 3_600;
const MAX_RATE = 1_000_000;

/** The fields of a row, in the order in which they are written. */
export const FIELDS: Readonly<Record<keyof RowFields, Field>> = {
  decision: choice(DECISIONS, "Make the call, ask a person first, or refuse it."),
  required_scopes: {
    form: "a list of scopes, as in [mail:send]",
    schema: {
      type: "array",
      items: { type: "string", minLength: 1 },
      description: "Scopes that the caller must hold, in addition to those that the method requires.",
    },
    isValid: isTextList,
  },
  sensitivity: choice(["low", "medium", "high"], "A label, shown to people."),
  rate_limit: number("integer", MAX_RATE, "Calls per minute over all callers; 0 means no limit."),
  requires_approval: {
    form: "true or false",
    schema: { type: "boolean", description: "Asks the user before each call." },
    isValid: (value) => typeof value === "boolean",
  },
  approval: choice(["none", "user", "admin"], "The person who must approve each call."),
  cooldown_seconds: number("number", MAX_COOLDOWN_SECONDS, "The time between two calls of one caller."),
  timeout: number("number", MAX_TIMEOUT_SECONDS, "The time limit of a call, in seconds.", { isAboveZero: true }),
};

/** The fields of a flow. */
export const FLOW_FIELDS = {
  from: "Methods whose results are followed: a path, a pattern, a name or a capability.",
  to: "Methods that receive them: a path, a pattern, a name or a capability.",
} as const;

function choice(values: readonly string[], description: string): Field {
  const form = `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`;
  return {
    form,
    schema: { enum: [...values], description },
    isValid: (value) => values.some((each) => each === value),
  };
}

function number(type: "integer" | "number", maximum: number, description: string, { isAboveZero = false } = {}): Field {
  return {
    form: `a ${type === "integer" ? "whole " : ""}number ${isAboveZero ? "above 0" : "from 0"} to ${maximum}`,
    schema: { type, maximum, description, ...(isAboveZero ? { exclusiveMinimum: 0 } : { minimum: 0 }) },
    isValid: (value) =>
      typeof value === "number" &&
      (type === "number" || Number.isInteger(value)) &&
      (isAboveZero ? value > 0 : value >= 0) &&
      value <= maximum,
  };
}

/** True for a list of texts that are not empty. */
export function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string" && each !== "");
}

/** `flows` is not the key of a row. */
const KEY_PATTERN = String.raw`^(?!flows$)[\w*$@:-]+(\.[\w*$@:-]+)?$`;

/** The JSON Schema of `policies/tools.yaml`, for editors. Ambiguous patterns are found only by `policy check`. */
export const POLICY_SCHEMA: JsonSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Skillgate policy",
  description: "Rules for methods. Each key is a path, a pattern, a name of methods, or a capability.",
  type: "object",
  properties: {
    flows: {
      description: "Rules for results of one method in the arguments of another.",
      type: ["array", "null"],
      items: {
        type: "object",
        properties: {
          ...Object.fromEntries(
            Object.entries(FLOW_FIELDS).map(([name, description]) => [
              name,
              { type: "string", pattern: KEY_PATTERN, description },
            ]),
          ),
          decision: FIELDS.decision.schema,
        },
        required: [...Object.keys(FLOW_FIELDS), "decision"],
        additionalProperties: false,
      },
    },
  },
  patternProperties: { [KEY_PATTERN]: { $ref: "#/$defs/row" } },
  additionalProperties: false,
  $defs: {
    row: {
      type: "object",
      minProperties: 1,
      properties: Object.fromEntries(Object.entries(FIELDS).map(([name, { schema }]) => [name, schema])),
      additionalProperties: false,
    },
  },
};
