import { join } from "node:path";

import type { JsonSchema } from "../../../model/json.ts";
import { PACKAGE_FOLDER } from "../package.ts";

/** The schema of settings.yaml in this package. */
export const SCHEMA_FILE = join(PACKAGE_FOLDER, "docs", "settings.schema.json");

/** Creates the JSON Schema of settings.yaml from the tables that the parsers of its sections use. */
export async function createSettingsSchema(): Promise<JsonSchema> {
  const [{ RUNTIME_SECTION_SCHEMAS }, { AGENT_SCHEMA }, { SERVER_SCHEMA }] = await Promise.all([
    import("../../../config/index.ts"),
    import("../../../agent/index.ts"),
    import("../../http/index.ts"),
  ]);
  const sections = { ...RUNTIME_SECTION_SCHEMAS, server: SERVER_SCHEMA, agent: AGENT_SCHEMA };
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "settings.yaml of Skillgate",
    type: "object",
    additionalProperties: false,
    properties: Object.fromEntries(Object.entries(sections).map(([name, schema]) => [name, allowEmpty(schema)])),
  };
}

/** A section without settings is `null` in YAML. */
function allowEmpty(schema: JsonSchema): JsonSchema {
  const { description, default: value, ...rest } = schema;
  const heading = { description, ...(value !== undefined && { default: value }) };
  return { ...heading, anyOf: [rest, { type: "null" }] };
}
