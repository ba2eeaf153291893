import { randomUUID } from "node:crypto";
import type { CallToolResult, GetPromptResult, inputRequired, ReadResourceResult } from "@modelcontextprotocol/server";

import { type Cancellable, Cancellation } from "../../../../sandbox/index.ts";
import type { Client, ClientRequest } from "../../../model/client-requests.ts";
import { createCancelReason, type CredentialLife } from "../../../model/credential.ts";
import type { RequestValues } from "../../../model/requests/request-values.ts";
import type { NotificationSink } from "../notifications.ts";
import { cannotAsk, type CanAnswer, fits } from "./client-answers.ts";
import { createLostReason, isClientLost } from "./lost-client.ts";

/** Results of finished work. */
export type RequestResult = CallToolResult | GetPromptResult | ReadResourceResult;

/** Context of work, across all the requests that continue it. */
export interface WorkContext {
  readonly client: Client;
  /** The headers and session values of the first request. */
  readonly requestValues: RequestValues | undefined;
  /** Fires when the work is cancelled. */
  readonly cancellable: Cancellable;
  /** Returns the sink of the request that currently carries the work. */
  readonly notifications: () => NotificationSink;
  /** `modern` has its own protocol error for a request that a client does not support. */
  readonly era: "legacy" | "modern";
  /** True if the client takes a task in place of a result. */
  readonly takesTasks: boolean;
  /** Lets the work become a task if it lasts, and its client takes tasks. */
  readonly offerTask: (offer: TaskOffer) => void;
}

/** Work that can become a task. */
export interface TaskOffer {
  /** The id of the task; a random one by default. Never resolves if the work ends before it has an id. */
  readonly id?: Promise<string>;
  /** True if the client gets a task also for work that ends at once. */
  readonly isRequired?: boolean;
  /** True for a result that only says that a recorded run continues. The task is read from the store from then on. */
  readonly isUnfinished?: (result: RequestResult) => boolean;
}

/** The context of a client whose requests never become tasks. */
export const NO_TASKS: Pick<WorkContext, "takesTasks" | "offerTask"> = { takesTasks: false, offerTask: () => {} };

/** One request of a multi-turn exchange. */
export interface RequestTurn {
  readonly notifications: NotificationSink;
  readonly cancellable: Cancellable;
  /** The life of the key of the caller; the work ends with it, also while it is suspended. */
  readonly life?: CredentialLife | undefined;
  /** Identifies the suspended work whose questions this request answers. */
  readonly requestState?: string;
  readonly requestValues: RequestValues | undefined;
  readonly inputResponses?: Readonly<Record<string, unknown>>;
  readonly can: CanAnswer;
  readonly apps?: Client["apps"];
  /** The id of the caller. */
  readonly caller: string;
  /** Method and name: state of another caller or another subject is rejected. */
  readonly subject: string;
  /** True for a call of a tool by a client that declares the tasks extension. */
  readonly takesTasks: boolean;
}

/** Questions to a client, by their keys. */
export type Questions = Parameters<typeof inputRequired>[0]["inputRequests"] & object;

/** How one request ends: with a result, with questions, or with a task that continues. */
export type TurnEnd =
  | { readonly kind: "finished"; readonly result: RequestResult }
  | { readonly kind: "asks"; readonly questions: Questions }
  | { readonly kind: "lasts"; readonly id: string };

export type WorkEnd = { readonly result: RequestResult } | { readonly error: unknown };

interface ClientQuestion {
  readonly request: ClientRequest;
  readonly params: Readonly<Record<string, unknown>>;
  readonly answer: (value: unknown) => void;
}

/** Milliseconds after which work that lasts becomes a task. Questions that are asked earlier are answered before. */
const TASK_AFTER_MS = 500;

/** Work that one request begins, and others continue with the answers to its questions. */
export class MultiTurnRequest {
  readonly caller: string;
  readonly subject: string;
  readonly #abort = new Cancellation();
  readonly #questions = new Map<string, ClientQuestion>();
  /** Keys are not used twice. */
  readonly #usedKeys = new Set<string>();
  readonly #work: Promise<WorkEnd>;
  #end: WorkEnd | undefined;
  #request: RequestTurn;
  #offer: TaskOffer | undefined;
  #onOffer: (() => void) | undefined;
  #onQuestion: (() => void) | undefined;
  #progress: string | undefined;
  /** Is called when a task has a new question, or progress. */
  #onChange: (() => void) | undefined;
  #stopListening = (): void => {};
  #unfollow: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(request: RequestTurn, work: (workContext: WorkContext) => Promise<RequestResult>) {
    this.caller = request.caller;
    this.subject = request.subject;
    this.#request = request;
    const client: Client = {
      era: "modern",
      apps: request.apps,
      can: (request) => this.#request.can(request),
      ask: (request, params, key) => this.#ask(request, params, key),
    };
    const workContext: WorkContext = {
      client,
      requestValues: request.requestValues,
      cancellable: this.#abort,
      notifications: () => (request.takesTasks ? this.#createTaskSink() : this.#request.notifications),
      era: "modern",
      takesTasks: request.takesTasks,
      offerTask: (offer) => {
        this.#offer = offer;
        this.#onOffer?.();
      },
    };
    // The work may fail while no request waits for it.
    this.#work = Promise.resolve()
      .then(() => work(workContext))
      .then(
        (result) => (this.#end = { result }),
        (error: unknown) => (this.#end = { error }),
      );
    void this.#work.then(() => this.#unfollow?.());
  }

  /** How the work has ended; `undefined` while it lasts. */
  get end(): WorkEnd | undefined {
    return this.#end;
  }

  /** Resolves when the work has ended. */
  get ended(): Promise<WorkEnd> {
    return this.#work;
  }

  /** The questions without an answer. */
  get questions(): Questions {
    return Object.fromEntries(
      [...this.#questions].map(([key, { request, params }]) => [key, { method: request, params }]),
    ) as Questions;
  }

  /** True if the work has ended, and a recorded run continues in its place. */
  get isUnfinished(): boolean {
    return this.#end !== undefined && "result" in this.#end && this.#offer?.isUnfinished?.(this.#end.result) === true;
  }

  /** True for a run, of which the store may have a record. */
  get isRun(): boolean {
    return this.#offer?.isUnfinished !== undefined;
  }

  get hasQuestions(): boolean {
    return this.#questions.size > 0;
  }

  /** Continues the work with the answers of a request, until it ends, asks the next questions, or becomes a task. */
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
    this.answer(request.inputResponses);
    const finished = this.#work.then((end) => this.#finish(end));
    const question = new Promise<void>((resolve) => (this.#onQuestion = resolve));
    if (this.#questions.size > 0) this.#onQuestion?.();
    const turns = request.takesTasks ? [finished, question, this.#whenLasting()] : [finished, question];
    try {
      return (await Promise.race(turns)) ?? { kind: "asks", questions: this.questions };
    } finally {
      // The request is answered, so the end of its connection must no longer cancel the work.
      this.#stopListening();
      clearTimeout(this.#timer);
    }
  }

  waitAtMost(ms: number, giveUp: () => void): void {
    this.#timer = setTimeout(giveUp, ms).unref();
  }

  /** The newest progress of work that can become a task. */
  get progress(): string | undefined {
    return this.#progress;
  }

  /** Continues without a request. Calls a listener when a question is asked, and when there is progress. */
  detach(onChange: () => void): void {
    const { inputResponses: _responses, ...request } = this.#request;
    this.#request = request;
    this.#onQuestion = onChange;
    this.#onChange = onChange;
  }

  abort(reason?: Error): void {
    clearTimeout(this.#timer);
    this.#abort.cancel(reason);
  }

  /** Answers open questions. An answer that does not fit leaves its question open; others are ignored. */
  answer(responses: Readonly<Record<string, unknown>> | undefined): void {
    for (const [key, { request, params, answer }] of this.#questions) {
      const value = responses !== undefined && Object.hasOwn(responses, key) ? responses[key] : undefined;
      if (!fits(request, params, value)) continue;
      this.#questions.delete(key);
      answer(value);
    }
  }

  async #finish(end: WorkEnd): Promise<TurnEnd> {
    if (this.#request.takesTasks && this.#offer !== undefined) {
      const { isRequired = false, isUnfinished } = this.#offer;
      const isTask = isRequired || ("result" in end && isUnfinished?.(end.result) === true);
      if (isTask) return this.#becomeTask(this.#offer);
    }
    if ("error" in end) throw end.error;
    return { kind: "finished", result: end.result };
  }

  /** Resolves when the work has lasted for `TASK_AFTER_MS`, and has offered to become a task. */
  async #whenLasting(): Promise<TurnEnd> {
    await new Promise<void>((resolve) => this.waitAtMost(TASK_AFTER_MS, resolve));
    if (this.#offer === undefined) await new Promise<void>((resolve) => (this.#onOffer = resolve));
    return this.#becomeTask(this.#offer ?? {});
  }

  async #becomeTask({ id }: TaskOffer): Promise<TurnEnd> {
    return { kind: "lasts", id: (await id) ?? randomUUID() };
  }

  /** Keeps progress for a task, also if the request does not ask for notifications of it. A task sends no notifications. */
  #createTaskSink(): NotificationSink {
    const { isEnabled, progressToken, notify } = this.#request.notifications;
    return {
      progressToken: progressToken ?? "task",
      isEnabled: (level) => this.#onChange === undefined && isEnabled(level),
      notify: async (method, params) => {
        const isProgress = method === "notifications/progress";
        if (isProgress) this.#progress = formatProgress(params);
        if (this.#onChange !== undefined) this.#onChange();
        else if (!isProgress || progressToken !== undefined) await notify(method, params);
      },
    };
  }

  #ask(request: ClientRequest, params: Readonly<Record<string, unknown>>, key: string | undefined): Promise<unknown> {
    if (!this.#request.can(request, params)) return Promise.reject(cannotAsk(request));
    const early = key === undefined ? undefined : this.#earlyAnswer(key);
    if (fits(request, params, early)) return Promise.resolve(early);
    const id = key === undefined || this.#usedKeys.has(key) ? randomUUID() : key;
    this.#usedKeys.add(id);
    return new Promise((resolve, reject) => {
      this.#questions.set(id, { request, params, answer: resolve });
      this.#abort.onCancel(() => {
        this.#questions.delete(id);
        reject(cannotAsk(request));
      });
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

function formatProgress({ progress, total, message }: Readonly<Record<string, unknown>>): string {
  if (typeof message === "string") return message;
  return [progress, total].filter((value) => typeof value === "number").join("/");
}
