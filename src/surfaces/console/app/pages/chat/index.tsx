import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";

import type { ChatInfo } from "../../../program-messages.ts";
import { ApprovalCard } from "../../components/approval-card.tsx";
import { Button, EmptyState, ErrorNotice, Skeleton, TextList } from "../../components/elements.tsx";
import { Load } from "../../components/load.tsx";
import { Markdown } from "../../components/markdown.tsx";
import { countNoun, formatCount, formatDuration, Text } from "../../components/text.tsx";
import { type ChatItem, type ChatView, createChatView, type DoneEvent } from "./conversation.ts";
import { StepCard } from "./step-card.tsx";
import { type Chat, useChat } from "./use-chat.ts";

/** A conversation with the model, whose programs run with the rights of the person at the browser. */
export function ChatPage() {
  const chat = useChat();
  return (
    <Load<ChatInfo> path="/chat/info">
      {(info, reload) => {
        if (!(chat.isLoaded.value || chat.isRunning.value)) return <Skeleton lines={6} />;
        if (info.model === null) return <NoModel problem={info.problem} onRetry={reload} />;
        return <Conversation chat={chat} model={info.model} budgets={info.budgets} price={info.price} />;
      }}
    </Load>
  );
}

interface ConversationProps extends Pick<ChatInfo, "budgets" | "price"> {
  readonly chat: Chat;
  readonly model: string;
}

function Conversation({ chat, model, budgets, price }: ConversationProps) {
  const view = useMemo(() => createChatView(chat.entries.value), [chat.entries.value]);
  const limits = budgets.map(({ name, limit }) => `${limit.toLocaleString()} ${name}`).join(", ");
  const resume = (): void => {
    if (view.isWaiting) chat.resume();
  };
  return (
    <div class="chat stack">
      <div class="row">
        <Text in="p" class="muted wide" value={`${model}. A message may use ${limits}.`} limit={400} />
        <Button label="New conversation" disabled={chat.entries.value.length === 0} onClick={chat.restart} />
      </div>
      <Messages view={view} price={price} onAnswered={resume} />
      {view.messages > 1 && (
        <p class="muted small">
          In total: {countNoun(view.messages, "message")} · {describeUsage(view.usage, price)}
        </p>
      )}
      {chat.isRunning.value && (
        <p class="muted" role="status">
          The model works …
        </p>
      )}
      {chat.error.value !== undefined && <ErrorNotice error={chat.error.value} />}
      {view.isWaiting && !chat.isRunning.value && <Button label="Continue after the answer" onClick={chat.resume} />}
      <MessageForm chat={chat} />
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
          {problem.code !== "MODEL_MISSING" && <Text in="p" value={problem.detail ?? problem.title} />}
          <TextList class="stack-tight advice" texts={problem.fix.split("\n")} />
          <p>In settings.yaml, agent.model names the model of this page.</p>
        </>
      )}
      <Button label="Try again" onClick={onRetry} />
    </EmptyState>
  );
}

interface MessagesProps extends Pick<ChatInfo, "price"> {
  readonly view: ChatView;
  readonly onAnswered: () => void;
}

function Messages({ view: { items, reply, thinking }, price, onAnswered }: MessagesProps) {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => end.current?.scrollIntoView({ block: "nearest" }), [items.length, reply.length, thinking.length]);
  return (
    <div class="stack" role="log" aria-label="Conversation">
      {items.length === 0 && reply === "" && (
        <EmptyState icon="chat" title="Ask for something">
          The model finds methods, writes a program, and answers from its result.
        </EmptyState>
      )}
      {items.map((item, at) => (
        <Item key={at} item={item} price={price} onAnswered={onAnswered} />
      ))}
      {thinking !== "" && reply === "" && <Text in="p" class="muted" value={thinking.slice(-600)} />}
      {reply !== "" && <Markdown text={reply} />}
      <div ref={end} />
    </div>
  );
}

interface ItemProps extends Pick<MessagesProps, "price" | "onAnswered"> {
  readonly item: ChatItem;
}

function Item({ item, price, onAnswered }: ItemProps) {
  switch (item.kind) {
    case "message":
      if (item.role === "assistant") return <Markdown text={item.text} />;
      return (
        <div class="message-user">
          <span class="visually-hidden">You: </span>
          <Text value={item.text} />
        </div>
      );
    case "step":
      return <StepCard step={item} />;
    case "approval":
      return <ApprovalCard approval={item.approval} canAnswer onAnswered={onAnswered} />;
    case "notice":
      return <Text in="p" class={item.isError ? "notice notice-error" : "muted"} value={item.text} />;
    case "problem":
      return <ErrorNotice error={item.problem} />;
    case "done":
      return <p class="muted small chat-done">{describeEnd(item.done, price)}</p>;
  }
}

function describeEnd({ reason, budget, turns, calls, usage, durationMs }: DoneEvent, price: ChatInfo["price"]): string {
  const end = reason === "budget" ? `The budget of ${budget} is used up. ` : DONE_TEXTS[reason];
  const counts = [countNoun(turns, "turn"), countNoun(calls, "call"), describeUsage(usage, price)];
  return `${end}${[...counts, formatDuration(durationMs)].join(" · ")}`;
}

/** `1,204 tokens, 1,100 of them read`, and the cost by the price in the settings. */
function describeUsage({ inputTokens, outputTokens }: DoneEvent["usage"], price: ChatInfo["price"]): string {
  const tokens = `${countNoun(inputTokens + outputTokens, "token")}, ${formatCount(inputTokens)} of them read`;
  if (price === null) return tokens;
  const cost = (inputTokens * price.input + outputTokens * price.output) / 1_000_000;
  return `${tokens}, cost ${cost.toLocaleString(undefined, { maximumSignificantDigits: 3 })}`;
}

const DONE_TEXTS = {
  answer: "",
  error: "Ended with an error. ",
  cancelled: "Stopped. ",
  waiting: "The program waits for an answer. ",
} as const;

/** The field for a message. Enter sends it; with Shift it breaks the line. */
function MessageForm({ chat: { isRunning, send, stop } }: { readonly chat: Chat }) {
  const text = useSignal("");
  const submit = (event: Event): void => {
    event.preventDefault();
    if (isRunning.value || text.value.trim() === "") return;
    send(text.value);
    text.value = "";
  };
  return (
    <form class="message-form" onSubmit={submit}>
      <label>
        <span class="visually-hidden">Message</span>
        <textarea
          rows={2}
          autofocus
          placeholder="Ask for something"
          value={text.value}
          onInput={({ currentTarget }) => (text.value = currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
          }}
        />
      </label>
      {isRunning.value ? (
        <Button label="Stop" tone="danger" onClick={stop} />
      ) : (
        <Button label="Send" type="submit" tone="primary" disabled={text.value.trim() === ""} />
      )}
    </form>
  );
}
