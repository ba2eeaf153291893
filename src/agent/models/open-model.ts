import { readFile } from "node:fs/promises";
import type { LanguageModelV3 } from "@ai-sdk/provider";

import { getMessage, sentence, SkillgateError } from "../../errors.ts";
import { fetchSameServer } from "../../shared/http/fetch-same-server.ts";
import { explainMissing } from "../../shared/package/optional-package.ts";
import type { ModelChoice } from "./choose-model.ts";

/** Opens a model. The library of its provider is imported here, and only then. */
export async function openModel(choice: ModelChoice): Promise<OpenedModel> {
  const { provider, name, contextTokens, apiKey } = choice;
  return {
    model: await createChatModel(choice),
    label: `${provider}:${name}`,
    contextTokens,
    secrets: apiKey === undefined ? [] : [apiKey],
  };
}

async function createChatModel(choice: ModelChoice): Promise<ChatModel> {
  const { provider, name, baseUrl, apiKey } = choice;
  switch (provider) {
    case "openai":
      return createCompatible("openai", choice);
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic").catch(
        explainMissing("a model of Anthropic", "@ai-sdk/anthropic"),
      );
      return createAnthropic({ baseURL: baseUrl, apiKey: apiKey ?? "none", fetch: fetchSameServer })(name);
    }
    case "ollama": {
      // An address that ends in /v1 is that of the OpenAI-compatible API, which knows no num_ctx.
      if (baseUrl.endsWith("/v1")) return createCompatible("ollama", choice);
      const { createOllamaModel } = await import("./ollama.ts");
      return createOllamaModel(choice);
    }
    case "scripted": {
      const { createScriptedModel, parseScript } = await import("./scripted.ts");
      return createScriptedModel(name, parseScript(await readScript(name), name));
    }
  }
}

async function createCompatible(provider: string, { name, baseUrl, apiKey }: ModelChoice): Promise<ChatModel> {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible").catch(
    explainMissing(`a model of ${provider} over the API of OpenAI`, "@ai-sdk/openai-compatible"),
  );
  const create = createOpenAICompatible({
    name: provider,
    baseURL: baseUrl,
    includeUsage: true,
    fetch: fetchSameServer,
    ...(apiKey !== undefined && { apiKey }),
  });
  return create.chatModel(name);
}

async function readScript(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (thrown) {
    const what = `cannot read the script ${JSON.stringify(file)}: ${getMessage(thrown)}`;
    throw new SkillgateError("OPTION_INVALID", sentence("OPTION_INVALID", what));
  }
}

/** A language model of the AI SDK 6, as far as the agent uses it. */
export type ChatModel = Pick<LanguageModelV3, "provider" | "modelId" | "doStream">;

/** A model with the facts that the loop needs. */
export interface OpenedModel {
  readonly model: ChatModel;
  /** `openai:gpt-5` */
  readonly label: string;
  /** Size of the context window, in tokens. */
  readonly contextTokens: number;
  /** The keys of the provider, to be masked wherever text is shown. */
  readonly secrets: readonly string[];
}
