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

import { type Cancellable, Cancellation } from "../../../sandbox/index.ts";
import { sentence, SkillgateError } from "../../errors.ts";
import type { Client, ClientRequest } from "../../model/client.ts";
import { type CanAnswer, fits } from "./client-answers.ts";
import type { Line } from "./line.ts";

/** A person may think for so long before what waits for an answer is given up. */
const PARKED_MS = 10 * 60_000;

/** What waits beyond this number gives up the oldest. */
const MOST_PARKED = 1_000;

/** What a request is answered with when its work is done. */
export type Finished = CallToolResult | GetPromptResult | ReadResourceResult;

/** What work has while it goes on, whichever request carries it at the moment. */
export interface Side {
  readonly client: Client;
  /** Fires when nobody wants the result any more. */
  readonly cancellable: Cancellable;
  /** To whoever has made the request to which news belong now. */
  readonly line: () => Line;
  /** The protocol of 2026 has an error of its own for what a client cannot answer. */
  readonly era: "legacy" | "modern";
}

/** One request as it came. */
export interface Turn {
  readonly line: Line;
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
export interface Conversations {
  converse<Result extends Finished>(
    turn: Turn,
    work: (side: Side) => Promise<Result>,
  ): Promise<Result | InputRequiredResult>;
  /** Gives up what waits. */
  close(): void;
}

export function createConversations(): Conversations {
  const parked = new Map<string, Conversation>();

  function park(conversation: Conversation, questions: Questions): InputRequiredResult {
    const requestState = randomUUID();
    parked.set(requestState, conversation);
    const [oldest] = parked.keys();
    if (parked.size > MOST_PARKED && oldest !== undefined) giveUp(oldest);
    conversation.waitAtMost(PARKED_MS, () => giveUp(requestState));
    return inputRequired({ inputRequests: questions, requestState });
  }

  function giveUp(requestState: string): void {
    parked.get(requestState)?.abort();
    parked.delete(requestState);
  }

  function unpark(requestState: string, subject: string): Conversation {
    const conversation = parked.get(requestState);
    if (conversation?.subject !== subject) {
      const reason = { reason: "invalid_request_state" };
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid or expired requestState", reason);
    }
    parked.delete(requestState);
    return conversation;
  }

  return {
    async converse(turn, work) {
      const state = turn.requestState;
      const conversation = state === undefined ? new Conversation(turn, work) : unpark(state, turn.subject);
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

type End =
  | { readonly kind: "finished"; readonly result: Finished }
  | { readonly kind: "asks"; readonly questions: Questions };

interface Question {
  readonly request: ClientRequest;
  readonly params: Readonly<Record<string, unknown>>;
  readonly answer: (value: unknown) => void;
}

class Conversation {
  readonly subject: string;
  readonly #abort = new Cancellation();
  readonly #questions = new Map<string, Question>();
  readonly #work: Promise<Finished>;
  #turn: Turn;
  #asked: (() => void) | undefined;
  #stopListening = (): void => {};
  #timer: NodeJS.Timeout | undefined;

  constructor(turn: Turn, work: (side: Side) => Promise<Finished>) {
    this.subject = turn.subject;
    this.#turn = turn;
    const client: Client = {
      can: (request) => this.#turn.can(request),
      ask: (request, params, key) => this.#ask(request, params, key),
    };
    const side: Side = { client, cancellable: this.#abort, line: () => this.#turn.line, era: "modern" };
    this.#work = Promise.resolve().then(() => work(side));
    // It may end while nobody asks.
    this.#work.catch(() => {});
  }

  /** Goes on with the answers of a request, to the end or to the next questions. */
  async take(turn: Turn): Promise<End> {
    clearTimeout(this.#timer);
    this.#turn = turn;
    this.#stopListening();
    this.#stopListening = turn.cancellable.onCancel(() => this.abort());
    this.#deliver(turn.inputResponses);
    const finished = this.#work.then((result): End => ({ kind: "finished", result }));
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
      return send(request, { ...params }, PARKED_MS);
    },
  };
}

function cannotAsk(request: ClientRequest): SkillgateError {
  return new SkillgateError("CLIENT_UNABLE", sentence("CLIENT_UNABLE", `nobody answers ${request}`), { request });
}
