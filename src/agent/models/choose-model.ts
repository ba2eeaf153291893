import { MODEL_KEY_VARIABLES } from "../../config/index.ts";
import { sentence, SkillgateError } from "../../errors.ts";
import { describeUnknownName } from "../../shared/suggest.ts";
import { type AgentSettings, PROVIDERS, type ProviderName } from "./settings.ts";

/** Returns the value of an environment variable. */
export type ReadVariable = (name: string) => string | undefined;

/** A model with the address and the key of its server. */
export interface ModelChoice {
  readonly provider: ProviderName;
  /** The name of the model; the path of the file for `scripted`. */
  readonly name: string;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** The variable that holds the key; empty for providers that need none. */
  readonly keyVariable: string;
  readonly contextTokens: number;
}

/** The usual variables, address and size of the context window of a provider. */
interface ProviderDefaults {
  readonly baseUrl: string;
  readonly urlVariable: string;
  readonly keyVariable: string;
  readonly modelVariable: string;
  readonly contextTokens: number;
  /** The model that is used if only the key is set. */
  readonly model?: string;
}

const DEFAULTS: Readonly<Record<Exclude<ProviderName, "scripted">, ProviderDefaults>> = {
  openai: {
    baseUrl: "https://api.openai.com/v1",
    urlVariable: "OPENAI_BASE_URL",
    keyVariable: MODEL_KEY_VARIABLES.openai,
    modelVariable: "OPENAI_MODEL",
    contextTokens: 128_000,
    model: "gpt-5-mini",
  },
  anthropic: {
    baseUrl: "https://api.anthropic.com/v1",
    urlVariable: "ANTHROPIC_BASE_URL",
    keyVariable: MODEL_KEY_VARIABLES.anthropic,
    modelVariable: "ANTHROPIC_MODEL",
    contextTokens: 200_000,
    model: "claude-sonnet-4-5",
  },
  ollama: {
    baseUrl: "http://127.0.0.1:11434",
    urlVariable: "OLLAMA_HOST",
    keyVariable: MODEL_KEY_VARIABLES.ollama,
    modelVariable: "OLLAMA_MODEL",
    contextTokens: 16_384,
  },
};

/** A script needs no window; it is as large as that of a usual model. */
const SCRIPTED_CONTEXT_TOKENS = 128_000;

/**
 * Chooses the model: `name` (`provider:model`, or `model`), else the settings, else the variables of the environment.
 * Throws `MODEL_MISSING`, and `OPTION_INVALID` for an unknown provider.
 */
export function chooseModel(
  name: string | undefined,
  settings: AgentSettings,
  readVariable: ReadVariable,
): ModelChoice {
  const written = name ?? settings.model;
  const { provider, model } =
    written === undefined ? findByKey(settings, readVariable) : parseModelName(written, settings);
  if (provider === "scripted") return createScripted(model, settings);
  const defaults = DEFAULTS[provider];
  // The address and the key in the settings are those of the provider in the settings.
  const own = isProviderOfSettings(provider, settings) ? settings : {};
  const url = own.baseUrl ?? readNonEmpty(readVariable, defaults.urlVariable) ?? defaults.baseUrl;
  const keyVariable = own.keyVariable ?? defaults.keyVariable;
  const apiKey = readNonEmpty(readVariable, keyVariable);
  if (apiKey === undefined && url === defaults.baseUrl && provider !== "ollama")
    throw missing(`the variable ${keyVariable} is not set, which holds the key for ${provider}:${model}`);
  return {
    provider,
    name: model,
    baseUrl: provider === "ollama" ? toHttpUrl(url) : requireUrl(url, provider),
    apiKey,
    keyVariable,
    contextTokens: settings.contextTokens ?? defaults.contextTokens,
  };
}

function createScripted(file: string, settings: AgentSettings): ModelChoice {
  if (file === "") throw missing("write the file of the script, as in scripted:replies.yaml");
  const contextTokens = settings.contextTokens ?? SCRIPTED_CONTEXT_TOKENS;
  return { provider: "scripted", name: file, baseUrl: "", apiKey: undefined, keyVariable: "", contextTokens };
}

function isProviderOfSettings(provider: ProviderName, settings: AgentSettings): boolean {
  const name = settings.provider ?? splitName(settings.model ?? "").provider;
  return name === undefined || name === provider;
}

/** `ollama:qwen3:8b` is a model of Ollama, `qwen3:8b` is one of the provider that the settings name. */
function parseModelName(
  written: string,
  settings: AgentSettings,
): { readonly provider: ProviderName; readonly model: string } {
  const { provider, model } = splitName(written);
  if (provider !== undefined) return { provider, model };
  const implied = settings.provider ?? findFamily(written);
  if (implied !== undefined) return { provider: implied, model: written };
  const [prefix = ""] = written.split(":");
  const otherwise = `write ${PROVIDERS.join(":…, ")}:…`;
  const { message } = describeUnknownName("provider of the model", prefix, PROVIDERS, { otherwise });
  throw new SkillgateError(
    "OPTION_INVALID",
    sentence("OPTION_INVALID", `model ${JSON.stringify(written)}: ${message}`),
  );
}

function splitName(written: string): { readonly provider: ProviderName | undefined; readonly model: string } {
  const at = written.indexOf(":");
  const provider = PROVIDERS.find((name) => name === written.slice(0, Math.max(at, 0)));
  return provider === undefined ? { provider, model: written } : { provider, model: written.slice(at + 1).trim() };
}

function findFamily(model: string): ProviderName | undefined {
  if (model.startsWith("claude-")) return "anthropic";
  return /^(?:gpt-|chatgpt-|o\d)/.test(model) ? "openai" : undefined;
}

/** The first provider whose variables are set. */
function findByKey(
  settings: AgentSettings,
  readVariable: ReadVariable,
): { readonly provider: ProviderName; readonly model: string } {
  const names = settings.provider === undefined ? (["openai", "anthropic", "ollama"] as const) : [settings.provider];
  for (const provider of names) {
    if (provider === "scripted") continue;
    const { keyVariable, urlVariable, modelVariable, model } = DEFAULTS[provider];
    const isSet = [keyVariable, urlVariable, modelVariable].some((name) => readNonEmpty(readVariable, name));
    const choice =
      readNonEmpty(readVariable, modelVariable) ?? (readNonEmpty(readVariable, urlVariable) ? undefined : model);
    if ((isSet || settings.provider !== undefined) && choice !== undefined) return { provider, model: choice };
    if (isSet) throw missing(`${provider} is set up, but no model is named; write --model ${provider}:name`);
  }
  throw missing("neither --model nor agent.model in settings.yaml names one, and no key of a provider is set");
}

const HOW_TO_GET_A_MODEL = `A service: export ANTHROPIC_API_KEY=… or OPENAI_API_KEY=…, then write --model anthropic:claude-sonnet-4-5 or openai:gpt-5
On this machine: ollama pull qwen3, then write --model ollama:qwen3
Another server: export OPENAI_BASE_URL=http://127.0.0.1:8080/v1, then write --model openai:name`;

function readNonEmpty(readVariable: ReadVariable, name: string): string | undefined {
  const value = readVariable(name)?.trim();
  return value === "" ? undefined : value;
}

function missing(why: string): SkillgateError {
  return new SkillgateError("MODEL_MISSING", sentence("MODEL_MISSING", why), { fix: HOW_TO_GET_A_MODEL });
}

/** `OLLAMA_HOST` may be a bare host, and `0.0.0.0` is where the server listens. */
function toHttpUrl(host: string): string {
  const url = /^https?:\/\//.test(host) ? host : `http://${host}`;
  const parsed = parseUrl(url, "ollama");
  if (parsed.hostname === "0.0.0.0") parsed.hostname = "127.0.0.1";
  if (parsed.port === "" && !/^https?:\/\//.test(host)) parsed.port = "11434";
  return parsed.href.replace(/\/$/, "");
}

function requireUrl(text: string, provider: ProviderName): string {
  return parseUrl(text, provider).href.replace(/\/$/, "");
}

function parseUrl(text: string, provider: ProviderName): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url;
  const what = `the address of ${provider} is ${JSON.stringify(text)}; write one that begins with http:// or https://`;
  throw new SkillgateError("OPTION_INVALID", sentence("OPTION_INVALID", what));
}
