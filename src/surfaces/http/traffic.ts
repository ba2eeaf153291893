import type { ServerResponse } from "node:http";

/** The answers that are under way; streams that only listen do not count. */
export interface Traffic {
  began(response: ServerResponse): void;
  /** It goes on for as long as the client likes. */
  listens(response: ServerResponse): void;
  /** Settles when nothing is under way, at the latest after so long. */
  quiet(atMostMs: number): Promise<void>;
}

export function createTraffic(): Traffic {
  const under = new Set<ServerResponse>();
  const waiting: (() => void)[] = [];

  function leave(response: ServerResponse): void {
    under.delete(response);
    if (under.size === 0) for (const resolve of waiting.splice(0)) resolve();
  }

  return {
    began(response) {
      under.add(response);
      response.once("close", () => leave(response));
    },
    listens: leave,
    async quiet(atMostMs) {
      if (under.size === 0) return;
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        timer = setTimeout(resolve, atMostMs);
      });
      clearTimeout(timer);
    },
  };
}
