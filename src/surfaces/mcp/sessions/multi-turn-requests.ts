import { deleteOldest } from "../../../shared/lru.ts";
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
import { createCancelReason, type CredentialLife } from "../../../model/credential.ts";
import { createLostReason, isClientLost } from "./lost-client.ts";
import { type CanAnswer, fits } from "./client-answers.ts";
import type { NotificationSink } from "../notifications.ts";

/** Milliseconds that work waits for an answer of the user before it is cancelled. */
const SUSPENDED_TTL_MS = 10 * 60_000;

/** Maximum number of suspended requests; beyond it, the oldest is cancelled. */
const MAX_SUSPENDED = 1_000;

/** Results of finished work. */
export type RequestResult = CallToolResult | GetPromptResult | ReadResourceResult;

/** Context of work, across all the requests that continue it. */
export interface WorkContext {
  readonly client: Client;
  /** Fires when the work is cancelled. */
  readonly cancellable: Cancellable;
  /** Returns the sink of the request that currently carries the work. */
  readonly notifications: () => NotificationSink;
  /** `modern` has its own protocol error for a request that a client does not support. */
  readonly era: "legacy" | "modern";
}

/** One request of a multi-turn exchange. */
export interface RequestTurn {
  readonly notifications: NotificationSink;
  readonly cancellable: Cancellable;
  /** The life of the key of the caller; the work ends with it, also while it is suspended. */
  readonly life?: CredentialLife | undefined;
  /** Identifies the suspended work whose questions this request answers. */
  readonly requestState?: string;
  readonly inputResponses?: Readonly<Record<string, unknown>>;
  readonly can: CanAnswer;
  /** Caller, method and name: state of another subject is rejected. */
  readonly subject: string;
}

/**
 * Runs work that may ask its client questions. The 2026 protocol has no requests to clients: a request is answered with
 * the questions, and the client sends it again with the answers. The work is suspended in between, so nothing runs twice.
 */
export interface MultiTurnRequests {
  run<Result extends RequestResult>(
    request: RequestTurn,
    work: (workContext: WorkContext) => Promise<Result>,
  ): Promise<Result | InputRequiredResult>;
  /** Cancels all suspended work. */
  close(): void;
}

export function createMultiTurnRequests(): MultiTurnRequests {
  const parked = new Map<string, MultiTurnRequest>();

  function park(conversation: MultiTurnRequest, questions: Questions): InputRequiredResult {
    const requestState = randomUUID();
    parked.set(requestState, conversation);
    deleteOldest(parked, () => parked.size > MAX_SUSPENDED, giveUp);
    conversation.waitAtMost(SUSPENDED_TTL_MS, () => giveUp(requestState));
    return inputRequired({ inputRequests: questions, requestState });
  }

  function giveUp(requestState: string): void {
    parked.get(requestState)?.abort(createLostReason("the client did not answer"));
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
    async run(request, work) {
      const state = request.requestState;
      const conversation = state === undefined ? new MultiTurnRequest(request, work) : unpark(state, request.subject);
      const end = await conversation.take(request);
      // The result has the type of this work: `subject` ties a state to its method and name.
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
  #request: RequestTurn;
  #onQuestion: (() => void) | undefined;
  #stopListening = (): void => {};
  #unfollow: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(request: RequestTurn, work: (workContext: WorkContext) => Promise<RequestResult>) {
    this.subject = request.subject;
    this.#request = request;
    const client: Client = {
      can: (request) => this.#request.can(request),
      ask: (request, params, key) => this.#ask(request, params, key),
    };
    const workContext: WorkContext = {
      client,
      cancellable: this.#abort,
      notifications: () => this.#request.notifications,
      era: "modern",
    };
    this.#work = Promise.resolve().then(() => work(workContext));
    // The work may fail while no request waits for it.
    this.#work.catch(() => {}).finally(() => this.#unfollow?.());
  }

  /** Continues the work with the answers of a request, until it ends or asks the next questions. */
  async take(request: RequestTurn): Promise<TurnEnd> {
    clearTimeout(this.#timer);
    this.#request = request;
    this.#stopListening();
    this.#stopListening = request.cancellable.onCancel(() => {
      const reason: unknown = request.cancellable.signal.reason;
      this.abort(isClientLost(reason) ? createLostReason("the connection is gone") : undefined);
    });
    this.#unfollow?.();
    this.#unfollow = request.life?.onEnd((why) => this.#abort.cancel(createCancelReason(why)));
    this.#deliver(request.inputResponses);
    const finished = this.#work.then((result): TurnEnd => ({ kind: "finished", result }));
    const question = new Promise<void>((resolve) => (this.#onQuestion = resolve));
    if (this.#questions.size > 0) this.#onQuestion?.();
    const end = await Promise.race([finished, question]);
    // The request is answered, so the end of its connection must no longer cancel the work.
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

  abort(reason?: Error): void {
    clearTimeout(this.#timer);
    this.#abort.cancel(reason);
  }

  #deliver(responses: Readonly<Record<string, unknown>> | undefined): void {
    for (const [key, { request, params, answer }] of this.#questions) {
      const value = responses !== undefined && Object.hasOwn(responses, key) ? responses[key] : undefined;
      // Ask again if the answer does not fit.
      if (!fits(request, params, value)) continue;
      this.#questions.delete(key);
      answer(value);
    }
  }

  #ask(request: ClientRequest, params: Readonly<Record<string, unknown>>, key: string | undefined): Promise<unknown> {
    if (!this.#request.can(request, params)) return Promise.reject(cannotAsk(request));
    const early = key === undefined ? undefined : this.#earlyAnswer(key);
    if (fits(request, params, early)) return Promise.resolve(early);
    return new Promise((resolve, reject) => {
      this.#questions.set(key ?? randomUUID(), { request, params, answer: resolve });
      this.#abort.onCancel(() => reject(cannotAsk(request)));
      // Questions asked in the same tick are sent together.
      setImmediate(() => this.#onQuestion?.());
    });
  }

  /** Returns an answer that the client sent in advance. */
  #earlyAnswer(key: string): unknown {
    const { inputResponses } = this.#request;
    return inputResponses !== undefined && Object.hasOwn(inputResponses, key) ? inputResponses[key] : undefined;
  }
}

/** Asks older clients directly, on the stream of the request. */
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
  return new SkillgateError("CLIENT_UNABLE", sentence("CLIENT_UNABLE", `no client answers ${request}`), { request });
}
