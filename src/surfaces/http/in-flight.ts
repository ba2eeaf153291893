import { ServerResponse } from "node:http";

import { waitAtMost } from "../../shared/run-with-timeout.ts";

/** Tracks the requests in progress. Streams that only listen do not count. */
export interface InFlight {
  /** True once the server stops: requests that arrive after that are refused. */
  readonly isStopping: boolean;
  /** Refuses further requests. The connections of those in progress are closed after their answers. */
  stop(): void;
  trackResponse(response: ServerResponse): void;
  /** Stops tracking a response that stays open until the client closes it. */
  untrack(response: ServerResponse): void;
  /** Tracks work that is not answered through a response; `work` must never reject. */
  trackWork(work: Promise<void>): void;
  /** Settles when all ended responses are sent, or after the timeout. */
  waitUntilSent(atMostMs: number): Promise<void>;
  /** Settles when no request is in progress, with true, or after the timeout, with false. */
  waitUntilIdle(atMostMs: number): Promise<boolean>;
}

export function createInFlight(): InFlight {
  const under = new Map<object, Promise<void>>();
  const add = (what: object, end: Promise<void>): void => {
    under.set(
      what,
      end.then(() => void under.delete(what)),
    );
  };
  let isStopping = false;
  return {
    get isStopping() {
      return isStopping;
    },
    stop() {
      isStopping = true;
      for (const what of under.keys())
        if (what instanceof ServerResponse && !what.headersSent) what.setHeader("connection", "close");
    },
    trackResponse: (response) => add(response, new Promise((resolve) => response.once("close", resolve))),
    untrack: (response) => void under.delete(response),
    trackWork: (work) => add({}, work),
    async waitUntilSent(atMostMs) {
      const leaving = [...under].filter(([what]) => what instanceof ServerResponse && what.writableEnded);
      await waitAtMost(atMostMs, Promise.all(leaving.map(([, end]) => end)));
    },
    async waitUntilIdle(atMostMs) {
      const until = performance.now() + atMostMs;
      // Calls over a WebSocket may follow those that were in progress.
      while (under.size > 0 && performance.now() < until)
        await waitAtMost(until - performance.now(), Promise.all(under.values()));
      return under.size === 0;
    },
  };
}
