import { estimateTokens } from "../registry/index.ts";
import { cutText } from "../shared/format-text.ts";
import { type ChatMessage, isResult } from "./messages.ts";

/** The part of the window that is left for the reply. */
const REPLY_SHARE = 0.25;

/** Results keep this much when they are shortened. */
const SHORTENED_UNITS = 400;

/** The newest messages are never shortened: the model works on them. */
const RECENT_MESSAGES = 4;

export interface FittedContext {
  readonly messages: readonly ChatMessage[];
  readonly shortened: number;
}

/**
 * Fits a conversation into the context window: shortens old results first, then other old messages, and drops the oldest
 * exchanges last. Messages that begin a conversation stay where nothing else helps.
 */
export function fitContext(
  messages: readonly ChatMessage[],
  {
    contextTokens,
    system,
    tools,
  }: { readonly contextTokens: number; readonly system: string; readonly tools: unknown },
): FittedContext {
  const budget = contextTokens * (1 - REPLY_SHARE) - estimateTokens(system) - estimateTokens(JSON.stringify(tools));
  const tokens = messages.reduce((sum, message) => sum + countTokens(message), 0);
  if (tokens <= budget) return { messages, shortened: 0 };
  const withShortResults = shortenOldest(messages, tokens - budget, isResult);
  const withShortMessages = shortenOldest(withShortResults.messages, withShortResults.excess, () => true);
  const { messages: fitted, excess } = withShortMessages;
  const newest = excess > 0 ? dropOldest(fitted, excess) : fitted;
  const changed = messages.filter((message, index) => fitted[index] !== message).length;
  return { messages: newest, shortened: Math.max(changed, messages.length - newest.length) };
}

/** Shortens messages from the oldest on, until the excess of tokens is gone. */
function shortenOldest(
  messages: readonly ChatMessage[],
  excess: number,
  isEligible: (message: ChatMessage) => boolean,
): { readonly messages: readonly ChatMessage[]; readonly excess: number } {
  let remaining = excess;
  const shortened = messages.map((message, index) => {
    const isRecent = index >= messages.length - RECENT_MESSAGES;
    if (remaining <= 0 || isRecent || !isEligible(message) || message.content.length <= 2 * SHORTENED_UNITS)
      return message;
    const short = shorten(message);
    remaining -= countTokens(message) - countTokens(short);
    return short;
  });
  return { messages: shortened, excess: remaining };
}

function shorten(message: ChatMessage): ChatMessage {
  const rest = message.content.length - SHORTENED_UNITS;
  return { ...message, content: `${cutText(message.content, SHORTENED_UNITS)}… (${rest} characters were removed)` };
}

/** Drops exchanges from the front; the next one begins with a message of the user, so that no result lacks its call. */
function dropOldest(messages: readonly ChatMessage[], excess: number): readonly ChatMessage[] {
  let dropped = 0;
  let start = 0;
  for (const [index, message] of messages.entries()) {
    if (index > 0 && message.role === "user" && !isResult(message)) {
      start = index;
      if (dropped >= excess) break;
    }
    dropped += countTokens(message);
  }
  return messages.slice(start);
}

function countTokens(message: ChatMessage): number {
  const calls = message.role === "assistant" ? (message.tool_calls ?? []) : [];
  return estimateTokens(message.content) + (calls.length === 0 ? 4 : estimateTokens(JSON.stringify(calls)));
}
