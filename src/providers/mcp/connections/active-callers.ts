import { type Client, CLIENT_REQUESTS, type ClientApps, type ClientRequest } from "../../../model/client-requests.ts";
import type { RequestContext } from "../../../model/skill.ts";

/** The calls in flight on one connection. Requests and log messages of the server go to their callers. */
export class ActiveCallers implements Client {
  readonly #calls = new Set<RequestContext>();
  readonly #abilities: Client | undefined;
  readonly #standing: Client | undefined;

  /**
   * `abilities` decides which requests are announced to the server; the clients of later calls can answer the same
   * requests. `standing` answers when no call is in flight.
   */
  constructor(abilities?: Client, standing?: Client) {
    this.#abilities = abilities;
    this.#standing = standing;
  }

  /** Registers a call while it runs. */
  async trackDuring<Result>(context: RequestContext, call: () => Promise<Result>): Promise<Result> {
    this.#calls.add(context);
    try {
      return await call();
    } finally {
      this.#calls.delete(context);
    }
  }

  get apps(): ClientApps | undefined {
    return this.#abilities?.apps;
  }

  can(request: ClientRequest): boolean {
    return this.#abilities?.can(request) === true;
  }

  /** Asks the client of the latest call: a request does not name its call, and all calls are of one caller. */
  async ask(request: ClientRequest, params: Readonly<Record<string, unknown>>, key?: string): Promise<unknown> {
    const able = [...this.#calls].filter(({ client }) => client?.can(request) === true);
    const client = able.at(-1)?.client ?? this.#standing;
    if (client === undefined) throw new Error("no client can answer the request");
    const answer = client.ask(request, params, key);
    // Any of these calls may wait for the answer, so all clocks pause. A failure is reported to the server.
    for (const { pauseTimeoutFor } of able) void pauseTimeoutFor?.(answer).catch(() => {});
    return answer;
  }

  /** Logs for the caller; with several callers it logs nothing, because a message may be for only one of them. */
  log(...words: Parameters<RequestContext["log"]>): void {
    const callers = new Set([...this.#calls].map(({ caller }) => caller.id));
    if (callers.size === 1) for (const { log } of this.#calls) log(...words);
  }
}

/** Lists what a client can do for a server, as text: the requests that it answers, and its apps. Empty without a client. */
export function formatAbilities(client: Client | undefined): string {
  const requests = CLIENT_REQUESTS.filter((request) => client?.can(request) === true);
  return [...requests, ...(client?.apps === undefined ? [] : [JSON.stringify(client.apps)])].join(" ");
}
