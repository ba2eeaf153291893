import { getMessage } from "../../../errors.ts";
import { CLIENT_REQUESTS } from "../../../model/client-requests.ts";
import type { CallContext } from "../../../model/skill.ts";
import type { AccountAnswer } from "../../../shared/http/account-response.ts";
import { MessageTooLarge } from "./framing.ts";
import type { SkillInspector } from "./inspector.ts";
import { EventLoopSpin } from "../../../../sandbox/spin-wait.ts";
import { canSpin } from "../../../../sandbox/processors.ts";
import { type InvokeRequest, nowMs, type StoreQuestion, type Response, type AskResult } from "./messages.ts";
import { callCancelled, callFailed, toCallError, runtimeClosed } from "./skill-errors.ts";
import type { ProcessEvents } from "./skill-process.ts";
import { requireBounds } from "../../../shared/values/value-size.ts";

/** Answers a request of a running call; fails if the call has ended. */
async function answerQuestion(question: StoreQuestion, context: CallContext | undefined): Promise<AskResult> {
  if (context === undefined) return { ok: false, message: "The call has already ended" };
  try {
    const value = await performQuestion(question, context);
    requireBounds(value, `"${question.operation}"`);
    return { ok: true, value };
  } catch (error) {
    return { ok: false, message: getMessage(error) };
  }
}

/** Answers a question of a call with its store or its client. */
export function performQuestion(question: StoreQuestion, context: CallContext): Promise<unknown> {
  const { store, client } = context;
  switch (question.operation) {
    case "get":
      return store.get(question.key);
    case "set":
      return store.set(question.key, question.value);
    case "delete":
      return store.delete(question.key);
    case "entries":
      return store.entries(question.prefix);
    case "fetch":
      return fetchWithAccount(question, context);
    case "credential":
      return context.account(question.account).credential();
    case "client":
      if (client === undefined) return Promise.reject(new Error("The caller cannot answer requests"));
      return client.ask(question.request, question.params, question.key);
  }
}

async function fetchWithAccount(
  { account, url, request }: Extract<StoreQuestion, { operation: "fetch" }>,
  context: CallContext,
): Promise<AccountAnswer> {
  const response = await context.account(account).fetch(url, request);
  return { status: response.status, headers: response.headers, body: await response.bytes() };
}

/** Extra time for the report of a call that starts just before the limit. */
const START_MARGIN_MS = 250;
/** Interval between checks for such calls, while calls are pending. */
const WATCH_MS = 250;
/** Time in which the process must confirm a cancellation: with no other running call, or with some. */
const SILENCE_MS = { alone: 500, beside: 3_000 };
/** Time to spin while waiting for the answer of a call. */
const SPIN_MS = 0.2;

export type CallRequest = Omit<InvokeRequest, "kind" | "call" | "startBy" | "context" | "asks">;

/** Creates the message that starts a call, with the part of its context that is plain data. */
export function createInvokeRequest(
  call: number,
  request: CallRequest,
  context: CallContext,
  startBy: number,
): InvokeRequest {
  const { caller, runId, callId, timeoutMs, settings, secrets, client } = context;
  const timeout = timeoutMs !== undefined && { timeoutMs };
  const facts = { caller: { ...caller }, runId, callId, ...timeout, settings, secrets };
  const asks = client && { asks: CLIENT_REQUESTS.filter((each) => client.can(each)) };
  return { kind: "invoke", call, ...request, context: facts, ...asks, startBy };
}

/** The end of a call; `moved` means that it never started, so another process can run it. */
export type ProcessCallEnd =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "error"; readonly error: Error }
  | { readonly kind: "moved" };

interface ProcessCall {
  readonly path: string;
  readonly context: CallContext;
  /** On the clock of `nowMs`. */
  readonly startBy: number;
  readonly end: (end: ProcessCallEnd) => void;
  hasBegun: boolean;
}

export interface CallsOptions {
  /** The skills folder; its path is removed from errors. */
  readonly root: string;
  /** Set if a debugger may stop the process, which is then neither stopped nor left for being silent. */
  readonly inspector?: SkillInspector | undefined;
  /** Called when the process does not start its calls. Returns whether they may move to another process. */
  readonly onBlocked: () => boolean;
}

/** The pending calls of one process. */
export class Calls {
  readonly #line: ProcessEvents;
  readonly #options: CallsOptions;
  readonly #open = new Map<number, ProcessCall>();
  /** Cancelled calls that the process has not confirmed yet. */
  readonly #silent = new Map<number, NodeJS.Timeout>();
  readonly #spin = new EventLoopSpin(canSpin() ? SPIN_MS : 0);
  #last = 0;
  #watch: NodeJS.Timeout | undefined;

  constructor(line: ProcessEvents, options: CallsOptions) {
    this.#line = line;
    this.#options = options;
  }

  get #isInspected(): boolean {
    return this.#options.inspector !== undefined;
  }

  get isIdle(): boolean {
    return this.#open.size === 0;
  }

  /** Calls a method. A call that the process has not started after `startMs` moves to another process. */
  invoke(request: CallRequest, context: CallContext, startMs: number): Promise<ProcessCallEnd> {
    const { path } = request;
    const { signal } = context;
    if (signal.aborted) return Promise.resolve({ kind: "error", error: callCancelled(path, signal) });
    const number = ++this.#last;
    return new Promise((resolve) => {
      const cancel = (): void => this.#cancel(number);
      const end = (how: ProcessCallEnd): void => {
        signal.removeEventListener("abort", cancel);
        this.#open.delete(number);
        this.#spin.end();
        resolve(how);
        this.#line.changed();
      };
      signal.addEventListener("abort", cancel, { once: true });
      const call: ProcessCall = {
        path,
        context,
        startBy: this.#isInspected ? Infinity : nowMs() + startMs,
        end,
        hasBegun: false,
      };
      this.#open.set(number, call);
      this.#line.changed();
      this.#watch ??= setInterval(() => setImmediate(() => this.#checkTimeouts()), WATCH_MS).unref();
      this.#send(number, request, call);
      this.#spin.begin();
    });
  }

  onResponse(response: Extract<Response, { readonly call: number }>): void {
    const call = this.#open.get(response.call);
    switch (response.kind) {
      case "started":
        if (call !== undefined) call.hasBegun = true;
        break;
      case "late":
        call?.end({ kind: "moved" });
        break;
      case "cancelled":
        clearTimeout(this.#silent.get(response.call));
        this.#silent.delete(response.call);
        break;
      case "result":
        call?.end({ kind: "value", value: response.value });
        break;
      case "error":
        call?.end({ kind: "error", error: toCallError(call.path, response, this.#options.root) });
        break;
      case "log":
        call?.context.log(response.level, response.text);
        break;
      case "progress":
        call?.context.progress(response.done, response.total, response.text);
        break;
      case "question":
        void this.#answer(response.ask, response.question, call);
        break;
    }
  }

  /** Fails all calls because the runtime is closed. */
  giveUp(): void {
    for (const { path, end } of this.#open.values()) end({ kind: "error", error: runtimeClosed(path) });
  }

  /** Fails all calls because reports are lost. A call may have started, so none moves to another process. */
  fail(why: string): void {
    for (const { path, end } of this.#open.values()) {
      end({ kind: "error", error: callFailed(path, `did not finish: ${why}`) });
    }
  }

  /** Ends all calls because the process has exited: started ones fail, the others move. */
  close(why: string): void {
    clearInterval(this.#watch);
    for (const limit of this.#silent.values()) clearTimeout(limit);
    for (const { path, hasBegun, end } of this.#open.values()) {
      end(hasBegun ? { kind: "error", error: callFailed(path, `did not finish: ${why}`) } : { kind: "moved" });
    }
  }

  #send(call: number, request: CallRequest, { context, startBy, end }: ProcessCall): void {
    try {
      this.#line.send(createInvokeRequest(call, request, context, startBy));
    } catch (error) {
      const what =
        error instanceof MessageTooLarge ? error.message : `a value that is not plain data: ${getMessage(error)}`;
      end({ kind: "error", error: callFailed(request.path, `received ${what}`) });
    }
  }

  async #answer(ask: number, question: StoreQuestion, call: ProcessCall | undefined): Promise<void> {
    const answer = await answerQuestion(question, call?.context);
    try {
      this.#line.send({ kind: "answered", ask, ...answer });
    } catch (error) {
      const what = question.operation === "client" ? "The answer is" : "The store holds";
      this.#line.send({ kind: "answered", ask, ok: false, message: `${what} ${getMessage(error)}` });
    }
  }

  #checkTimeouts(): void {
    if (this.isIdle) {
      clearInterval(this.#watch);
      this.#watch = undefined;
    }
    for (const { hasBegun, startBy, end } of this.#open.values()) {
      const isLate = !hasBegun && nowMs() > startBy + START_MARGIN_MS;
      if (isLate && this.#options.onBlocked()) end({ kind: "moved" });
    }
  }

  /** Ends the call for its caller. A process that does not confirm the cancellation is blocked, so it is stopped. */
  #cancel(number: number): void {
    const call = this.#open.get(number);
    if (call === undefined) return;
    call.end({ kind: "error", error: callCancelled(call.path, call.context.signal) });
    this.#line.send({ kind: "cancel", call: number });
    if (!call.hasBegun || this.#isInspected) return;
    const beside = [...this.#open.values()].some(({ hasBegun }) => hasBegun);
    const stop = (): void => this.#line.stop("the skill process stopped responding");
    this.#silent.set(number, setTimeout(stop, beside ? SILENCE_MS.beside : SILENCE_MS.alone));
  }
}
