import { ServerResponse } from "node:http";

import { waitAtMost } from "../mcp/index.ts";

/** What is under way; streams that only listen do not count. */
export interface InFlight {
  trackResponse(response: ServerResponse): void;
  /** It goes on for as long as the client likes. */
  untrack(response: ServerResponse): void;
  /** The same for what is answered in another way; `work` never rejects. */
  trackWork(work: Promise<void>): void;
  /** Settles when what has been said is out, at the latest after so long. */
  waitUntilSent(atMostMs: number): Promise<void>;
  /** Settles when nothing is under way, at the latest after so long. */
  waitUntilIdle(atMostMs: number): Promise<void>;
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
    async waitUntilIdle(atMostMs) {
      await waitAtMost(atMostMs, Promise.all(under.values()));
    },
  };
}
