import { randomUUID } from "node:crypto";

import type { ActiveMode, AgentMode } from "./events.ts";
import { type ChatMessage, type ChatToolCall, isResult } from "./messages.ts";
import { breakFences, createFenceWord } from "./reply/fences.ts";
import { ReadTexts } from "./steps/read-texts.ts";
import type { WaitingProgram } from "./steps/step-context.ts";

/** Newest paths that native mode remembers. */
const MAX_RECENT = 64;

/** A program that waits for a person, and the tool call that it answers; a program in a fence answers no call. */
export interface WaitingStep extends WaitingProgram {
  readonly call: ChatToolCall | undefined;
}

const NOT_MADE = "Error: the user stopped the work before this call was made";

/** The state of one conversation, which lives as long as its agent. */
export class Conversation {
  readonly id = randomUUID();
  readonly messages: ChatMessage[];
  /** The mode of the next request. */
  mode: ActiveMode;
  /** True until the model has shown how it acts: its programs are then read wherever they stand. */
  isUndecided: boolean;
  /** Paths of methods that a search found or a call used, the newest last. */
  readonly recent = new Set<string>();
  /** Programs, and calls with their arguments, that ran before. */
  readonly ran = new Set<string>();
  /** The work continues with its result. */
  waiting: WaitingStep | undefined;
  /** The word of the fences of its programs. */
  readonly fenceWord = createFenceWord();
  readonly #results = new ReadTexts();
  readonly #programs = new ReadTexts();
  #steps = 0;

  constructor(mode: AgentMode, messages: readonly ChatMessage[]) {
    this.messages = [...messages];
    this.mode = mode === "auto" ? "tools" : mode;
    this.isUndecided = mode === "auto";
    for (const message of messages) if (isResult(message)) this.#results.add(message.content);
  }

  /** True if the text of a reply may be a program. */
  get readsPrograms(): boolean {
    return this.mode === "code" || this.isUndecided;
  }

  /** Returns a result as the model may read it, and records its text. */
  readResult(text: string): string {
    this.#results.add(text);
    return this.readsPrograms ? breakFences(text, this.fenceWord) : text;
  }

  /** True for a text that occurs in a result, unless it is a part of an earlier program of the model: results quote those. */
  isQuote(text: string): boolean {
    return this.#results.contain(text) && !this.#programs.contain(text);
  }

  addProgram(code: string): void {
    this.#programs.add(code);
  }

  createStepId(): string {
    this.#steps += 1;
    return `s${this.#steps}`;
  }

  remember(paths: Iterable<string>): void {
    for (const path of paths) {
      this.recent.delete(path);
      this.recent.add(path);
    }
    for (const path of this.recent) {
      if (this.recent.size <= MAX_RECENT) return;
      this.recent.delete(path);
    }
  }

  /**
   * Answers tool calls that were never made: servers reject a call without a result. The call of a program that waits stays
   * open.
   */
  closeOpenCalls(): readonly ChatMessage[] {
    const index = this.messages.findLastIndex(({ role }) => role === "assistant");
    const message = this.messages[index];
    const calls = message?.role === "assistant" ? (message.tool_calls ?? []) : [];
    const answered = new Set(this.messages.slice(index).map((each) => each.role === "tool" && each.tool_call_id));
    const results = calls.flatMap(({ id, function: { name } }): readonly ChatMessage[] =>
      answered.has(id) || id === this.waiting?.call?.id
        ? []
        : [{ role: "tool", tool_call_id: id, name, content: NOT_MADE, is_error: true }],
    );
    this.messages.push(...results);
    return results;
  }

  /** Records that a program or a call runs. Returns true if the same ran before. */
  recordRun(key: string): boolean {
    if (this.ran.has(key)) return true;
    this.ran.add(key);
    return false;
  }
}
