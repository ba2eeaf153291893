import type { LanguageModelV3Message, LanguageModelV3Prompt } from "@ai-sdk/provider";

import { parseJson, toRecord } from "../../model/json.ts";
import type { ChatMessage, ChatToolCall } from "../messages.ts";
import { formatToolResult } from "../steps/step-context.ts";

/**
 * Converts a conversation for a model. Without tools, calls and results become texts, because Anthropic rejects them in a
 * request that declares no tools.
 */
export function toPrompt(
  messages: readonly ChatMessage[],
  { hasTools, fenceWord = "" }: { readonly hasTools: boolean; readonly fenceWord: string | undefined },
): LanguageModelV3Prompt {
  return mergeUserMessages(
    messages.map((message) => (hasTools ? toMessage(message) : toTextMessage(message, fenceWord))),
  );
}

function toMessage(message: ChatMessage): LanguageModelV3Message {
  switch (message.role) {
    case "system":
      return { role: "system", content: message.content };
    case "user":
      return { role: "user", content: [{ type: "text", text: message.content }] };
    case "assistant":
      return {
        role: "assistant",
        content: [
          ...(message.reasoning !== undefined && message.tool_calls !== undefined
            ? [{ type: "reasoning" as const, text: message.reasoning }]
            : []),
          ...(message.content === "" ? [] : [{ type: "text" as const, text: message.content }]),
          ...(message.tool_calls ?? []).map((call) => ({
            type: "tool-call" as const,
            toolCallId: call.id,
            toolName: call.function.name,
            input: parseObject(call.function.arguments),
          })),
        ],
      };
    case "tool":
      return {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: message.tool_call_id,
            toolName: message.name,
            output: { type: "text", value: message.content },
          },
        ],
      };
  }
}

/** Servers reject arguments that are not an object; the result of such a call says what was wrong. */
function parseObject(json: string): Record<string, unknown> {
  return toRecord(parseJson(json));
}

function toTextMessage(message: ChatMessage, fenceWord: string): LanguageModelV3Message {
  if (message.role === "tool") {
    const text = formatToolResult(message.name, { isError: message.is_error === true, text: message.content });
    return { role: "user", content: [{ type: "text", text }] };
  }
  if (message.role !== "assistant") return toMessage(message);
  const calls = (message.tool_calls ?? []).map((call) => formatCall(call, fenceWord));
  const text = [message.content, ...calls].filter((part) => part !== "").join("\n");
  return { role: "assistant", content: [{ type: "text", text: text === "" ? "(no text)" : text }] };
}

function formatCall({ function: { name, arguments: args } }: ChatToolCall, fenceWord: string): string {
  const { code } = parseObject(args);
  return typeof code === "string" ? `\`\`\`js ${fenceWord}\n${code}\n\`\`\`` : `${name}(${args})`;
}

/** Some servers require that user and assistant take turns. */
function mergeUserMessages(messages: LanguageModelV3Prompt): LanguageModelV3Prompt {
  const merged: LanguageModelV3Message[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    if (last?.role === "user" && message.role === "user")
      merged[merged.length - 1] = { role: "user", content: [...last.content, ...message.content] };
    else merged.push(message);
  }
  return merged;
}
