import { MCP_STARTS, RUNTIME_SECTION_SCHEMAS } from "../../config/index.ts";
import { createError, type SkillgateError } from "../../errors.ts";
import { isRecord, type JsonSchema } from "../../model/json.ts";
import type { ProvidedSkill } from "../../model/skill.ts";
import { CHANGE_POLICIES } from "../../shared/changes/definition-changes.ts";
import { findSettingMistakes, findSectionSchema, withForm } from "../../shared/settings/check-settings.ts";
import { describeUnknownField } from "../../shared/suggest.ts";
import type { McpServerOptions } from "../mcp-options.ts";
import type { RuntimeOptions } from "../options.ts";

/** Throws `OPTION_INVALID` for the options that are not of their type: a program in plain JavaScript may pass anything. */
export function requireOptions(options: unknown): asserts options is RuntimeOptions {
  if (!isRecord(options)) throw createOptionError("the options must be an object, as in createRuntime({ skills: [] })");
  const mistakes = Object.entries(options).flatMap(([name, value]): readonly { readonly error: string }[] => {
    if (value === undefined) return [];
    if (FUNCTIONS.has(name)) return typeof value === "function" ? [] : [{ error: `${name} must be a function` }];
    if (Object.hasOwn(OPTIONS, name)) return findSettingMistakes(OPTIONS[name as keyof typeof OPTIONS], value, [name]);
    if (NUMBERS.has(name)) return []; // read by mergeLimits and mergeTimeouts
    const names = [...Object.keys(OPTIONS), ...FUNCTIONS, ...NUMBERS];
    return [{ error: `createRuntime has no option ${describeUnknownField(name, names)}` }];
  });
  if (mistakes.length > 0) throw createOptionError(mistakes.map(({ error }) => error).join("; "));
}

/** Returns an option if it is a skill. Throws `OPTION_INVALID`. */
export function parseSkill(value: unknown, index: number): ProvidedSkill {
  if (
    isRecord(value) &&
    typeof value["name"] === "string" &&
    Array.isArray(value["methods"]) &&
    typeof value["invoke"] === "function"
  ) {
    return value as unknown as ProvidedSkill;
  }
  throw createOptionError(`skills[${index}] is no skill; make it with defineSkill({ … })`);
}

/** Creates the error of an option that is not valid. */
export function createOptionError(values: string): SkillgateError {
  return createError("OPTION_INVALID", values);
}

const FUNCTIONS: ReadonlySet<string> = new Set(["log", "approve"] satisfies (keyof RuntimeOptions)[]);

const NUMBERS: ReadonlySet<string> = new Set(["limits", "timeouts"] satisfies (keyof RuntimeOptions)[]);

const FLAG: JsonSchema = { type: "boolean" };
const OBJECT = withForm("an object", { type: "object" });
const FILE = withForm("the path of a file", { type: "string" });
const FOLDER = withForm("the path of a folder", { type: "string" });
const NETWORK = withForm("the settings of a network, or false", { anyOf: [{ type: "object" }, { const: false }] });

type OptionSchemas<Options> = Readonly<Record<keyof Options, JsonSchema>>;

const OPTIONS: OptionSchemas<Omit<RuntimeOptions, "log" | "approve" | "limits" | "timeouts">> = {
  skillsDir: withForm("the path of a folder, or false", { anyOf: [{ type: "string" }, { const: false }] }),
  automationsDir: FOLDER,
  skills: withForm("a list of skills; make each with defineSkill({ … })", { type: "array" }),
  mcpServers: withForm('an object of servers by name, as in { files: { command: "npx", args: [] } }', {
    type: "object",
  }),
  mcp: withForm("an object", {
    type: "object",
    additionalProperties: false,
    properties: {
      start: { enum: MCP_STARTS },
      changes: { enum: CHANGE_POLICIES },
      idleMs: { type: "number", exclusiveMinimum: 0 },
      stateDir: withForm("the path of a folder, or false", { anyOf: [{ type: "string" }, { const: false }] }),
      authorize: {}, // a function, which JSON Schema cannot describe
      client: OBJECT,
    } satisfies OptionSchemas<McpServerOptions>,
  }),
  sources: RUNTIME_SECTION_SCHEMAS.sources,
  accounts: RUNTIME_SECTION_SCHEMAS.accounts,
  settings: FILE,
  mcpConfig: FILE,
  policy: FILE,
  store: FOLDER,
  cwd: FOLDER,
  discover: FLAG,
  person: OBJECT,
  trust: { enum: ["given", "recorded"] },
  onlyServers: { type: "array", items: { type: "string" } },
  audit: { enum: ["off", "store"] },
  approvals: extend(RUNTIME_SECTION_SCHEMAS.approvals, { wait: { enum: [true, false, "programs"] } }),
  nodes: NETWORK,
  executors: NETWORK,
  runs: extend(RUNTIME_SECTION_SCHEMAS.runs, {}),
  secrets: RUNTIME_SECTION_SCHEMAS.secrets,
  automations: RUNTIME_SECTION_SCHEMAS.automations,
  telemetry: { type: "object", properties: { content: FLAG }, additionalProperties: false },
  lazy: FLAG,
  deferSkills: FLAG,
  inspectSkills: OBJECT,
  watch: FLAG,
  typecheck: FLAG,
  observe: RUNTIME_SECTION_SCHEMAS.observe,
  catalogTokens: RUNTIME_SECTION_SCHEMAS.catalogTokens,
  workers: { type: "integer", minimum: 1 },
  env: OBJECT,
};

/** Returns the schema of a section without its short form, with the settings that only a program has. */
function extend(schema: JsonSchema, more: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const section = findSectionSchema(schema);
  return { ...section, properties: { ...(section?.["properties"] as JsonSchema), ...more } };
}
