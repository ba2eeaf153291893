import { randomUUID } from "node:crypto";
import {
  type CallToolResult,
  type GetPromptResult,
  inputRequired,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
} from "@modelcontextprotocol/server";

import { type Cancellable, Cancellation } from "../../../../sandbox/index.ts";
import { sentence, SkillgateError } from "../../../errors.ts";
import type { Client, ClientRequest } from "../../../model/client-requests.ts";
import { type CanAnswer, fits } from "./client-answers.ts";
import type { NotificationSink } from "../notifications.ts";

/** A person may think for so long before what waits for an answer is given up. */
const SUSPENDED_TTL_MS = 10 * 60_000;

/** What waits beyond this number gives up the oldest. */
const MAX_SUSPENDED = 1_000;

/** What a request is answered with when its work is done. */
export type RequestResult = CallToolResult | GetPromptResult | ReadResourceResult;

/** What work has while it goes on, whichever request carries it at the moment. */
export interface WorkContext {
  readonly client: Client;
  /** Fires when nobody wants the result any more. */
  readonly cancellable: Cancellable;
  /** To whoever has made the request to which news belong now. */
  readonly notifications: () => NotificationSink;
  /** The protocol of 2026 has an error of its own for what a client cannot answer. */
  readonly era: "legacy" | "modern";
}

/** One request as it came. */
export interface RequestTurn {
  readonly notifications: NotificationSink;
  readonly cancellable: Cancellable;
  /** In which conversation it answers questions. */
  readonly requestState?: string;
  readonly inputResponses?: Readonly<Record<string, unknown>>;
  readonly can: CanAnswer;
  /** Who asks for what: an answer to the question of another is refused. */
  readonly subject: string;
}

/**
 * Work that may ask its client something on the way. The protocol of 2026 has no requests to clients: there, a request is
 * answered with the questions, and comes again with the answers. The work waits in between, so nothing is done twice.
 */
export interface MultiTurnRequests {
  run<Result extends RequestResult>(
    turn: RequestTurn,
    work: (workContext: WorkContext) => Promise<Result>,
  ): Promise<Result | InputRequiredResult>;
  /** Gives up what waits. */
  close(): void;
}

export function createMultiTurnRequests(): MultiTurnRequests {
  const parked = new Map<string, MultiTurnRequest>();

  function park(conversation: MultiTurnRequest, questions: Questions): InputRequiredResult {
    const requestState = randomUUID();
    parked.set(requestState, conversation);
    const [oldest] = parked.keys();
    if (parked.size > MAX_SUSPENDED && oldest !== undefined) giveUp(oldest);
    conversation.waitAtMost(SUSPENDED_TTL_MS, () => giveUp(requestState));
    return inputRequired({ inputRequests: questions, requestState });
  }

  function giveUp(requestState: string): void {
    parked.get(requestState)?.abort();
    parked.delete(requestState);
  }

  function unpark(requestState: string, subject: string): MultiTurnRequest {
    const conversation = parked.get(requestState);
    if (conversation?.subject !== subject) {
      const reason = { reason: "invalid_request_state" };
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid or expired requestState", reason);
    }
    parked.delete(requestState);
    return conversation;
  }

  return {
    async run(turn, work) {
      const state = turn.requestState;
      const conversation = state === undefined ? new MultiTurnRequest(turn, work) : unpark(state, turn.subject);
      const end = await conversation.take(turn);
      // What one conversation ends with is what its own work gave.
      return end.kind === "finished"
        ? (end.result as Awaited<ReturnType<typeof work>>)
        : park(conversation, end.questions);
    },
    close() {
      for (const state of parked.keys()) giveUp(state);
    },
  };
}

type Questions = Parameters<typeof inputRequired>[0]["inputRequests"] & object;

type TurnEnd =
  | { readonly kind: "finished"; readonly result: RequestResult }
  | { readonly kind: "asks"; readonly questions: Questions };

interface ClientQuestion {
  readonly request: ClientRequest;
  readonly params: Readonly<Record<string, unknown>>;
  readonly answer: (value: unknown) => void;
}

class MultiTurnRequest {
  readonly subject: string;
  readonly #abort = new Cancellation();
  readonly #questions = new Map<string, ClientQuestion>();
  readonly #work: Promise<RequestResult>;
  #turn: RequestTurn;
  #asked: (() => void) | undefined;
  #stopListening = (): void => {};
  #timer: NodeJS.Timeout | undefined;

  constructor(turn: RequestTurn, work: (workContext: WorkContext) => Promise<RequestResult>) {
    this.subject = turn.subject;
    this.#turn = turn;
    const client: Client = {
      can: (request) => this.#turn.can(request),
      ask: (request, params, key) => this.#ask(request, params, key),
    };
    const workContext: WorkContext = {
      client,
      cancellable: this.#abort,
      notifications: () => this.#turn.notifications,
      era: "modern",
    };
    this.#work = Promise.resolve().then(() => work(workContext));
    // It may end while nobody asks.
    this.#work.catch(() => {});
  }

  /** Goes on with the answers of a request, to the end or to the next questions. */
  async take(turn: RequestTurn): Promise<TurnEnd> {
    clearTimeout(this.#timer);
    this.#turn = turn;
    this.#stopListening();
    this.#stopListening = turn.cancellable.onCancel(() => this.abort());
    this.#deliver(turn.inputResponses);
    const finished = this.#work.then((result): TurnEnd => ({ kind: "finished", result }));
    const asked = new Promise<void>((resolve) => (this.#asked = resolve));
    if (this.#questions.size > 0) this.#asked?.();
    const end = await Promise.race([finished, asked]);
    // The request is answered now, with the result or with questions: its end is not that of the work.
    this.#stopListening();
    if (end !== undefined) return end;
    return {
      kind: "asks",
      questions: Object.fromEntries(
        [...this.#questions].map(([key, { request, params }]) => [key, { method: request, params }]),
      ) as Questions,
    };
  }

  waitAtMost(ms: number, giveUp: () => void): void {
    this.#timer = setTimeout(giveUp, ms).unref();
  }

  abort(): void {
    clearTimeout(this.#timer);
    this.#abort.cancel();
  }

  #deliver(responses: Readonly<Record<string, unknown>> | undefined): void {
    for (const [key, { request, params, answer }] of this.#questions) {
      const value = responses !== undefined && Object.hasOwn(responses, key) ? responses[key] : undefined;
      // What does not fit is asked again.
      if (!fits(request, params, value)) continue;
      this.#questions.delete(key);
      answer(value);
    }
  }

  #ask(request: ClientRequest, params: Readonly<Record<string, unknown>>, key: string | undefined): Promise<unknown> {
    if (!this.#turn.can(request, params)) return Promise.reject(cannotAsk(request));
    const early = key === undefined ? undefined : this.#earlyAnswer(key);
    if (fits(request, params, early)) return Promise.resolve(early);
    return new Promise((resolve, reject) => {
      this.#questions.set(key ?? randomUUID(), { request, params, answer: resolve });
      this.#abort.onCancel(() => reject(cannotAsk(request)));
      // Questions of the same moment go out together.
      setImmediate(() => this.#asked?.());
    });
  }

  /** A client that knows what will be asked may say it with its request. */
  #earlyAnswer(key: string): unknown {
    const { inputResponses } = this.#turn;
    return inputResponses !== undefined && Object.hasOwn(inputResponses, key) ? inputResponses[key] : undefined;
  }
}

/** Old clients are asked on the stream of the request. */
export function askedDirectly(
  can: CanAnswer,
  send: (request: ClientRequest, params: Record<string, unknown>, timeoutMs: number) => Promise<unknown>,
): Client {
  return {
    can,
    ask: async (request, params) => {
      if (!can(request, params)) throw cannotAsk(request);
      return send(request, { ...params }, SUSPENDED_TTL_MS);
    },
  };
}

function cannotAsk(request: ClientRequest): SkillgateError {
  return new SkillgateError("CLIENT_UNABLE", sentence("CLIENT_UNABLE", `nobody answers ${request}`), { request });
}
