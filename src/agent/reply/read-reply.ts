import type { LanguageModelV3CallOptions, LanguageModelV3StreamPart, LanguageModelV3Usage } from "@ai-sdk/provider";

import { isRecord } from "../../model/json.ts";
import { estimateTokens } from "../../registry/index.ts";
import type { TokenUsage } from "../events.ts";
import { type ChatToolCall, createToolCall } from "../messages.ts";
import type { ChatModel } from "../models/open-model.ts";
import { ReplyCut } from "../models/model-errors.ts";
import { ReplyCutter } from "./cut-reply.ts";
import { type ReplyPart, splitStrayThinking, ThinkingSplitter } from "./split-thinking.ts";

/** A finished reply of a model. */
export interface Reply {
  readonly text: string;
  readonly thinking: string;
  readonly toolCalls: readonly ChatToolCall[];
  /** `length`: the reply was cut off at its maximum length. `filtered`: a filter of the server ended it. */
  readonly finish: "complete" | "length" | "filtered";
  /** The rest of the reply was not read, because a program came before it. */
  readonly isCut: boolean;
  readonly usage: TokenUsage;
}

export interface ReadReplyOptions {
  /** The word of the fences of programs: the reply ends behind them. `undefined` if its text has no programs. */
  readonly fenceWord: string | undefined;
  readonly onPart: (part: ReplyPart) => void;
}

/** A reply beyond this size is cut off; no budget would allow for it. */
const MAX_REPLY_UNITS = 4 << 20;

/** Reads the reply to one request, while it is streamed. Throws what the provider throws, and `ReplyCut`. */
export async function readReply(
  model: ChatModel,
  request: LanguageModelV3CallOptions,
  options: ReadReplyOptions,
): Promise<Reply> {
  const controller = new AbortController();
  const signals = [controller.signal, ...(request.abortSignal ? [request.abortSignal] : [])];
  const { stream, response } = await model.doStream({
    ...request,
    includeRawChunks: true,
    abortSignal: AbortSignal.any(signals),
  });
  const collector = new ReplyCollector(options);
  const reader = stream.getReader();
  try {
    while (!collector.isComplete) {
      const { value, done } = await reader.read();
      if (done) break;
      collector.add(value);
    }
    return collector.finish(request);
  } catch (thrown) {
    const type = response?.headers?.["content-type"] ?? "";
    if (!collector.isEmpty || !DOCUMENT.test(type)) throw thrown;
    throw new Error(`the server answered with ${type} in place of a stream of events`, { cause: thrown });
  } finally {
    controller.abort(); // ends the connection where the rest of the reply is not wanted
    await reader.cancel().catch(() => {}); // it has failed, or ended
  }
}

/** The types of an answer that is not a stream, such as the page of a proxy, or an answer to another path. */
const DOCUMENT = /^(?:text\/html|application\/json)\b/i;

/** Collects the parts of a streamed reply. */
class ReplyCollector {
  readonly #options: ReadReplyOptions;
  readonly #splitter = new ThinkingSplitter();
  readonly #cutter: ReplyCutter | undefined;
  readonly #calls: ChatToolCall[] = [];
  /** A call in the format that OpenAI used before `tool_calls`. */
  readonly #oldCall = { name: "", arguments: "" };
  #text = "";
  #thinking = "";
  #units = 0;
  /** True until the server has sent an event. */
  isEmpty = true;
  #end: Extract<LanguageModelV3StreamPart, { type: "finish" }> | undefined;

  constructor(options: ReadReplyOptions) {
    this.#options = options;
    this.#cutter = options.fenceWord === undefined ? undefined : new ReplyCutter(options.fenceWord);
  }

  get isComplete(): boolean {
    return this.#cutter?.isCut === true || this.#units > MAX_REPLY_UNITS;
  }

  add(part: LanguageModelV3StreamPart): void {
    if (part.type === "raw") this.isEmpty = false;
    if (part.type === "text-delta" || part.type === "reasoning-delta") this.#addDelta(part);
    else if (part.type === "tool-call") this.#calls.push(createToolCall(part.toolCallId, part.toolName, part.input));
    else if (part.type === "raw") this.#addOldCall(part.rawValue);
    else if (part.type === "error") throw part.error;
    else if (part.type === "finish") this.#end = part;
  }

  #addDelta({ type, delta }: { readonly type: "text-delta" | "reasoning-delta"; readonly delta: string }): void {
    this.#units += delta.length;
    const parts: readonly ReplyPart[] =
      type === "text-delta" ? this.#splitter.push(delta) : [{ channel: "thinking", text: delta }];
    for (const part of parts) this.#addPart(part);
  }

  finish(request: LanguageModelV3CallOptions): Reply {
    const isCut = this.#cutter?.isCut === true;
    if (!isCut) this.#requireEnd();
    for (const part of isCut ? [] : this.#splitter.end()) this.#addPart(part);
    if (this.#cutter !== undefined) {
      this.#show("text", this.#cutter.end());
      this.#text = this.#cutter.text;
    }
    const { thinking, text } = splitStrayThinking(this.#text);
    const { name, arguments: args } = this.#oldCall;
    if (name !== "" && this.#calls.length === 0) this.#calls.push(createToolCall("call_1", name, args));
    return {
      text: text.trim(),
      thinking: this.#thinking + thinking,
      toolCalls: this.#calls,
      finish: this.#getFinish(),
      isCut,
      usage: this.#getUsage(this.#end?.usage, request),
    };
  }

  #getFinish(): Reply["finish"] {
    const reason = this.#end?.finishReason.unified;
    if (reason === "content-filter") return "filtered";
    return reason === "length" ? "length" : "complete";
  }

  /** A stream that ends without a reason was cut off on the way. */
  #requireEnd(): void {
    if (this.#units > MAX_REPLY_UNITS) throw new Error(`the reply has more than ${MAX_REPLY_UNITS} characters`);
    if (this.#end === undefined) throw new ReplyCut("the reply ended before it was complete");
    const { unified, raw } = this.#end.finishReason;
    if (unified === "other" && raw === undefined) throw new ReplyCut("the reply ended before it was complete");
  }

  #addPart({ channel, text }: ReplyPart): void {
    if (channel === "thinking") {
      this.#thinking += text;
      this.#show("thinking", text);
    } else if (this.#cutter !== undefined) this.#show("text", this.#cutter.push(text));
    else {
      this.#text += text;
      this.#show("text", text);
    }
  }

  #show(channel: ReplyPart["channel"], text: string): void {
    if (text !== "") this.#options.onPart({ channel, text });
  }

  #addOldCall(chunk: unknown): void {
    const choices: unknown = isRecord(chunk) ? chunk["choices"] : undefined;
    const [choice]: unknown[] = Array.isArray(choices) ? choices : [];
    const delta = isRecord(choice) ? choice["delta"] : undefined;
    const call = isRecord(delta) ? delta["function_call"] : undefined;
    if (!isRecord(call)) return;
    if (typeof call["name"] === "string") this.#oldCall.name += call["name"];
    if (typeof call["arguments"] === "string") this.#oldCall.arguments += call["arguments"];
  }

  /** Estimates the tokens where the server does not count them, as in a reply that was cut off. */
  #getUsage(usage: LanguageModelV3Usage | undefined, { prompt, tools }: LanguageModelV3CallOptions): TokenUsage {
    const written = this.#thinking + this.#text + this.#calls.map((call) => call.function.arguments).join("");
    return {
      inputTokens: usage?.inputTokens.total ?? estimateTokens(JSON.stringify([prompt, tools])),
      outputTokens: usage?.outputTokens.total ?? estimateTokens(written),
    };
  }
}
