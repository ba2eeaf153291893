import type { Capability, MethodMetadata } from "../model/skill.ts";
import { invalid, quoted } from "./standard-schema.ts";

/** Returns the metadata among the fields of a method. Throws for an invalid value. */
export function parseMetadata(source: Readonly<Record<string, unknown>>, path: string): Partial<MethodMetadata> {
  const fields = Object.entries(METADATA).filter(([field]) => source[field] !== undefined);
  for (const [field, { expected, fits }] of fields) {
    if (!fits(source[field])) throw invalid(`${field} of "${path}" must be ${expected}, not ${quoted(source[field])}`);
  }
  return Object.freeze(Object.fromEntries(fields.map(([field]) => [field, source[field]])));
}

interface MetadataField {
  readonly expected: string;
  readonly fits: (value: unknown) => boolean;
}

const TEXT: MetadataField = { expected: "text", fits: (value) => typeof value === "string" };
const TEXTS: MetadataField = {
  expected: "a list of strings",
  fits: (value) => Array.isArray(value) && value.every(TEXT.fits),
};
const SWITCH: MetadataField = { expected: "true or false", fits: (value) => typeof value === "boolean" };
const AMOUNT: MetadataField = {
  expected: "a number of 0 or more",
  fits: (value) => typeof value === "number" && Number.isFinite(value) && value >= 0,
};

/** The capabilities that a method can declare. */
export const CAPABILITIES: readonly Capability[] = [
  "web_search",
  "documentation",
  "api_call",
  "code_execution",
  "database",
  "computation",
  "file_system",
  "analysis",
  "communication",
];

const METADATA: Readonly<Record<keyof MethodMetadata, MetadataField>> = {
  category: TEXT,
  capabilities: {
    expected: `a list of ${CAPABILITIES.join(", ")}`,
    fits: (value) => Array.isArray(value) && value.every((each) => CAPABILITIES.includes(each)),
  },
  tags: TEXTS,
  version: {
    expected: 'a semantic version such as "1.0.0"',
    fits: (value) => typeof value === "string" && /^\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/.test(value),
  },
  deprecated: {
    expected: "false, or a sentence that says what to use instead",
    fits: (value) => value === false || (typeof value === "string" && value !== ""),
  },
  author: TEXT,
  requiredScopes: TEXTS,
  sensitivity: choice("low", "medium", "high"),
  approval: choice("none", "user", "admin"),
  cooldownSeconds: AMOUNT,
  rateLimit: AMOUNT,
  timeoutMs: {
    expected: "a number of milliseconds above 0",
    fits: (value) => AMOUNT.fits(value) && value !== 0,
  },
  cacheTtlSeconds: AMOUNT,
  readOnly: SWITCH,
  destructive: SWITCH,
  idempotent: SWITCH,
  openWorld: SWITCH,
  taskSupport: choice("optional", "required", "forbidden"),
};

/** The names of all metadata. */
export const METADATA_FIELDS: readonly string[] = Object.keys(METADATA);

function choice(...values: readonly string[]): MetadataField {
  return { expected: values.join(", "), fits: (value) => typeof value === "string" && values.includes(value) };
}
