import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";

import type { ChatInfo } from "../../../chat-messages.ts";
import { ApprovalCard } from "../../components/approval-card.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { Markdown } from "../../components/markdown.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { Text } from "../../components/text.tsx";
import { formatDuration } from "../../components/time.tsx";
import { useResource } from "../../state/resource.ts";
import { showError } from "../../state/toasts.ts";
import { type ChatItem, type ChatView, createChatView } from "./conversation.ts";
import { StepCard } from "./step-card.tsx";
import { useChat } from "./use-chat.ts";

/** A conversation with the model, whose programs run with the rights of the person at the browser. */
export function ChatPage() {
  const info = useResource<ChatInfo>("/chat/info");
  const chat = useChat();
  const view = useMemo(() => createChatView(chat.entries.value), [chat.entries.value]);
  if (info.error.value !== undefined) return <ErrorNotice error={info.error.value} onRetry={info.reload} />;
  if (info.data.value === undefined || !(chat.isLoaded.value || chat.isRunning.value)) return <Skeleton lines={6} />;
  const { model, problem, budgets } = info.data.value;
  if (model === null) return <NoModel problem={problem} onRetry={info.reload} />;
  const resume = (): void => {
    if (view.isWaiting) chat.resume();
  };
  return (
    <div class="chat">
      <div class="toolbar">
        <p class="muted toolbar-text">
          <Text value={model} limit={100} />
          {". A message may use "}
          {budgets.map(({ name, limit }) => `${limit.toLocaleString()} ${name}`).join(", ")}.
        </p>
        <button
          type="button"
          class="button"
          disabled={chat.entries.value.length === 0}
          onClick={() => void chat.restart().catch(showError)}
        >
          New conversation
        </button>
      </div>
      <Messages view={view} onAnswered={resume} />
      {chat.isRunning.value && (
        <p class="muted chat-state" role="status">
          The model works …
        </p>
      )}
      {chat.error.value !== undefined && <ErrorNotice error={chat.error.value} />}
      {view.isWaiting && !chat.isRunning.value && (
        <button type="button" class="button" onClick={chat.resume}>
          Continue after the answer
        </button>
      )}
      <MessageForm
        isRunning={chat.isRunning.value}
        onSend={chat.send}
        onStop={() => void chat.stop().catch(showError)}
      />
    </div>
  );
}

interface NoModelProps {
  readonly problem: ChatInfo["problem"];
  readonly onRetry: () => void;
}

/** Says in a line each how to get a model. */
function NoModel({ problem, onRetry }: NoModelProps) {
  return (
    <EmptyState icon="chat" title="No model">
      {problem !== null && (
        <>
          {problem.code !== "MODEL_MISSING" && (
            <p>
              <Text value={problem.detail ?? problem.title} />
            </p>
          )}
          <ul class="advice">
            {problem.fix.split("\n").map((line) => (
              <li key={line}>
                <Text value={line} />
              </li>
            ))}
          </ul>
          <p>In settings.yaml, agent.model names the model of this page.</p>
        </>
      )}
      <button type="button" class="button" onClick={onRetry}>
        Try again
      </button>
    </EmptyState>
  );
}

interface MessagesProps {
  readonly view: ChatView;
  readonly onAnswered: () => void;
}

function Messages({ view: { items, reply, thinking }, onAnswered }: MessagesProps) {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => end.current?.scrollIntoView({ block: "nearest" }), [items.length, reply.length, thinking.length]);
  return (
    <div class="messages" role="log" aria-label="Conversation">
      {items.length === 0 && reply === "" && (
        <EmptyState icon="chat" title="Ask for something">
          The model finds methods, writes a program, and answers from its result.
        </EmptyState>
      )}
      {items.map((item, at) => (
        <Item key={at} item={item} onAnswered={onAnswered} />
      ))}
      {thinking !== "" && reply === "" && (
        <p class="muted">
          <Text value={thinking.slice(-600)} />
        </p>
      )}
      {reply !== "" && (
        <div class="message">
          <Markdown text={reply} />
        </div>
      )}
      <div ref={end} />
    </div>
  );
}

function Item({ item, onAnswered }: { readonly item: ChatItem; readonly onAnswered: () => void }) {
  switch (item.kind) {
    case "message":
      return item.role === "user" ? (
        <div class="message message-user">
          <span class="visually-hidden">You: </span>
          <Text value={item.text} />
        </div>
      ) : (
        <div class="message">
          <Markdown text={item.text} />
        </div>
      );
    case "step":
      return <StepCard step={item} />;
    case "approval":
      return <ApprovalCard approval={item.approval} canAnswer onAnswered={onAnswered} />;
    case "notice":
      return (
        <p class={item.isError ? "notice notice-error" : "muted"}>
          <Text value={item.text} />
        </p>
      );
    case "problem":
      return <ErrorNotice error={item.problem} />;
    case "done": {
      const { reason, budget, turns, calls, usage, durationMs } = item.done;
      const tokens = usage.inputTokens + usage.outputTokens;
      const facts = [
        count(turns, "turn"),
        count(calls, "call"),
        `${tokens.toLocaleString()} tokens`,
        formatDuration(durationMs),
      ];
      return (
        <p class="muted chat-done">
          {reason === "budget" ? `The budget of ${budget} is used up. ` : DONE_TEXTS[reason]}
          {facts.join(" · ")}
        </p>
      );
    }
  }
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString()} ${number === 1 ? noun : `${noun}s`}`;
}

const DONE_TEXTS = {
  answer: "",
  error: "Ended with an error. ",
  cancelled: "Stopped. ",
  waiting: "The program waits for an answer. ",
} as const;

interface MessageFormProps {
  readonly isRunning: boolean;
  readonly onSend: (text: string) => void;
  readonly onStop: () => void;
}

/** The field for a message. Enter sends it; with Shift it breaks the line. */
function MessageForm({ isRunning, onSend, onStop }: MessageFormProps) {
  const text = useSignal("");
  const send = (): void => {
    if (isRunning || text.value.trim() === "") return;
    onSend(text.value);
    text.value = "";
  };
  return (
    <form
      class="message-form"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label>
        <span class="visually-hidden">Message</span>
        <textarea
          rows={2}
          autofocus
          placeholder="Ask for something"
          value={text.value}
          onInput={({ currentTarget }) => (text.value = currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            send();
          }}
        />
      </label>
      {isRunning ? (
        <button type="button" class="button button-danger" onClick={onStop}>
          Stop
        </button>
      ) : (
        <button type="submit" class="button button-primary" disabled={text.value.trim() === ""}>
          Send
        </button>
      )}
    </form>
  );
}
