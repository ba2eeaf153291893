import { type Client, CLIENT_REQUESTS, type ClientRequest } from "../../../model/client-requests.ts";
import type { CallContext } from "../../../model/skill.ts";
import type { McpLogLevel } from "./connection.ts";

/** Calls that are under way on one connection, and those behind them: what the server asks or says is for them. */
export class ActiveCallers implements Client {
  readonly #calls = new Set<CallContext>();
  readonly #abilities: Client | undefined;
  readonly #standing: Client | undefined;

  /**
   * The server is told that it may ask what `abilities` can answer; later calls bring others who can answer the same.
   * `standing` answers when nobody is calling.
   */
  constructor(abilities?: Client, standing?: Client) {
    this.#abilities = abilities;
    this.#standing = standing;
  }

  /** Those who make calls, as long as they last. */
  async trackDuring<Result>(context: CallContext, call: () => Promise<Result>): Promise<Result> {
    this.#calls.add(context);
    try {
      return await call();
    } finally {
      this.#calls.delete(context);
    }
  }

  can(request: ClientRequest): boolean {
    return this.#abilities?.can(request) === true;
  }

  /** A server does not say for which call it asks; the calls are of one caller, and the latest has the best claim. */
  async ask(request: ClientRequest, params: Readonly<Record<string, unknown>>, key?: string): Promise<unknown> {
    const able = [...this.#calls].filter(({ client }) => client?.can(request) === true);
    const client = able.at(-1)?.client ?? this.#standing;
    if (client === undefined) throw new Error("nobody is there to answer");
    const answer = client.ask(request, params, key);
    // Any of them may be the one that waits for it; whether there is an answer is for the server to hear.
    for (const { patiently } of able) void patiently?.(answer).catch(() => {});
    return answer;
  }

  /** Tells the callers; if there are several, nobody: what one server says may be for only one of them. */
  log(level: McpLogLevel, text: string): void {
    const callers = new Set([...this.#calls].map(({ caller }) => caller.id));
    if (callers.size === 1) for (const { log } of this.#calls) log(level, text);
  }
}

/** What a client can be asked, as text; empty for nobody, or for one that cannot be asked anything. */
export function formatAbilities(client: Client | undefined): string {
  return CLIENT_REQUESTS.filter((request) => client?.can(request) === true).join(" ");
}
