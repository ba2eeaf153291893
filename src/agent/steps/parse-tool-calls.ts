import { parseToolCalls as parseJsonCalls } from "../../frontend/index.ts";
import { isRecord } from "../../model/json.ts";
import { type ChatToolCall, createToolCall } from "../messages.ts";
import { MAX_PROGRAMS } from "../reply/cut-reply.ts";
import { findPrograms, findUnmarkedPrograms, readProgram } from "../reply/fences.ts";
import type { Reply } from "../reply/read-reply.ts";

/** JSON in a tag, in a fence, or as the whole text. */
const CALLS_IN_TAGS = /<(tool_calls?|function_calls?)>\s*([^]*?)\s*(?:<\/\1>|$)/g;
const CALLS_IN_FENCE = /^\s*```(?:json|tool_call|tool_code)?[ \t]*\n([^]*?)\n?```\s*$/;

/**
 * Parses the tool calls of a message as a server sends it: `tool_calls` and the older `function_call` of OpenAI, `tool_use`
 * of Anthropic, and JSON in the text. Arguments stay as they were written, even if they are invalid JSON.
 */
export function parseToolCalls(message: unknown): readonly ChatToolCall[] {
  if (typeof message === "string") return findCallsInText(message);
  if (!isRecord(message)) return [];
  const { tool_calls: calls, function_call: oldCall, content } = message;
  if (Array.isArray(calls) && calls.length > 0) return calls.flatMap(parseOpenaiCall);
  if (isRecord(oldCall)) return parseOpenaiCall({ function: oldCall }, 0);
  if (Array.isArray(content)) {
    const uses = content.flatMap(parseAnthropicCall);
    return uses.length > 0 ? uses : findCallsInText(content.map(getText).join(""));
  }
  return typeof content === "string" ? findCallsInText(content) : [];
}

function parseOpenaiCall(call: unknown, index: number): readonly ChatToolCall[] {
  const { id, function: called } = isRecord(call) ? call : {};
  const { name, arguments: args } = isRecord(called) ? called : {};
  if (typeof name !== "string") return [];
  return [createToolCall(typeof id === "string" ? id : `call_${index + 1}`, name, toJson(args))];
}

function parseAnthropicCall(block: unknown, index: number): readonly ChatToolCall[] {
  if (!isRecord(block) || block["type"] !== "tool_use") return [];
  const { id, name, input } = block;
  if (typeof name !== "string") return [];
  return [createToolCall(typeof id === "string" ? id : `call_${index + 1}`, name, toJson(input))];
}

function toJson(args: unknown): string {
  return typeof args === "string" ? args : JSON.stringify(args ?? {});
}

function getText(block: unknown): string {
  return isRecord(block) && typeof block["text"] === "string" ? block["text"] : "";
}

/** Finds tool calls that a model wrote as JSON. Their ids count from 1. */
export function findCallsInText(text: string): readonly ChatToolCall[] {
  const calls = listJsonTexts(text).flatMap((json) => parseJsonCalls(json) ?? []);
  return calls.map(({ name, arguments: args }, index) =>
    createToolCall(`text_${index + 1}`, name, JSON.stringify(args)),
  );
}

/** True if one of the tool calls in a text is a quote. */
export function hasQuotedCall(text: string, isQuote: (text: string) => boolean): boolean {
  return listJsonTexts(text).some((json) => isQuote(json));
}

/** Returns the parts of a reply that may be tool calls. */
function listJsonTexts(text: string): readonly string[] {
  const tagged = [...text.matchAll(CALLS_IN_TAGS)].map(([, , json = ""]) => json);
  return tagged.length > 0 ? tagged : [CALLS_IN_FENCE.exec(text)?.[1] ?? text];
}

/** The steps that a reply asks for. */
export type ReplySteps =
  | { readonly kind: "none" }
  | {
      readonly kind: "tools";
      readonly calls: readonly ChatToolCall[];
      readonly areInText: boolean;
      /** True if the text of a call occurs in a result. */
      readonly areQuoted: boolean;
    }
  | { readonly kind: "programs"; readonly programs: readonly string[]; readonly skipped: number }
  /** Programs that are not in a fence with the word, and that no result has: they are not run. */
  | { readonly kind: "unmarked" };

/** The parts of a conversation that decide what a reply asks for. */
interface ReplyReading {
  /** The word of the fences of programs; `undefined` if its text has no programs. */
  readonly fenceWord: string | undefined;
  /** True for a text that occurs in a result. */
  readonly isQuote: (text: string) => boolean;
}

/** Finds the steps of a reply: its tool calls, else programs in its text, else JSON of tool calls in its text. */
export function findSteps(
  { text, toolCalls, finish }: Pick<Reply, "text" | "toolCalls" | "finish">,
  { fenceWord, isQuote }: ReplyReading,
): ReplySteps {
  if (toolCalls.length > 0) return { kind: "tools", calls: toolCalls, areInText: false, areQuoted: false };
  const programs = fenceWord === undefined ? [] : listPrograms(text, finish, fenceWord);
  if (programs.length > 0) {
    const skipped = Math.max(0, programs.length - MAX_PROGRAMS);
    return { kind: "programs", programs: programs.slice(0, MAX_PROGRAMS), skipped };
  }
  const calls = findCallsInText(text);
  if (calls.length > 0) return { kind: "tools", calls, areInText: true, areQuoted: hasQuotedCall(text, isQuote) };
  const isUnmarked = fenceWord !== undefined && finish === "complete";
  const unmarked = isUnmarked ? findUnmarkedPrograms(text).filter((code) => !isQuote(code)) : [];
  return { kind: unmarked.length > 0 ? "unmarked" : "none" };
}

/** An open block of a reply that was cut off at its maximum length is not a whole program. */
function listPrograms(text: string, finish: Reply["finish"], word: string): readonly string[] {
  return findPrograms(text, word)
    .filter(({ isClosed }) => isClosed || finish === "complete")
    .map((block) => readProgram(text, block, word));
}
