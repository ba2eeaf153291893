import { revive } from "./serialization.ts";
import { callError, type CallFailure } from "./errors.ts";
import { create, data, parse } from "./primordials.ts";

/** A call or timer that waits for an answer of the host, which knows only its id. */
interface WaitingCall {
  readonly fulfil: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  /** Position of the call in the program; set only if the call was sent later, when the host cannot see it. */
  readonly stack: string | undefined;
  /** True once the call was sent to the host. */
  isUnderWay: boolean;
}

const waiting = create(null) as Record<number, WaitingCall>;
let last = 0;
let underWay = 0;

export function nextId(): number {
  return ++last;
}

/** Registers the handlers of an answer; returns their id. */
export function registerCall(fulfil: WaitingCall["fulfil"], reject: WaitingCall["reject"], stack?: string): number {
  const id = nextId();
  waiting[id] = { fulfil, reject, stack, isUnderWay: false };
  return id;
}

/** Marks a call as sent to the host. */
export function markSaid(id: number): void {
  (waiting[id] as WaitingCall).isUnderWay = true;
  underWay++;
}

/** True while the host has calls to answer. */
export function hasCallsUnderWay(): boolean {
  return underWay > 0;
}

/** Forgets a call: a later answer with this id is ignored. */
export function forgetCall(id: number): void {
  if (waiting[id]?.isUnderWay === true) underWay--;
  delete waiting[id];
}

/**
 * Receives answers that became ready together: `[id, ok, value, id, ok, value, …]`, perhaps as JSON. `ok` is 0 for a failure, 1
 * for a value, 2 for a value that holds bytes or dates (see `revive`).
 */
export function deliverResult(result: unknown): void {
  const answers = takeResult(result) as unknown[];
  if (isTouching) for (let i = 0; i < answers.length; i++) data(queue, queue.length, answers[i]);
  else for (let i = 0; i < answers.length; i += 3) give(answers, i);
}

/**
 * True in a rewritten program, whose promises may be touched. It gets its answers one by one, each after the code that the
 * last one started has run: a touch runs other code inside the waiting code, and the less of it runs there, the less
 * often it needs the waiting code itself.
 */
let isTouching = false;
let queue: unknown[] = [];
let next = 0;

export function expectTouches(): void {
  isTouching = true;
}

/** Delivers the next answer, or that of call `id` if `id` is not 0; false if it has not arrived. */
export function deliverNext(id: number): boolean {
  let at = next;
  if (id !== 0) while (at < queue.length && queue[at] !== id) at += 3;
  if (at >= queue.length) return false;
  if (at === next) next += 3;
  const answers = [queue[at], queue[at + 1], queue[at + 2]];
  for (let i = at; i < at + 3; i++) queue[i] = undefined;
  if (next >= queue.length) {
    queue = [];
    next = 0;
  }
  give(answers, 0);
  return true;
}

function give(answers: readonly unknown[], at: number): void {
  const id = answers[at] as number;
  const call = waiting[id];
  if (call === undefined) return;
  forgetCall(id);
  const ok = answers[at + 1];
  if (ok === 0) call.reject(callError(answers[at + 2] as CallFailure, call.stack));
  else call.fulfil(ok === 2 ? revive(answers[at + 2]) : answers[at + 2]);
}

/** Reads a value that the host has sent, as itself or as JSON. It never sends a plain text. */
export function takeResult(result: unknown): unknown {
  return typeof result === "string" ? parse(result) : result;
}
