import { readFileSync } from "node:fs";

import type { JsonSchema } from "../../src/model/json.ts";

/** A method of the stub skills: who may call it, what it takes, and a function that stands for it. */
export interface Stub {
  readonly permission: "allow" | "deny" | "approve" | "hidden";
  /** `string`, `number[]` or `any` by name; `?` for what need not be there. */
  readonly params: Readonly<Record<string, string>>;
  readonly impl: string;
}

/** The skills of the corpus of programs. */
export const STUBS = JSON.parse(readFileSync(new URL("../fixtures/stubs.json", import.meta.url), "utf8")) as {
  readonly canaries: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
  /** By path. */
  readonly tools: Readonly<Record<string, Stub>>;
};

/** The input schema of a stub. */
export function toInputSchema({ params }: Stub): JsonSchema {
  const names = Object.entries(params);
  return {
    type: "object",
    properties: Object.fromEntries(names.map(([name, type]) => [name, toSchema(type.replace("?", ""))])),
    required: names.filter(([, type]) => !type.endsWith("?")).map(([name]) => name),
    additionalProperties: false,
  };
}

function toSchema(type: string): JsonSchema {
  if (type === "any") return {};
  return type.endsWith("[]") ? { type: "array", items: { type: type.slice(0, -2) } } : { type };
}
