import type { AwaitedRequests, RequestReport } from "./machine.ts";

/**
 * The requests that a server has received in one session. A request is accepted once. One that the server has reported as
 * missing is never accepted: its client has made it elsewhere, and someone may have recorded it.
 */
export class ReceivedRequests {
  readonly #ids = new Set<string>();
  /** Requests up to this one are not accepted any more. */
  #reported = 0;

  /** Returns true if a request is a new one. */
  accept(id: string): boolean {
    if (!(Number(id) > this.#reported) || this.#ids.has(id)) return false;
    this.#ids.add(id);
    return true;
  }

  /** Compares the requests that the client waits for with those that were received. `isRunning` is false after the end of one. */
  compare({ sent, open }: AwaitedRequests, isRunning: (id: string) => boolean): RequestReport {
    this.#reported = Math.max(this.#reported, sent);
    const waiting = new Set(open);
    for (const id of this.#ids) if (Number(id) <= sent && !waiting.has(id)) this.#ids.delete(id);
    return {
      missing: open.filter((id) => !this.#ids.has(id)),
      lost: open.filter((id) => this.#ids.has(id) && !isRunning(id)),
    };
  }
}
