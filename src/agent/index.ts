import { lookUp } from "../config/index.ts";
import { sentence, SkillgateError } from "../errors.ts";
import type { Approve } from "../model/approval.ts";
import { type Caller, OWNER } from "../model/caller.ts";
import type { Runtime } from "../runtime.ts";
import { type OptionNames, requireNames } from "../shared/settings/option-names.ts";
import { waitAtMost } from "../shared/run-with-timeout.ts";
import { BudgetMeter, type Budgets } from "./budgets.ts";
import { type ChatAnswer, type ChatOptions, type ChatRequest, requireChatRequest } from "./chat.ts";
import { Conversation } from "./conversation.ts";
import { EventQueue } from "./event-queue.ts";
import type { AgentEvent, AgentMode, WaitingRun } from "./events.ts";
import type { ChatMessage } from "./messages.ts";
import { chooseModel, type ReadVariable } from "./models/choose-model.ts";
import { type ChatModel, type OpenedModel, openModel } from "./models/open-model.ts";
import { type AgentSettings, parseAgentSettings, parseBudgets } from "./models/settings.ts";
import { chatWith, createPrompt, workOn } from "./work.ts";

export { type Budgets, getBudgetLimits } from "./budgets.ts";
export type { ChatAnswer, ChatOptions, ChatRequest } from "./chat.ts";
export type {
  ActiveMode,
  AgentDone,
  AgentError,
  AgentEvent,
  AgentMode,
  BudgetName,
  DoneReason,
  NoticeCode,
  PlannedStep,
  TokenUsage,
  WaitingRun,
} from "./events.ts";
export type { ChatMessage, ChatToolCall } from "./messages.ts";
export type { ChatModel } from "./models/open-model.ts";
export { chooseModel, type ModelChoice, type ReadVariable } from "./models/choose-model.ts";
export { AGENT_SCHEMA, parseAgentSettings } from "./models/settings.ts";
export { parseToolCalls } from "./steps/parse-tool-calls.ts";
export { formatTranscript, formatTranscriptHeader, parseTranscript } from "./transcript.ts";
export type { AgentSettings, ProviderName, TokenPrice } from "./models/settings.ts";

export interface AgentOptions {
  readonly runtime: Pick<Runtime, "known" | "secrets" | "timeouts" | "viewFor"> & Partial<Pick<Runtime, "sections">>;
  /**
   * `provider:model`, such as `openai:gpt-5`, `ollama:qwen3` or `scripted:replies.yaml`, or a language model of the AI SDK 6.
   * By default that of the settings, or of the environment.
   */
  readonly model?: string | ChatModel;
  readonly mode?: AgentMode;
  /** Limits of the work on one message; others keep their defaults. */
  readonly budgets?: Partial<Budgets>;
  /** On whose behalf programs run. Without a caller, everything is allowed. */
  readonly caller?: Caller;
  /** Answers the questions whether a call may be made, in place of the runtime's own `approve`. */
  readonly approve?: Approve;
  /** A system prompt of your own; the catalog replaces `{skill_descriptions}`. */
  readonly systemPrompt?: string;
  /** An earlier conversation that continues. */
  readonly messages?: readonly ChatMessage[];
  /** Replaces the section `agent` of settings.yaml. */
  readonly settings?: AgentSettings;
  /** Reads the variables with addresses and keys; by default those of this process. */
  readonly readVariable?: ReadVariable;
}

const OPTIONS: OptionNames<AgentOptions> = {
  runtime: true,
  model: true,
  mode: true,
  budgets: true,
  caller: true,
  approve: true,
  systemPrompt: true,
  messages: true,
  settings: true,
  readVariable: true,
};

export interface SendOptions {
  /** Cancels the work; the last event is then `done` with the reason `cancelled`. */
  readonly signal?: AbortSignal;
}

/** A conversation with a model that acts through the runtime. */
export interface Agent {
  /**
   * Sends a message, and returns the events of the work on it. It begins at once. To stop reading the events cancels it.
   * Failures of the model are events; only `AGENT_BUSY` is thrown, and errors of the configuration.
   */
  send(text: string, options?: SendOptions): AsyncIterableIterator<AgentEvent, undefined>;
  /**
   * Continues after `done` with the reason `waiting`: waits for the outcome of the program, which the model then reads. It
   * ends with `waiting` again if no person has answered within `approvals.holdSeconds`. Without a program that waits, it ends
   * at once. Throws `AGENT_BUSY`.
   */
  resume(options?: SendOptions): AsyncIterableIterator<AgentEvent, undefined>;
  /** The program that waits for a person, if there is one. */
  readonly waiting: WaitingRun | undefined;
  /** All messages so far, without the system prompt. */
  readonly messages: readonly ChatMessage[];
  /** The system prompt of the next request. */
  readonly systemPrompt: string;
  /**
   * Answers a conversation of yours, in the format of OpenAI, with tool calls on the way. It does not read or change
   * `messages` of the agent. Rejects with errors of the model, and with the reason of the signal.
   */
  chat(messages: readonly unknown[], options?: ChatOptions): Promise<ChatAnswer>;
  /** Answers one message of a program. */
  respond(request: ChatRequest): Promise<{ readonly content: string }>;
}

/** Creates an agent. Its model is opened when the first message is sent. */
export function createAgent(options: AgentOptions): Agent {
  requireNames("createAgent", options, OPTIONS);
  const { runtime, caller = OWNER } = options;
  const view = runtime.viewFor(caller);
  const settings = parseAgentSettings(options.settings ?? runtime.sections?.["agent"]);
  const conversation = new Conversation(options.mode ?? settings.mode ?? "auto", options.messages ?? []);
  const budgets = parseBudgets({ ...settings.budgets, ...options.budgets });
  let opened: Promise<OpenedModel> | undefined;
  let isBusy = false;

  async function open(): Promise<OpenedModel> {
    opened ??= openFor(options, settings).catch((thrown: unknown) => {
      opened = undefined; // its variables may be set by the next message
      throw thrown;
    });
    const model = await opened;
    runtime.secrets.add(model.secrets);
    await waitAtMost(runtime.timeouts.discoveryMs, runtime.known);
    return model;
  }

  function begin(text: string | undefined, { signal }: SendOptions = {}): AsyncIterableIterator<AgentEvent, undefined> {
    const name = text === undefined ? "resume" : "send";
    if (isBusy) throw new SkillgateError("AGENT_BUSY", sentence("AGENT_BUSY", `${name} was called again`));
    isBusy = true;
    const controller = new AbortController();
    const stop = AbortSignal.any([controller.signal, ...(signal === undefined ? [] : [signal])]);
    const meter = new BudgetMeter(budgets, () => conversation.mode);
    const queue = new EventQueue<AgentEvent>(async () => {
      controller.abort();
      await work;
    });
    const emit = (event: AgentEvent): void =>
      queue.push(event.type === "error" || event.type === "notice" ? runtime.secrets.maskValue(event) : event);
    const work = (async () => {
      try {
        emit(await workOn(text, { options, view, opened: await open(), conversation, meter, emit, stop }));
        queue.end();
      } catch (thrown) {
        queue.end({ thrown });
      } finally {
        isBusy = false;
      }
    })();
    return toIterable(queue);
  }

  async function chat(messages: readonly unknown[], chatOptions: ChatOptions = {}): Promise<ChatAnswer> {
    return chatWith(messages, chatOptions, { options, view, opened: await open(), budgets, settings });
  }

  return {
    send: begin,
    resume: (sendOptions) => begin(undefined, sendOptions),
    get waiting() {
      const { waiting } = conversation;
      return waiting && { step: waiting.step, runId: waiting.runId, approvals: waiting.approvals };
    },
    get messages() {
      return conversation.messages;
    },
    get systemPrompt() {
      return createPrompt(conversation.mode, view, options, conversation);
    },
    chat,
    async respond(request) {
      const { message, enable_tools: hasTools } = requireChatRequest(request);
      const { content } = await chat([{ role: "user", content: message }], hasTools ? {} : { maxToolCalls: 0 });
      return { content };
    },
  };
}

async function openFor(options: AgentOptions, settings: AgentSettings): Promise<OpenedModel> {
  const { model, readVariable = lookUp([process.env]) } = options;
  if (typeof model !== "object") return openModel(chooseModel(model, settings, readVariable));
  const contextTokens = settings.contextTokens ?? DEFAULT_CONTEXT_TOKENS;
  return { model, label: `${model.provider}:${model.modelId}`, contextTokens, secrets: [] };
}

/** The context window of a model that a program passes. */
const DEFAULT_CONTEXT_TOKENS = 128_000;

function toIterable(queue: EventQueue<AgentEvent>): AsyncIterableIterator<AgentEvent, undefined> {
  const iterator: AsyncIterableIterator<AgentEvent, undefined> = {
    next: () => queue.next(),
    return: () => queue.return(),
    [Symbol.asyncIterator]: () => iterator,
  };
  return iterator;
}
