import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import type { ProblemDetails } from "../../../messages.ts";
import type { ChatEntry, ChatLine } from "../../../program-messages.ts";
import { request, requestLines, toProblem } from "../../api.ts";
import { onStale } from "../../state/events.ts";

/** The conversation of this login. */
export interface Chat {
  readonly entries: Signal<readonly ChatEntry[]>;
  readonly isRunning: Signal<boolean>;
  /** False until the stored conversation has arrived. */
  readonly isLoaded: Signal<boolean>;
  readonly error: Signal<ProblemDetails | undefined>;
  readonly send: (text: string) => void;
  /** Continues after a wait for an approval. */
  readonly resume: () => void;
  readonly stop: () => Promise<void>;
  readonly restart: () => Promise<void>;
}

/** The last line of an answer that has failed. */
interface FailedLine {
  readonly kind: "problem";
  readonly id?: undefined;
  readonly problem: ProblemDetails;
}

/** Follows the conversation: what is stored, and what is added while the model works. */
export function useChat(): Chat {
  const entries = useSignal<readonly ChatEntry[]>([]);
  const isRunning = useSignal(false);
  const isLoaded = useSignal(false);
  const error = useSignal<ProblemDetails | undefined>(undefined);
  const name = useRef("");
  const controller = useRef(new AbortController());
  const sends = useRef(false);

  const batch = useRef(createBatch(entries)).current;
  const receive = (line: ChatLine | FailedLine): void => {
    if (line.kind === "state") {
      const isNew = name.current !== "" && name.current !== line.conversation;
      name.current = line.conversation;
      isRunning.value = line.isRunning;
      if (sends.current) otherTabs.report();
      sends.current = false;
      if (!isNew) return;
      batch.clear();
      void listen("GET"); // its entries have numbers of their own
    } else if (line.id === undefined) error.value = line.problem;
    else batch.add(line);
  };
  const listen = async (method: "GET" | "POST", body?: object): Promise<void> => {
    controller.current.abort();
    controller.current = new AbortController();
    const { signal } = controller.current;
    sends.current = method === "POST";
    if (sends.current) isRunning.value = true;
    batch.flush();
    const after = entries.value.at(-1)?.id ?? 0;
    try {
      await requestLines(`/chat?after=${after}`, { method, signal, ...(body !== undefined && { body }) }, receive);
      error.value = undefined;
    } catch (thrown) {
      if (!signal.aborted) error.value = toProblem(thrown);
    }
    if (signal.aborted) return;
    batch.flush();
    isRunning.value = false;
    isLoaded.value = true;
  };
  useEffect(() => {
    const stop = reloadOnChange(() => void listen("GET"));
    return () => {
      stop();
      controller.current.abort();
    };
  }, []);
  return {
    entries,
    isRunning,
    isLoaded,
    error,
    send: (text) => void listen("POST", { text }),
    resume: () => void listen("POST", { resume: true }),
    stop: () => request("/chat/stop", { method: "POST", body: {} }),
    async restart() {
      controller.current.abort();
      await request("/chat", { method: "DELETE" });
      batch.clear();
      otherTabs.report();
      await listen("GET");
    },
  };
}

/** Loads now, and whenever another tab or the server changed the conversation. Returns the function that stops it. */
function reloadOnChange(load: () => void): () => void {
  load();
  const stops = [onStale(load), otherTabs.onChange(load)];
  return () => {
    for (const stop of stops) stop();
  };
}

/** Tells other tabs of this browser that the conversation continues or is new. A tab does not hear itself. */
const otherTabs = {
  channel: new BroadcastChannel("chat"),
  report(): void {
    this.channel.postMessage(null);
  },
  onChange(listener: () => void): () => void {
    this.channel.addEventListener("message", listener);
    return () => this.channel.removeEventListener("message", listener);
  },
};

/** Collects the entries of one frame, so that the page is drawn once for them. Entries that are there already are left out. */
function createBatch(entries: Signal<readonly ChatEntry[]>) {
  let batch: ChatEntry[] = [];
  const flush = (): void => {
    if (batch.length === 0) return;
    const last = entries.value.at(-1)?.id ?? 0;
    entries.value = [...entries.value, ...batch.filter(({ id }) => id > last)];
    batch = [];
  };
  return {
    add(entry: ChatEntry): void {
      if (batch.length === 0) requestAnimationFrame(flush);
      batch.push(entry);
    },
    flush,
    clear(): void {
      batch = [];
      entries.value = [];
    },
  };
}
