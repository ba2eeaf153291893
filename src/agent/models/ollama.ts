import type { LanguageModelV3CallOptions, LanguageModelV3Message, LanguageModelV3StreamPart } from "@ai-sdk/provider";

import { getMessage } from "../../errors.ts";
import { isRecord, parseJson, parseJsonObject, toList, toRecord } from "../../model/json.ts";
import { ModelRequestError } from "./model-request-error.ts";
import { fetchSameServer } from "../../shared/http/fetch-same-server.ts";
import type { ChatModel } from "./open-model.ts";
import type { ModelChoice } from "./choose-model.ts";
import { createDelta, createFinish, toPartStream } from "./stream-parts.ts";

/** A longer line of a reply is not read. */
const MAX_LINE_UNITS = 8 << 20;

/** A model of Ollama by its own API, which, unlike `/v1`, takes the size of the context window. */
export function createOllamaModel({ name, baseUrl, apiKey, contextTokens }: ModelChoice): ChatModel {
  const url = `${baseUrl}/api/chat`;
  return {
    provider: "ollama",
    modelId: name,
    async doStream(options) {
      const body = createBody(name, contextTokens, options);
      const response = await post(url, body, { apiKey, signal: options.abortSignal });
      return { stream: toPartStream(readParts(response)), request: { body } };
    },
  };
}

async function post(
  url: string,
  body: unknown,
  { apiKey, signal }: { readonly apiKey: string | undefined; readonly signal: AbortSignal | undefined },
): Promise<ReadableStream<Uint8Array>> {
  const response = await fetchSameServer(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }) },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  }).catch((cause: unknown) => {
    if (signal?.aborted) throw cause;
    const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
    throw new ModelRequestError(`Cannot connect to API: ${getMessage(reason)}`, { cause: reason });
  });
  if (response.ok && response.body !== null) return response.body;
  const text = await response.text();
  throw new ModelRequestError(readError(text) ?? response.statusText, {
    statusCode: response.status,
    responseHeaders: Object.fromEntries(response.headers),
  });
}

function readError(text: string): string | undefined {
  const { error } = toRecord(parseJson(text));
  return typeof error === "string" ? error : isRecord(error) ? String(error["message"]) : undefined;
}

async function* readParts(body: ReadableStream<Uint8Array>): AsyncGenerator<LanguageModelV3StreamPart> {
  let calls = 0;
  for await (const line of readLines(body)) {
    const chunk = parseJsonObject(line);
    if (chunk === undefined) {
      yield { type: "error", error: new Error("a line of the reply is not a JSON object") };
      return;
    }
    if (chunk["error"] !== undefined) {
      yield { type: "error", error: chunk["error"] };
      return;
    }
    const { thinking, content, tool_calls: toolCalls } = toRecord(chunk["message"]);
    if (typeof thinking === "string" && thinking !== "") yield createDelta("reasoning-delta", thinking);
    if (typeof content === "string" && content !== "") yield createDelta("text-delta", content);
    for (const call of toList(toolCalls)) yield readToolCall(call, ++calls);
    if (chunk["done"] === true) {
      yield readFinish(chunk, calls);
      return;
    }
  }
  yield createFinish({ unified: "other", raw: undefined }, {});
}

function readToolCall(call: unknown, number: number): LanguageModelV3StreamPart {
  const { id, function: called } = toRecord(call);
  const { name, arguments: args } = toRecord(called);
  return {
    type: "tool-call",
    toolCallId: typeof id === "string" ? id : `call_${number}_${crypto.randomUUID().slice(0, 8)}`,
    toolName: typeof name === "string" ? name : "",
    input: typeof args === "string" ? args : JSON.stringify(args ?? {}),
  };
}

function readFinish(chunk: Readonly<Record<string, unknown>>, calls: number): LanguageModelV3StreamPart {
  const { done_reason: reason, prompt_eval_count: input, eval_count: output } = chunk;
  const raw = typeof reason === "string" ? reason : "stop";
  return createFinish(
    { unified: raw === "length" ? "length" : calls > 0 ? "tool-calls" : "stop", raw },
    {
      input: typeof input === "number" ? input : undefined,
      output: typeof output === "number" ? output : undefined,
    },
  );
}

async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let pending = "";
  for await (const bytes of body) {
    pending += decoder.decode(bytes, { stream: true });
    const lines = pending.split("\n");
    pending = lines.pop() ?? "";
    if (pending.length > MAX_LINE_UNITS)
      throw new Error(`a line of the reply has more than ${MAX_LINE_UNITS} characters`);
    yield* lines.filter((line) => line.trim() !== "");
  }
  if (pending.trim() !== "") yield pending;
}

function createBody(name: string, contextTokens: number, options: LanguageModelV3CallOptions): unknown {
  const tools = options.tools?.flatMap((tool) =>
    tool.type === "function"
      ? [
          {
            type: "function",
            function: { name: tool.name, description: tool.description, parameters: tool.inputSchema },
          },
        ]
      : [],
  );
  return {
    model: name,
    messages: options.prompt.flatMap(toOllamaMessages),
    stream: true,
    options: { num_ctx: contextTokens },
    ...(tools !== undefined && tools.length > 0 && { tools }),
  };
}

function toOllamaMessages(message: LanguageModelV3Message): readonly unknown[] {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.content }];
    case "user":
      return [
        { role: "user", content: message.content.map((part) => (part.type === "text" ? part.text : "")).join("") },
      ];
    case "assistant": {
      const texts = message.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
      const calls = message.content.flatMap((part) =>
        part.type === "tool-call" ? [{ function: { name: part.toolName, arguments: part.input } }] : [],
      );
      return [{ role: "assistant", content: texts.join(""), ...(calls.length > 0 && { tool_calls: calls }) }];
    }
    case "tool":
      return message.content.flatMap((part) =>
        part.type === "tool-result"
          ? [{ role: "tool", tool_name: part.toolName, content: part.output.type === "text" ? part.output.value : "" }]
          : [],
      );
  }
}
