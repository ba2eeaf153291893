import { setTimeout as wait } from "node:timers/promises";

import type { LanguageModelV3CallOptions, LanguageModelV3FunctionTool } from "@ai-sdk/provider";

import type { BudgetMeter } from "./budgets.ts";
import { fitContext } from "./fit-context.ts";
import type { AgentEvent } from "./events.ts";
import type { ChatMessage } from "./messages.ts";
import type { OpenedModel } from "./models/open-model.ts";
import { type ModelFailure, toModelFailure } from "./models/model-errors.ts";
import { toPrompt } from "./models/prompt.ts";
import { readReply, type Reply } from "./reply/read-reply.ts";

/** A request to a model. */
export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ChatMessage[];
  /** Empty for a request without tools. */
  readonly tools: readonly LanguageModelV3FunctionTool[];
  /** The word of the fences of programs; `undefined` if the reply is not read for programs. */
  readonly fenceWord: string | undefined;
}

export interface AskOptions {
  readonly opened: OpenedModel;
  readonly signal: AbortSignal;
  readonly meter: BudgetMeter;
  readonly emit: (event: AgentEvent) => void;
}

/** A request failed for good; `failure` says why. */
export class ModelRequestFailed extends Error {
  readonly failure: ModelFailure;

  constructor(failure: ModelFailure) {
    super(failure.error.message);
    this.failure = failure;
  }
}

const MAX_RETRIES = 3;
const FIRST_WAIT_MS = 500;

/** A longer wait that a server asks for is reported instead. */
const MAX_WAIT_MS = 60_000;

/**
 * Asks a model for one reply. Repeats requests that failed because of the network or a busy server; nothing was run then.
 * Throws `ModelRequestFailed`, and the reason of the signal.
 */
export async function askModel(request: ModelRequest, options: AskOptions): Promise<Reply> {
  let contextTokens = options.opened.contextTokens;
  let retries = 0;
  for (;;) {
    try {
      return await sendRequest(request, contextTokens, options);
    } catch (thrown) {
      options.signal.throwIfAborted();
      const failure = toModelFailure(thrown, options.opened.label);
      if (failure.isTooLong && contextTokens === options.opened.contextTokens) {
        contextTokens = Math.floor(contextTokens / 2);
        continue;
      }
      if (!failure.isRetryable || retries >= MAX_RETRIES) throw new ModelRequestFailed(failure);
      await waitForRetry(failure, retries, options);
      retries += 1;
    }
  }
}

async function sendRequest(
  { system, messages, tools, fenceWord }: ModelRequest,
  contextTokens: number,
  { opened, signal, emit }: AskOptions,
): Promise<Reply> {
  const fitted = fitContext(messages, { contextTokens, system, tools });
  if (fitted.shortened > 0)
    emit({
      type: "notice",
      code: "context",
      text: `${fitted.shortened} old messages were shortened to fit the context window`,
    });
  const hasTools = keepsToolMessages(opened, tools);
  const options: LanguageModelV3CallOptions = {
    prompt: [{ role: "system", content: system }, ...toPrompt(fitted.messages, { fenceWord, hasTools })],
    abortSignal: signal,
    ...(tools.length > 0 && { tools: [...tools] }),
  };
  return readReply(opened.model, options, {
    fenceWord,
    onPart: ({ channel, text }) => emit({ type: "delta", channel, text }),
  });
}

/** Anthropic rejects tool calls in the conversation of a request that offers no tools; a model of text never sees them. */
function keepsToolMessages({ model }: OpenedModel, tools: ModelRequest["tools"]): boolean {
  return tools.length > 0 || !model.provider.startsWith("anthropic");
}

async function waitForRetry(
  failure: ModelFailure,
  retries: number,
  { signal, meter, emit }: AskOptions,
): Promise<void> {
  const waitMs = failure.waitMs ?? FIRST_WAIT_MS * 2 ** retries;
  if (waitMs > Math.min(MAX_WAIT_MS, meter.remainingMs)) throw new ModelRequestFailed(failure);
  const text = `${failure.error.message}; trying again in ${Math.ceil(waitMs / 1_000)} s`;
  emit({ type: "notice", code: "retry", text, waitMs });
  await wait(waitMs, undefined, { signal });
}
