import { sentence, SkillgateError } from "../../errors.ts";
import { isRecord, type JsonSchema } from "../../model/json.ts";
import { describeUnknownName } from "../../shared/suggest.ts";
import { type Budgets, BUDGET_NAMES } from "../budgets.ts";
import type { AgentMode } from "../events.ts";

export const PROVIDERS = ["openai", "anthropic", "ollama", "scripted"] as const;

/** `openai` stands for every server with an OpenAI-compatible API. */
export type ProviderName = (typeof PROVIDERS)[number];

export const MODES: readonly AgentMode[] = ["auto", "tools", "code", "native"];

/** The section `agent` of settings.yaml. */
export interface AgentSettings {
  /** `provider:model`, or the model of the provider that `provider` names. */
  readonly model?: string;
  readonly provider?: ProviderName;
  readonly baseUrl?: string;
  /** The name of the variable that holds the key, instead of the provider's usual one. */
  readonly keyVariable?: string;
  readonly mode?: AgentMode;
  readonly budgets?: Partial<Budgets>;
  /** Size of the context window; Ollama is asked for it. */
  readonly contextTokens?: number;
  readonly price?: TokenPrice;
}

/** The price of a million tokens, in any currency. */
export interface TokenPrice {
  readonly input: number;
  readonly output: number;
}

/** Tests a value; the text says what is allowed, and the schema says it to editors. */
type SettingRule = readonly [form: string, isValid: (value: unknown) => boolean, schema: JsonSchema];

const TEXT: JsonSchema = { type: "string", pattern: "\\S" };
const AMOUNT: JsonSchema = { type: "number", minimum: 0 };

const isText = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";
const isPositive = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value) && value > 0;
const isName =
  (names: readonly unknown[]): ((value: unknown) => boolean) =>
  (value) =>
    names.includes(value);

const VARIABLE = /^[A-Za-z_]\w*$/;

const BUDGETS_SCHEMA: JsonSchema = {
  type: "object",
  additionalProperties: false,
  properties: Object.fromEntries(BUDGET_NAMES.map((name) => [name, { type: "number", exclusiveMinimum: 0 }])),
};

const PRICE_SCHEMA: JsonSchema = {
  type: "object",
  additionalProperties: false,
  required: ["input", "output"],
  properties: { input: AMOUNT, output: AMOUNT },
};

const RULES: Readonly<Record<keyof AgentSettings, SettingRule>> = {
  model: ["a name such as openai:gpt-5", isText, TEXT],
  provider: [`one of ${PROVIDERS.join(", ")}`, isName(PROVIDERS), { enum: PROVIDERS }],
  baseUrl: ["an address such as http://127.0.0.1:8080/v1", isText, TEXT],
  keyVariable: [
    "the name of a variable such as OPENAI_API_KEY",
    (value) => typeof value === "string" && VARIABLE.test(value),
    { type: "string", pattern: VARIABLE.source },
  ],
  mode: [`one of ${MODES.join(", ")}`, isName(MODES), { enum: MODES, default: "auto" }],
  budgets: [`numbers above 0 for ${BUDGET_NAMES.join(", ")}`, isBudgets, BUDGETS_SCHEMA],
  contextTokens: [
    "a whole number from 1000",
    (value) => Number.isInteger(value) && Number(value) >= 1_000,
    { type: "integer", minimum: 1_000 },
  ],
  price: ["the price of a million tokens, as in { input: 3, output: 15 }", isPrice, PRICE_SCHEMA],
};

/** The section `agent` as a JSON Schema. */
export const AGENT_SCHEMA: JsonSchema = {
  type: "object",
  description: "The model of `skillgate ask` and `skillgate chat`.",
  additionalProperties: false,
  properties: Object.fromEntries(
    Object.entries(RULES).map(([name, [form, , schema]]) => [name, { description: form, ...schema }]),
  ),
};

function isPrice(value: unknown): boolean {
  const isAmount = (amount: unknown): boolean => typeof amount === "number" && amount >= 0;
  return isRecord(value) && isAmount(value["input"]) && isAmount(value["output"]) && Object.keys(value).length === 2;
}

function isBudgets(value: unknown): boolean {
  const isBudget = ([name, limit]: readonly [string, unknown]): boolean =>
    BUDGET_NAMES.some((each) => each === name) && isPositive(limit);
  return isRecord(value) && Object.entries(value).every(isBudget);
}

/** Returns budgets of a program or of the settings. Throws `OPTION_INVALID`. */
export function parseBudgets(budgets: Partial<Budgets>): Partial<Budgets> {
  if (isBudgets(budgets)) return budgets;
  const what = `budgets must be ${RULES.budgets[0]}`;
  throw new SkillgateError("OPTION_INVALID", sentence("OPTION_INVALID", what));
}

/** Parses the section `agent` of settings.yaml, or the options of a program. Throws `CONFIG_INVALID`. */
export function parseAgentSettings(section: unknown): AgentSettings {
  if (section === undefined || section === null) return {};
  if (!isRecord(section)) throw invalid("agent must be a section, as in agent: { model: openai:gpt-5 }");
  for (const [name, value] of Object.entries(section)) {
    const rule = (RULES as Readonly<Record<string, SettingRule | undefined>>)[name];
    if (rule === undefined) throw invalid(describeUnknownName("setting of agent", name, Object.keys(RULES)).message);
    if (!rule[1](value)) throw invalid(`agent.${name} must be ${rule[0]}`);
  }
  return section;
}

function invalid(what: string): SkillgateError {
  return new SkillgateError("CONFIG_INVALID", sentence("CONFIG_INVALID", what), {
    fix: "Correct the section agent of settings.yaml",
  });
}
