import type { RequestContext } from "../../model/skill.ts";
import { waitAtMost } from "../../shared/run-with-timeout.ts";
import type { Operation } from "./catalog/operations.ts";
import type { OnUpdated } from "./connections/resource-subscriptions.ts";

/** How long to wait before a lost subscription is renewed. */
const RENEW_MS = 1_000;

/** Executes an operation on the connection of a caller. */
type Perform = (operation: Operation, context: RequestContext) => Promise<unknown>;

export interface Watching {
  readonly perform: Perform;
  /** Aborts when the server is stopped for good. */
  readonly closing: AbortSignal;
  readonly onEnd: () => void;
}

/**
 * Watches a resource, also over later connections, until the returned function is called. Rejects if the server does not accept the
 * first request.
 */
export function subscribe(
  uri: string,
  onUpdated: OnUpdated,
  context: Omit<RequestContext, "signal">,
  { perform, closing, onEnd }: Watching,
): Promise<() => void> {
  const end = new AbortController();
  const signal = AbortSignal.any([end.signal, closing]);
  const ended = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  return new Promise((resolve, reject) => {
    let isAccepted = false;
    const onAccepted = (): void => {
      isAccepted = true;
      resolve(() => end.abort(new Error("the last subscriber has gone")));
    };
    const operation = subscription(uri, onUpdated, onAccepted);
    const watch = async (): Promise<void> => {
      while (!signal.aborted) {
        await perform(operation, { ...context, signal }).catch((thrown: unknown) => {
          if (isAccepted) return; // it is tried again
          end.abort(thrown);
          reject(thrown);
        });
        await waitAtMost(RENEW_MS, ended);
      }
      onEnd();
    };
    void watch();
  });
}

function subscription(uri: string, onUpdated: OnUpdated, onAccepted: () => void): Operation {
  return {
    name: "resources/subscribe",
    method: { name: "subscribe", description: "Watches a resource", input: { type: "object", properties: {} } },
    isRepeatable: false,
    send: (server, _input, { signal }) => server.watch(uri, { onUpdated, onAccepted, signal }),
    valueOf: (result) => result,
  };
}
