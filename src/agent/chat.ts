import { askModel, type AskOptions, ModelRequestFailed } from "./ask-model.ts";
import { sentence, SkillgateError } from "../errors.ts";
import { isRecord } from "../model/json.ts";
import type { ActiveMode, TokenUsage } from "./events.ts";
import { type ChatMessage, getCallKey, isResult } from "./messages.ts";
import { hasQuotedCall, parseToolCalls } from "./steps/parse-tool-calls.ts";
import { ReadTexts } from "./steps/read-texts.ts";
import { callTool } from "./steps/call-tool.ts";
import type { StepContext } from "./steps/step-context.ts";
import { createToolset } from "./steps/toolset.ts";

export interface ChatOptions {
  /** The model may call tools until this many calls were made; 5 by default. */
  readonly maxToolCalls?: number;
  readonly signal?: AbortSignal;
}

export interface ChatAnswer {
  readonly content: string;
  /** The conversation with the messages that were added to it. */
  readonly messages: readonly ChatMessage[];
  readonly toolCalls: number;
  readonly usage: TokenUsage;
}

/** A message from a program, such as a bot of a chat service. */
export interface ChatRequest {
  readonly channel: string;
  readonly user: string;
  readonly message: string;
  readonly enable_tools: boolean;
}

const DEFAULT_MAX_TOOL_CALLS = 5;

export interface ChatParts {
  readonly context: StepContext;
  readonly ask: AskOptions;
  readonly mode: ActiveMode;
  readonly recent: ReadonlySet<string>;
  readonly systemPrompt: string;
}

/**
 * Answers a conversation, with tool calls on the way: asks the model, makes the calls of its reply in their order and asks
 * again, while fewer than `maxToolCalls` calls were made. Then asks once more, without tools. Throws errors of the model.
 */
export async function chat(
  written: readonly unknown[],
  { maxToolCalls = DEFAULT_MAX_TOOL_CALLS }: ChatOptions,
  parts: ChatParts,
): Promise<ChatAnswer> {
  const messages = written.map(parseMessage);
  const results = new ReadTexts();
  for (const message of messages) if (isResult(message)) results.add(message.content);
  const { context, ask, mode, recent } = parts;
  let toolCalls = 0;
  while (toolCalls < maxToolCalls) {
    const tools = createToolset(mode, context, recent);
    const reply = await askFor(messages, tools, parts);
    const calls = reply.toolCalls.length > 0 ? reply.toolCalls : parseToolCalls(reply.text);
    if (calls.length === 0) return finish(reply.text);
    const isQuote = reply.toolCalls.length === 0 && hasQuotedCall(reply.text, (text) => results.contain(text));
    messages.push({ role: "assistant", content: reply.text, tool_calls: calls });
    const texts = new Map<string, string>();
    for (const call of calls) {
      const key = getCallKey(call);
      if (!texts.has(key)) {
        const isCutOff = reply.finish === "length";
        const { text, isError } = await callTool(
          { call, isCutOff, isQuote, toolNames: tools.map(({ name }) => name) },
          context,
        );
        results.add(text);
        texts.set(key, isError ? formatError(text) : text);
        ask.signal.throwIfAborted();
      }
      const { id, function: called } = call;
      messages.push({ role: "tool", tool_call_id: id, name: called.name, content: texts.get(key) ?? "" });
      toolCalls += 1;
    }
  }
  return finish((await askFor(messages, [], parts)).text);

  function finish(content: string): ChatAnswer {
    messages.push({ role: "assistant", content });
    return { content, messages, toolCalls, usage: ask.meter.usage };
  }
}

function formatError(text: string): string {
  return text.startsWith("Error: ") ? text : `Error: ${text}`;
}

async function askFor(
  messages: readonly ChatMessage[],
  tools: ReturnType<typeof createToolset>,
  { systemPrompt, ask }: ChatParts,
): ReturnType<typeof askModel> {
  const own = messages.flatMap((message) => (message.role === "system" ? [message.content] : []));
  const request = {
    system: own.length === 0 ? systemPrompt : own.join("\n\n"),
    messages: messages.filter(({ role }) => role !== "system"),
    tools,
    fenceWord: undefined,
  };
  try {
    const reply = await askModel(request, ask);
    ask.meter.addUsage(reply.usage);
    return reply;
  } catch (thrown) {
    throw thrown instanceof ModelRequestFailed ? thrown.failure.error : thrown;
  }
}

/** Parses a message in the format of OpenAI; `content` may be a list of texts, or `null` beside tool calls. */
function parseMessage(message: unknown, index: number): ChatMessage {
  const where = `messages[${index}]`;
  if (!isRecord(message)) throw invalid(`${where} must be { role, content }`);
  const { role, tool_call_id: id, name } = message;
  const content = parseContent(message["content"], where);
  switch (role) {
    case "system":
    case "developer":
      return { role: "system", content };
    case "user":
      return { role, content };
    case "assistant": {
      const hasCalls = message["tool_calls"] !== undefined || Array.isArray(message["content"]);
      const calls = hasCalls || message["function_call"] !== undefined ? parseToolCalls(message) : [];
      return { role, content, ...(calls.length > 0 && { tool_calls: calls }) };
    }
    case "tool":
      if (typeof id !== "string") throw invalid(`${where}.tool_call_id must be the id of a tool call`);
      return { role, tool_call_id: id, name: typeof name === "string" ? name : "tool", content };
    default:
      throw invalid(`${where}.role must be system, user, assistant or tool`);
  }
}

function parseContent(content: unknown, where: string): string {
  if (typeof content === "string") return content;
  if (content === null || content === undefined) return "";
  if (!Array.isArray(content)) throw invalid(`${where}.content must be a text`);
  return content.map((part) => (isRecord(part) && typeof part["text"] === "string" ? part["text"] : "")).join("");
}

/** Checks a request of a program. Throws `OPTION_INVALID`. */
export function requireChatRequest(request: unknown): ChatRequest {
  const { channel, user, message, enable_tools: enableTools = true } = isRecord(request) ? request : {};
  for (const [name, value] of Object.entries({ channel, user, message }))
    if (typeof value !== "string" || value === "") throw invalid(`${name} of a request must be a text`);
  if (typeof enableTools !== "boolean") throw invalid("enable_tools of a request must be true or false");
  return { channel: String(channel), user: String(user), message: String(message), enable_tools: enableTools };
}

function invalid(what: string): SkillgateError {
  return new SkillgateError("OPTION_INVALID", sentence("OPTION_INVALID", what));
}
