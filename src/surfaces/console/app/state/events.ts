import { signal } from "@preact/signals";

import type { ConsoleEventName, ConsoleEvents } from "../../messages.ts";
import { request, toProblem } from "../api.ts";
import { notifies } from "./notifications.ts";
import { loadSession } from "./session.ts";

/** The stream of live events. */
export type StreamState = "connecting" | "open" | "lost";

export const connection = signal<StreamState>("connecting");

type DataListener<Name extends ConsoleEventName> = (data: ConsoleEvents[Name]) => void;

const listeners = new Map<ConsoleEventName, Set<DataListener<never>>>();

/** Calls the listener for each event of that name. Returns the function that stops it. */
export function onEvent<Name extends ConsoleEventName>(name: Name, listener: DataListener<Name>): () => void {
  const all = listeners.get(name) ?? new Set();
  listeners.set(name, all);
  all.add(listener);
  return () => void all.delete(listener);
}

export type ChangedPart = "accounts" | "automations" | "catalog" | "servers";

/** Lets the parts of the page that follow an event load their data again, before the server reports the change. */
export function reportChange(name: ChangedPart): void {
  for (const listener of listeners.get(name) ?? []) (listener as () => void)();
}

/** Listeners that load their data again after events were lost. */
const staleListeners = new Set<() => void>();

/** Calls the listener when events may have been missed. Returns the function that stops it. */
export function onStale(listener: () => void): () => void {
  staleListeners.add(listener);
  return () => void staleListeners.delete(listener);
}

const EVENT_NAMES: readonly ConsoleEventName[] = [
  "hello",
  "catalog",
  "call",
  "run",
  "approval",
  "approvals",
  "accounts",
  "automations",
  "servers",
  "store",
  "end",
];

const MIN_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;

/**
 * Opens the stream, and opens it again after each loss, behind the last event that arrived. A hidden page has no stream, unless it
 * notifies its reader, because a browser opens only six connections to a server. Returns the function that closes it.
 */
export function openEvents(): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastId = "";
  let retryMs = MIN_RETRY_MS;
  let isLive = true;

  function close(): void {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  }

  function open(): void {
    close();
    if (document.hidden && !notifies.value) return;
    source = new EventSource(`/console/api/events${lastId === "" ? "" : `?after=${encodeURIComponent(lastId)}`}`);
    for (const name of EVENT_NAMES) source.addEventListener(name, (event) => receive(name, event));
    source.addEventListener("error", retryLater);
  }

  function retryLater(): void {
    close();
    connection.value = "lost";
    timer = setTimeout(() => void retry(), retryMs);
    retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
  }

  /** An event source does not report why it ends: asks first whether the login is still valid. */
  async function retry(): Promise<void> {
    try {
      await request("/session");
    } catch (error) {
      if (isLive && toProblem(error).code !== "LOGIN_MISSING") retryLater();
      return;
    }
    if (isLive) open();
  }

  function receive(name: ConsoleEventName, { data, lastEventId }: MessageEvent<string>): void {
    const isFirst = lastId === "";
    if (lastEventId !== "") lastId = lastEventId;
    const value = JSON.parse(data) as never;
    if (name === "hello") {
      retryMs = MIN_RETRY_MS;
      connection.value = "open";
      const { isComplete }: ConsoleEvents["hello"] = value;
      if (!isFirst && !isComplete) for (const listener of staleListeners) listener();
    }
    for (const listener of listeners.get(name) ?? []) listener(value);
    if (name === "end") {
      close();
      void loadSession();
    }
  }

  const changeVisibility = (): void => {
    if (source === undefined || !notifies.value) open();
  };
  document.addEventListener("visibilitychange", changeVisibility);
  open();
  return () => {
    isLive = false;
    document.removeEventListener("visibilitychange", changeVisibility);
    close();
  };
}
