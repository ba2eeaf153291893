import { appendLine } from "../../../../../shared/format-text.ts";
import type { ProblemDetails } from "../../../messages.ts";
import type { ApprovalSummary, ChatEntry, ChatEvent } from "../../../program-messages.ts";

export type DoneEvent = EventOf<"done">;

type EventOf<Type extends ChatEvent["type"]> = Extract<ChatEvent, { readonly type: Type }>;

/** A program of the model, or one of its tool calls, with everything that happens in it. */
export interface ChatStep {
  readonly kind: "step";
  readonly step: string;
  code: string;
  plan: EventOf<"plan">["calls"];
  readonly calls: Map<number, { readonly path: string; outcome?: string; durationMs?: number }>;
  progress: string;
  output: string;
  result: EventOf<"result"> | undefined;
}

/** A part of the page, in the order of the conversation. */
export type ChatItem =
  | { readonly kind: "message"; readonly role: "user" | "assistant"; readonly text: string }
  | ChatStep
  | { readonly kind: "approval"; readonly approval: ApprovalSummary }
  | { readonly kind: "notice"; readonly text: string; readonly isError: boolean }
  | { readonly kind: "problem"; readonly problem: ProblemDetails }
  | { readonly kind: "done"; readonly done: EventOf<"done"> };

export interface ChatView {
  readonly items: readonly ChatItem[];
  /** The reply that arrives. */
  readonly reply: string;
  readonly thinking: string;
  /** True if the last program waits for a person. */
  readonly isWaiting: boolean;
  /** Messages whose work has ended, and what they used together. */
  readonly messages: number;
  readonly usage: DoneEvent["usage"];
}

/** Folds the entries of a conversation into the parts that the page shows. */
export function createChatView(entries: readonly ChatEntry[]): ChatView {
  const items: ChatItem[] = [];
  const steps = new Map<string, ChatStep>();
  let [reply, thinking] = ["", ""];
  const openStep = (step: string): ChatStep => {
    const existing = steps.get(step);
    if (existing !== undefined) return existing;
    const created: ChatStep = {
      kind: "step",
      step,
      code: "",
      plan: [],
      calls: new Map(),
      progress: "",
      output: "",
      result: undefined,
    };
    steps.set(step, created);
    items.push(created);
    return created;
  };
  for (const entry of entries) {
    if (entry.kind === "approval") items.push({ kind: "approval", approval: entry.approval });
    else if (entry.kind === "problem") items.push({ kind: "problem", problem: entry.problem });
    else if (entry.event.type === "turn") [reply, thinking] = ["", ""];
    else if (entry.event.type === "delta") {
      if (entry.event.channel === "text") reply += entry.event.text;
      else thinking += entry.event.text;
    } else {
      if (entry.event.type === "message" || entry.event.type === "done") [reply, thinking] = ["", ""];
      addEvent(entry.event, items, openStep);
    }
  }
  const ends = items.flatMap((item) => (item.kind === "done" ? [item.done] : []));
  return {
    items,
    reply,
    thinking,
    isWaiting: ends.at(-1)?.reason === "waiting",
    messages: ends.length,
    usage: {
      inputTokens: ends.reduce((sum, { usage }) => sum + usage.inputTokens, 0),
      outputTokens: ends.reduce((sum, { usage }) => sum + usage.outputTokens, 0),
    },
  };
}

/** The text before a result that a model in code mode reads as a message of the user. */
const RESULT_MARK = "[Tool Result: ";

function addEvent(event: ChatEvent, items: ChatItem[], openStep: (step: string) => ChatStep): void {
  switch (event.type) {
    case "message": {
      const { role, content } = event.message;
      const isResult = role === "user" && content.startsWith(RESULT_MARK);
      if ((role === "user" || role === "assistant") && content.trim() !== "" && !isResult)
        items.push({ kind: "message", role, text: content });
      return;
    }
    case "code":
      openStep(event.step).code = event.code;
      return;
    case "plan":
      openStep(event.step).plan = event.calls;
      return;
    case "call_started":
      openStep(event.step).calls.set(event.call, { path: event.path });
      return;
    case "call_progress":
      openStep(event.step).progress =
        `${event.path}: ${event.done}${event.total === undefined ? "" : ` of ${event.total}`}`;
      return;
    case "call_ended":
      openStep(event.step).calls.set(event.call, event);
      return;
    case "output":
      openStep(event.step).output = appendLine(openStep(event.step).output, event.text);
      return;
    case "result":
      openStep(event.step).result = event;
      return;
    case "notice":
      items.push({ kind: "notice", text: event.text, isError: false });
      return;
    case "error":
      items.push({ kind: "notice", text: `${event.error.message}. ${event.error.fix}`, isError: true });
      return;
    case "done":
      items.push({ kind: "done", done: event });
      return;
    case "turn":
    case "delta":
    case "usage":
    case "waiting":
      return; // nothing of its own on the page
  }
}
