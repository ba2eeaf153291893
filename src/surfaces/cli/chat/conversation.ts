import type { Agent, AgentEvent, AgentOptions } from "../../../agent/index.ts";
import type { Runtime } from "../../../runtime.ts";
import { type AgentFlags, openAgent } from "../agent/open-agent.ts";
import type { CliSession } from "../session.ts";

/** Changes by `/model`, `/system` and `/new`. */
interface ConversationChange {
  readonly model?: string;
  /** `undefined` for the standard prompt. */
  readonly systemPrompt?: string | undefined;
  readonly isNew?: boolean;
}

/** A conversation at the terminal: the agent, its events so far, and the work that Ctrl-C stops. */
export class ChatConversation {
  readonly session: CliSession;
  readonly events: AgentEvent[] = [];
  readonly #onEvent: (event: AgentEvent) => void;
  readonly #asks: Pick<AgentOptions, "approve">;
  #flags: AgentFlags;
  #opened: Awaited<ReturnType<typeof openAgent>>;
  #systemPrompt: string | undefined;
  #work: AbortController | undefined;

  private constructor(
    { session, flags, onEvent, asks }: ConversationOptions,
    opened: Awaited<ReturnType<typeof openAgent>>,
  ) {
    this.session = session;
    this.#flags = flags;
    this.#onEvent = onEvent;
    this.#asks = asks;
    this.#opened = opened;
    session.intercept(() => this.stop());
  }

  static async open(options: ConversationOptions): Promise<ChatConversation> {
    return new ChatConversation(options, await openAgent(options.session, options.flags, options.asks));
  }

  get runtime(): Runtime {
    return this.#opened.runtime;
  }

  get agent(): Agent {
    return this.#opened.agent;
  }

  /** `provider:name` */
  get model(): string {
    return this.#opened.model;
  }

  /** The system prompt as the model reads it. */
  get systemPrompt(): string {
    return this.agent.systemPrompt;
  }

  /** Sends a message; its events are also passed to `onEvent`, with secrets masked. */
  send(text: string): Promise<void> {
    return this.#workOn((options) => this.agent.send(text, options));
  }

  /** Continues the program that waits for an approval, after its questions were answered. */
  resume(): Promise<void> {
    return this.#workOn((options) => this.agent.resume(options));
  }

  async #workOn(begin: (options: { readonly signal: AbortSignal }) => AsyncIterable<AgentEvent>): Promise<void> {
    this.#work = new AbortController();
    const signal = AbortSignal.any([this.session.signal, this.#work.signal]);
    try {
      for await (const event of begin({ signal })) {
        const masked = this.runtime.secrets.maskValue(event);
        this.events.push(masked);
        this.#onEvent(masked);
      }
    } finally {
      this.#work = undefined;
    }
  }

  /** Stops the work on a message. Returns false without work, and if it was stopped before. */
  stop(): boolean {
    if (this.#work === undefined || this.#work.signal.aborted) return false;
    this.#work.abort();
    return true;
  }

  /** Continues with another model or system prompt, or begins a new conversation. */
  async change(change: ConversationChange): Promise<void> {
    const { model, isNew = false } = change;
    const flags = model === undefined ? this.#flags : { ...this.#flags, model };
    const systemPrompt = "systemPrompt" in change ? change.systemPrompt : this.#systemPrompt;
    this.#opened = await openAgent(this.session, flags, {
      ...this.#asks,
      ...(!isNew && { messages: this.agent.messages }),
      ...(systemPrompt !== undefined && { systemPrompt }),
    });
    this.#flags = flags;
    this.#systemPrompt = systemPrompt;
    if (isNew) this.events.length = 0;
  }
}

interface ConversationOptions {
  readonly session: CliSession;
  readonly flags: AgentFlags;
  readonly onEvent: (event: AgentEvent) => void;
  /** Asks the user whether a call may be made. */
  readonly asks: Pick<AgentOptions, "approve">;
}
