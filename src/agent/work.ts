import type { AgentOptions } from "./index.ts";
import { type Budgets, BudgetMeter } from "./budgets.ts";
import { chat, type ChatAnswer, type ChatOptions } from "./chat.ts";
import { Conversation } from "./conversation.ts";
import { sentence, SkillgateError } from "../errors.ts";
import type { ActiveMode, AgentDone, AgentEvent } from "./events.ts";
import { MessageLoop } from "./message-loop.ts";
import type { ChatMessage } from "./messages.ts";
import type { OpenedModel } from "./models/open-model.ts";
import type { AgentSettings } from "./models/settings.ts";
import type { RuntimeView } from "../runtime/api/view.ts";
import type { StepContext } from "./steps/step-context.ts";

type WorkOptions = Pick<AgentOptions, "approve" | "systemPrompt" | "mode">;

interface Work {
  readonly options: WorkOptions;
  readonly view: RuntimeView;
  readonly opened: OpenedModel;
  readonly conversation: Conversation;
  readonly meter: BudgetMeter;
  readonly emit: (event: AgentEvent) => void;
  readonly stop: AbortSignal;
}

/**
 * Works on one message, until its answer, its budget, its cancellation, or until a program waits for a person. Without a
 * message, continues after that.
 */
export async function workOn(text: string | undefined, work: Work): Promise<AgentDone> {
  const { options, view, opened, conversation, meter, emit, stop } = work;
  const deadline = new AbortController();
  const context = createContext(work, AbortSignal.any([stop, deadline.signal]));
  const getSystemPrompt = (mode: ActiveMode): string => createPrompt(mode, view, options, conversation);
  const loop = new MessageLoop({ opened, conversation, context, meter, emit, getSystemPrompt });
  if (text !== undefined) {
    loop.leaveWaiting();
    addMessage(text, work);
  }
  const stopWatching = watchDeadline(meter, deadline);
  try {
    return await (text === undefined ? loop.resume() : loop.run());
  } catch (thrown) {
    if (stop.aborted) return loop.cancel();
    if (deadline.signal.aborted) return await loop.endByBudget("seconds");
    throw thrown;
  } finally {
    for (const result of conversation.closeOpenCalls()) emit({ type: "message", message: result });
    stopWatching();
  }
}

function addMessage(text: string, { conversation, view, emit }: Work): void {
  const message: ChatMessage = { role: "user", content: text };
  conversation.messages.push(message);
  if (conversation.mode === "native") conversation.remember(findLikely(text, view));
  emit({ type: "message", message });
}

/** Answers a conversation of a program, with tool calls on the way. */
export async function chatWith(
  messages: readonly unknown[],
  chatOptions: ChatOptions,
  {
    options,
    view,
    opened,
    budgets,
    settings,
  }: {
    readonly options: WorkOptions;
    readonly view: RuntimeView;
    readonly opened: OpenedModel;
    readonly budgets: Partial<Budgets>;
    readonly settings: AgentSettings;
  },
): Promise<ChatAnswer> {
  const mode = (options.mode ?? settings.mode) === "native" ? "native" : "tools";
  const conversation = new Conversation(mode, []);
  const meter = new BudgetMeter(budgets, () => mode);
  const deadline = new AbortController();
  const signals = [deadline.signal, ...(chatOptions.signal === undefined ? [] : [chatOptions.signal])];
  const signal = AbortSignal.any(signals);
  const emit = (): void => {};
  const context = createContext({ options, view, conversation, meter, emit }, signal);
  if (mode === "native") conversation.remember(findLikely(JSON.stringify(messages.at(-1) ?? ""), view));
  const stopWatching = watchDeadline(meter, deadline);
  try {
    return await chat(messages, chatOptions, {
      context,
      ask: { opened, signal, meter, emit },
      mode,
      recent: conversation.recent,
      systemPrompt: createPrompt(mode, view, options, conversation),
    });
  } finally {
    stopWatching();
  }
}

function createContext(
  { options, view, conversation, meter, emit }: Pick<Work, "options" | "view" | "conversation" | "meter" | "emit">,
  signal: AbortSignal,
): StepContext {
  return {
    view,
    approve: options.approve,
    conversation: conversation.id,
    signal,
    meter,
    emit,
    createStepId: () => conversation.createStepId(),
    remember: (paths) => conversation.remember(paths),
  };
}

/** Returns the system prompt of the next request. */
export function createPrompt(
  mode: ActiveMode,
  view: RuntimeView,
  { systemPrompt: template }: WorkOptions,
  { readsPrograms, fenceWord }: Conversation,
): string {
  return view.systemPrompt({
    mode,
    ...(template !== undefined && { template }),
    ...(readsPrograms && { fence: `js ${fenceWord}` }),
  });
}

/** Methods that the words of a message find, the best last: native mode offers only a few. */
function findLikely(text: string, view: RuntimeView): readonly string[] {
  return view
    .search(text)
    .results.map(({ path }) => path)
    .reverse();
}

/** The longest time that a timer can wait, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The time between two looks at the clock while it stands still. */
const PAUSE_CHECK_MS = 250;

function createDeadlineError({ limits }: BudgetMeter): SkillgateError {
  return new SkillgateError("CANCELLED", sentence("CANCELLED", `the budget of ${limits.seconds} seconds is used up`));
}

function getDelay({ remainingMs, isPaused }: BudgetMeter): number {
  return Math.min(isPaused ? Math.max(remainingMs, PAUSE_CHECK_MS) : remainingMs, MAX_TIMER_MS);
}

/** Aborts the work when its seconds are used up; asking a person moves that moment. */
function watchDeadline(meter: BudgetMeter, deadline: AbortController): () => void {
  let timer: NodeJS.Timeout | undefined;
  const check = (): void => {
    if (meter.remainingMs <= 0) deadline.abort(createDeadlineError(meter));
    else timer = setTimeout(check, getDelay(meter)).unref();
  };
  check();
  return () => clearTimeout(timer);
}
