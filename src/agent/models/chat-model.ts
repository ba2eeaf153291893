import type { LanguageModelV3 } from "@ai-sdk/provider";

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
