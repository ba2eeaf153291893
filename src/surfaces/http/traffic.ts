import { ServerResponse } from "node:http";

import { within } from "../mcp/index.ts";

/** What is under way; streams that only listen do not count. */
export interface Traffic {
  began(response: ServerResponse): void;
  /** It goes on for as long as the client likes. */
  listens(response: ServerResponse): void;
  /** The same for what is answered in another way; `work` never rejects. */
  runs(work: Promise<void>): void;
  /** Settles when what has been said is out, at the latest after so long. */
  sent(atMostMs: number): Promise<void>;
  /** Settles when nothing is under way, at the latest after so long. */
  quiet(atMostMs: number): Promise<void>;
}

export function createTraffic(): Traffic {
  const under = new Map<object, Promise<void>>();
  const add = (what: object, end: Promise<void>): void => {
    under.set(
      what,
      end.then(() => void under.delete(what)),
    );
  };
  return {
    began: (response) => add(response, new Promise((resolve) => response.once("close", resolve))),
    listens: (response) => void under.delete(response),
    runs: (work) => add({}, work),
    async sent(atMostMs) {
      const leaving = [...under].filter(([what]) => what instanceof ServerResponse && what.writableEnded);
      await within(atMostMs, Promise.all(leaving.map(([, end]) => end)));
    },
    async quiet(atMostMs) {
      await within(atMostMs, Promise.all(under.values()));
    },
  };
}
