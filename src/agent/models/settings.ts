import { sentence, SkillgateError } from "../../errors.ts";
import type { JsonSchema } from "../../model/json.ts";
import { findSettingMistakes, withForm } from "../../shared/settings/check-settings.ts";
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

const TEXT: JsonSchema = { type: "string", pattern: "\\S" };
const AMOUNT: JsonSchema = { type: "number", minimum: 0 };

const BUDGETS = setting(`numbers above 0 for ${BUDGET_NAMES.join(", ")}`, {
  type: "object",
  additionalProperties: false,
  properties: Object.fromEntries(BUDGET_NAMES.map((name) => [name, { type: "number", exclusiveMinimum: 0 }])),
});

/** The section `agent` as a JSON Schema. */
export const AGENT_SCHEMA: JsonSchema = {
  type: "object",
  description: "The model of `skillgate ask` and `skillgate chat`.",
  additionalProperties: false,
  properties: {
    model: setting("a name such as openai:gpt-5", TEXT),
    provider: setting(`one of ${PROVIDERS.join(", ")}`, { enum: PROVIDERS }),
    baseUrl: setting("an address such as http://127.0.0.1:8080/v1", TEXT),
    keyVariable: setting("the name of a variable such as OPENAI_API_KEY", {
      type: "string",
      pattern: "^[A-Za-z_]\\w*$",
    }),
    mode: setting(`one of ${MODES.join(", ")}`, { enum: MODES, default: "auto" }),
    budgets: BUDGETS,
    contextTokens: setting("a whole number from 1000", { type: "integer", minimum: 1_000 }),
    price: setting("the price of a million tokens, as in { input: 3, output: 15 }", {
      type: "object",
      additionalProperties: false,
      required: ["input", "output"],
      properties: { input: AMOUNT, output: AMOUNT },
    }),
  } satisfies Readonly<Record<keyof AgentSettings, JsonSchema>>,
};

/** A setting whose meaning is what it must be. */
function setting(form: string, schema: JsonSchema): JsonSchema {
  return withForm(form, { description: form, ...schema });
}

/** Returns budgets of a program or of the settings. Throws `OPTION_INVALID`. */
export function parseBudgets(budgets: Partial<Budgets>): Partial<Budgets> {
  const [mistake] = findSettingMistakes(BUDGETS, budgets, ["budgets"]);
  if (mistake === undefined) return budgets;
  throw new SkillgateError("OPTION_INVALID", sentence("OPTION_INVALID", mistake.error));
}

/** Parses the section `agent` of settings.yaml, or the options of a program. Throws `CONFIG_INVALID`. */
export function parseAgentSettings(section: unknown): AgentSettings {
  if (section === undefined || section === null) return {};
  const schema = withForm("a section, as in agent: { model: openai:gpt-5 }", AGENT_SCHEMA);
  const [mistake] = findSettingMistakes(schema, section, ["agent"]);
  if (mistake === undefined) return section;
  throw new SkillgateError("CONFIG_INVALID", sentence("CONFIG_INVALID", mistake.error), {
    fix: "Correct the section agent of settings.yaml",
  });
}
