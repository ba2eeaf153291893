import type { LanguageModelV3CallOptions, LanguageModelV3StreamPart } from "@ai-sdk/provider";
import { parse } from "../../shared/package/yaml.ts";

import { getMessage, sentence, SkillgateError } from "../../errors.ts";
import { isRecord } from "../../model/json.ts";
import { ModelRequestError } from "./model-request-error.ts";
import type { ChatModel } from "./open-model.ts";
import { createDelta, createFinish, toPartStream } from "./stream-parts.ts";

/** One reply of a script. A text alone is a reply with that text. */
export interface ScriptedReply {
  readonly thinking?: string;
  readonly text?: string;
  /** A program, as a call of `run_code`. */
  readonly code?: string;
  readonly tools?: readonly { readonly name: string; readonly arguments: unknown }[];
  /** The server refuses the request. */
  readonly error?: { readonly status: number; readonly message: string; readonly retryAfter?: number };
  /** `length` for a reply that is cut off at its maximum length. */
  readonly finish?: "stop" | "length";
  readonly usage?: { readonly input?: number; readonly output?: number };
}

const REPLY_FIELDS = ["thinking", "text", "code", "tools", "error", "finish", "usage"];

/** Units of a delta. */
const CHUNK_UNITS = 24;

/** In a text, the newest result that the model received, and what follows the backticks of a program. */
const RESULT_PLACEHOLDER = "{result}";
const FENCE_PLACEHOLDER = "{fence}";

/** A model that gives the replies of a script, one after the other. It needs no network. */
export function createScriptedModel(name: string, replies: readonly ScriptedReply[]): ChatModel {
  let next = 0;
  return {
    provider: "scripted",
    modelId: name,
    async doStream(options) {
      const reply = replies[next];
      if (reply === undefined) {
        const what = `the script has ${replies.length} replies, and the agent asks for one more`;
        throw new SkillgateError("MODEL_REPLY_INVALID", sentence("MODEL_REPLY_INVALID", what));
      }
      next += 1;
      if (reply.error !== undefined) throw createApiError(reply.error);
      return { stream: toPartStream(createParts(reply, next, options)) };
    },
  };
}

function createApiError({ status, message, retryAfter }: NonNullable<ScriptedReply["error"]>): ModelRequestError {
  return new ModelRequestError(message, {
    statusCode: status,
    ...(retryAfter !== undefined && { responseHeaders: { "retry-after": String(retryAfter) } }),
  });
}

// oxlint-disable-next-line require-await -- a stream of parts, which are all there
async function* createParts(
  reply: ScriptedReply,
  number: number,
  { prompt }: LanguageModelV3CallOptions,
): AsyncGenerator<LanguageModelV3StreamPart> {
  const { thinking = "", text = "", code, tools = [], finish = "stop", usage = {} } = reply;
  for (const part of toChunks(thinking)) yield createDelta("reasoning-delta", part);
  const filled = text
    .replaceAll(RESULT_PLACEHOLDER, () => findResult(prompt))
    .replaceAll(FENCE_PLACEHOLDER, () => findFence(prompt));
  for (const part of toChunks(filled)) yield createDelta("text-delta", part);
  const calls = code === undefined ? tools : [...tools, { name: "run_code", arguments: { code } }];
  for (const [index, { name, arguments: args }] of calls.entries()) {
    const input = typeof args === "string" ? args : JSON.stringify(args ?? {});
    yield { type: "tool-call", toolCallId: `call_${number}_${index + 1}`, toolName: name, input };
  }
  yield createFinish({ unified: calls.length > 0 && finish === "stop" ? "tool-calls" : finish, raw: finish }, usage);
}

function toChunks(text: string): readonly string[] {
  return text.match(new RegExp(`[^]{1,${CHUNK_UNITS}}`, "gu")) ?? [];
}

/** The system prompt states the fence; without it, programs are marked `js`. */
function findFence(prompt: LanguageModelV3CallOptions["prompt"]): string {
  const system = prompt.find(({ role }) => role === "system");
  return (system?.role === "system" && /js run-\w+/.exec(system.content)?.[0]) || "js";
}

function findResult(prompt: LanguageModelV3CallOptions["prompt"]): string {
  const message = prompt.findLast(({ role }) => role === "tool" || role === "user");
  const parts = message?.role === "tool" || message?.role === "user" ? message.content : [];
  return parts
    .map((part) => {
      if (part.type === "tool-result") return part.output.type === "text" ? part.output.value : "";
      return part.type === "text" ? part.text : "";
    })
    .join("\n");
}

/** Parses a script: a list of replies, in YAML or JSON. Throws `CONFIG_INVALID`. */
export function parseScript(text: string, file: string): readonly ScriptedReply[] {
  const value = parseYaml(text, file);
  const replies: unknown = isRecord(value) ? value["replies"] : value;
  if (!Array.isArray(replies)) throw invalid(file, "it must be a list of replies");
  return replies.map((reply: unknown, index) => parseReply(reply, `${file}, reply ${index + 1}`));
}

function parseYaml(text: string, file: string): unknown {
  try {
    return parse(text);
  } catch (thrown) {
    throw invalid(file, getMessage(thrown));
  }
}

function parseReply(reply: unknown, where: string): ScriptedReply {
  if (typeof reply === "string") return { text: reply };
  if (!isRecord(reply)) throw invalid(where, `it must be a text, or have some of ${REPLY_FIELDS.join(", ")}`);
  const unknown = Object.keys(reply).find((name) => !REPLY_FIELDS.includes(name));
  if (unknown !== undefined) throw invalid(where, `unknown field ${unknown}; use ${REPLY_FIELDS.join(", ")}`);
  for (const name of ["thinking", "text", "code"])
    if (reply[name] !== undefined && typeof reply[name] !== "string") throw invalid(where, `${name} must be a text`);
  const { tools, error, finish, usage } = reply;
  if (tools !== undefined && !(Array.isArray(tools) && tools.every(isTool)))
    throw invalid(where, "tools must be a list of { name, arguments }");
  if (
    error !== undefined &&
    !(isRecord(error) && typeof error["status"] === "number" && typeof error["message"] === "string")
  )
    throw invalid(where, "error must have a status and a message");
  if (finish !== undefined && finish !== "stop" && finish !== "length")
    throw invalid(where, "finish must be stop or length");
  if (usage !== undefined && !isRecord(usage)) throw invalid(where, "usage must have input and output");
  return reply;
}

function isTool(tool: unknown): boolean {
  return isRecord(tool) && typeof tool["name"] === "string";
}

function invalid(where: string, what: string): SkillgateError {
  return new SkillgateError("CONFIG_INVALID", sentence("CONFIG_INVALID", `${where}: ${what}`));
}
