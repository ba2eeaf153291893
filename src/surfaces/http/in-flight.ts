import { ServerResponse } from "node:http";

import { waitAtMost } from "../../shared/run-with-timeout.ts";

/** Tracks the requests in progress. Streams that only listen do not count. */
export interface InFlight {
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
  return {
    trackResponse: (response) => add(response, new Promise((resolve) => response.once("close", resolve))),
    untrack: (response) => void under.delete(response),
    trackWork: (work) => add({}, work),
    async waitUntilSent(atMostMs) {
      const leaving = [...under].filter(([what]) => what instanceof ServerResponse && what.writableEnded);
      await waitAtMost(atMostMs, Promise.all(leaving.map(([, end]) => end)));
    },
    waitUntilIdle: (atMostMs) => waitAtMost(atMostMs, Promise.all(under.values())),
  };
}
