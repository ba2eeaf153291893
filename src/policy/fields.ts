import type { JsonSchema } from "../model/json.ts";
import { type Decision, DECISIONS } from "../model/policy.ts";
import type { MethodMetadata } from "../model/skill.ts";
import { withForm } from "../shared/settings/check-settings.ts";

/** The fields of a row, as they were written. */
export interface RowFields {
  readonly decision?: Decision;
  readonly required_scopes?: readonly string[];
  readonly sensitivity?: MethodMetadata["sensitivity"];
  /** Calls per minute; 0 means no limit. */
  readonly rate_limit?: number;
  /** `writes` asks before calls of methods that do not only read. */
  readonly requires_approval?: boolean | "writes";
  readonly approval?: MethodMetadata["approval"];
  readonly cooldown_seconds?: number;
  /** In seconds. */
  readonly timeout?: number;
}

/** True if a row asks before calls of a method with such metadata. */
export function asksByRow(
  { decision, requires_approval: requires, approval = "none" }: RowFields,
  { readOnly }: Pick<MethodMetadata, "readOnly">,
): boolean {
  return decision === "ask" || requires === true || (requires === "writes" && !readOnly) || approval !== "none";
}

/** The longest delay of a timer, in seconds. */
const MAX_TIMEOUT_SECONDS = 2_147_483;
const MAX_COOLDOWN_SECONDS = 31 * 24 * 3_600;
const MAX_RATE = 1_000_000;

/** The schemas of the fields of a row, in the order in which they are written. */
export const FIELDS: Readonly<Record<keyof RowFields, JsonSchema>> = {
  decision: { enum: DECISIONS, description: "Make the call, ask a person first, or refuse it." },
  required_scopes: withForm("a list of scopes, as in [mail:send]", {
    type: "array",
    items: { type: "string", minLength: 1 },
    description: "Scopes that the caller must hold, in addition to those that the method requires.",
  }),
  sensitivity: { enum: ["low", "medium", "high"], description: "A label, shown to people." },
  rate_limit: {
    type: "integer",
    maximum: MAX_RATE,
    description: "Calls per minute over all callers; 0 means no limit.",
    minimum: 0,
  },
  requires_approval: withForm("true, false or writes", {
    enum: [true, false, "writes"],
    description: "Asks the user before each call, or before calls of methods that do not only read.",
  }),
  approval: { enum: ["none", "user", "admin"], description: "The person who must approve each call." },
  cooldown_seconds: {
    type: "number",
    maximum: MAX_COOLDOWN_SECONDS,
    description: "The time between two calls of one caller.",
    minimum: 0,
  },
  timeout: {
    type: "number",
    maximum: MAX_TIMEOUT_SECONDS,
    description: "The time limit of a call, in seconds.",
    exclusiveMinimum: 0,
  },
};

/** The fields of a flow. */
export const FLOW_FIELDS = {
  from: "Methods whose results are followed: a path, a pattern, a name or a capability.",
  to: "Methods that receive them: a path, a pattern, a name or a capability.",
} as const;

/** True for a list of texts that are not empty. */
export function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string" && each !== "");
}

/** `flows` and `roles` are not keys of rows. */
const KEY_PATTERN = String.raw`^(?!(?:flows|roles)$)[\w*$@:-]+(\.[\w*$@:-]+)?$`;

/** The JSON Schema of `policies/tools.yaml`, for editors. Ambiguous patterns are found only by `policy check`. */
export const POLICY_SCHEMA: JsonSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Skillgate policy",
  description: "Rules for methods. Each key is a path, a pattern, a name of methods, or a capability.",
  type: "object",
  properties: {
    roles: {
      description: "Scopes by the name of a role; a * stands for any characters.",
      type: ["object", "null"],
      additionalProperties: { type: "array", items: { type: "string", minLength: 1 } },
    },
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
          decision: FIELDS.decision,
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
      properties: FIELDS,
      additionalProperties: false,
    },
  },
};
