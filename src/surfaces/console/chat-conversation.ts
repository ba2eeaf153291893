import { randomUUID } from "node:crypto";

import { type Agent, type AgentEvent, createAgent, type AgentOptions } from "../../agent/index.ts";
import type { RuntimeView } from "../../runtime/api/view.ts";
import { findApproval, summarizeApproval } from "./api/approvals.ts";
import type { ChatEntry, ChatEvent } from "./program-messages.ts";
import type { OpenQuestions } from "./open-questions.ts";
import { toProblem } from "./problem.ts";

/** A conversation of one login with the model. It continues while no browser listens. */
export interface ConsoleConversation {
  readonly id: string;
  readonly isRunning: boolean;
  /** Sends a message; without a text, continues after a wait for an approval. Throws `AGENT_BUSY`. */
  send(text: string | undefined): void;
  /** Stops the work on the message; the conversation remains. */
  stop(): void;
  /** Reports the entries after a number, then new ones. `onIdle` is called when no work is under way, and then nothing more. */
  follow(after: number, listener: ChatListener): () => void;
}

export interface ChatListener {
  readonly onEntry: (entry: ChatEntry) => void;
  readonly onIdle: () => void;
}

type UnnumberedEntry = ChatEntry extends infer Entry ? (Entry extends ChatEntry ? Omit<Entry, "id"> : never) : never;

/** Entries beyond this number are dropped, the oldest first. */
const MAX_ENTRIES = 5_000;

export function createConsoleConversation(
  { view, questions }: { readonly view: RuntimeView; readonly questions: OpenQuestions },
  options: Pick<AgentOptions, "settings" | "readVariable">,
): ConsoleConversation {
  const listeners = new Set<ChatListener>();
  let entries: ChatEntry[] = [];
  let lastId = 0;
  let work: AbortController | undefined;

  function add(entry: UnnumberedEntry): void {
    const numbered = { ...view.secrets.maskTexts(entry), id: ++lastId } as ChatEntry;
    entries = [...dropReplaced(entries, numbered), numbered].slice(-MAX_ENTRIES);
    for (const { onEntry } of listeners) onEntry(numbered);
  }

  function showApproval(id: string): void {
    findApproval(view, id).then(
      (approval) => add({ kind: "approval", approval: summarizeApproval(approval) }),
      () => {}, // the store cannot be read, which the run reports
    );
  }

  const approve = questions.createApprove(view.caller, showApproval);
  const agent: Agent = createAgent({ ...options, runtime: view.shared, caller: view.caller, approve });

  async function consume(events: AsyncIterable<AgentEvent>): Promise<void> {
    try {
      for await (const event of events) {
        const sent = toChatEvent(event);
        if (sent !== undefined) add({ kind: "event", event: sent });
      }
    } catch (thrown) {
      add({ kind: "problem", problem: toProblem(thrown) });
    }
    work = undefined;
    for (const listener of listeners) listener.onIdle();
    listeners.clear();
  }

  return {
    id: randomUUID(),
    get isRunning() {
      return work !== undefined;
    },
    send(text) {
      const controller = new AbortController();
      const { signal } = controller;
      const events = text === undefined ? agent.resume({ signal }) : agent.send(text, { signal });
      work = controller;
      void consume(events);
    },
    stop: () => work?.abort(),
    follow(after, listener) {
      for (const entry of entries) if (entry.id > after) listener.onEntry(entry);
      if (work === undefined) {
        listener.onIdle();
        return () => {};
      }
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** The parts of a reply are replaced by its message, and a question by its newer state. */
function dropReplaced(entries: ChatEntry[], added: ChatEntry): ChatEntry[] {
  if (added.kind === "event" && added.event.type === "message")
    return entries.filter((entry) => entry.kind !== "event" || entry.event.type !== "delta");
  if (added.kind === "approval")
    return entries.filter((entry) => entry.kind !== "approval" || entry.approval.id !== added.approval.id);
  return entries;
}

/** Results are shown as such, so the messages that repeat them to the model are left out. */
function toChatEvent(event: AgentEvent): ChatEvent | undefined {
  if (event.type === "message" && (event.message.role === "tool" || event.message.role === "system")) return undefined;
  if (event.type !== "result") return event;
  const { outcome: _outcome, ...result } = event;
  return result;
}
