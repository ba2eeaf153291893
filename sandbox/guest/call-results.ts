import { revive } from "./serialization.ts";
import { callError, type CallFailure } from "./errors.ts";
import { create, data, parse } from "./primordials.ts";

/** What waits for an answer of the host, by number. The host knows only the numbers. */
interface WaitingCall {
  readonly fulfil: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  /** Where in the snippet the call stands, if the host cannot know: it was told later. */
  readonly stack: string | undefined;
  /** True for a call that the host knows of. */
  isUnderWay: boolean;
}

const waiting = create(null) as Record<number, WaitingCall>;
let last = 0;
let underWay = 0;

export function nextId(): number {
  return ++last;
}

/** Registers what shall happen when an answer is in; returns its number. */
export function registerCall(fulfil: WaitingCall["fulfil"], reject: WaitingCall["reject"], stack?: string): number {
  const id = nextId();
  waiting[id] = { fulfil, reject, stack, isUnderWay: false };
  return id;
}

/** The host knows of this call now. */
export function isSaid(id: number): void {
  (waiting[id] as WaitingCall).isUnderWay = true;
  underWay++;
}

/** True while the host has calls to answer. */
export function hasCallsUnderWay(): boolean {
  return underWay > 0;
}

/** From now on an answer with this number finds nobody. */
export function forgetCall(id: number): void {
  if (waiting[id]?.isUnderWay === true) underWay--;
  delete waiting[id];
}

/**
 * Takes answers that became ready together: `[id, ok, value, id, ok, value, …]`, perhaps as JSON. `ok` is 0 for a failure, 1
 * for a value, 2 for a value that holds bytes or dates (see `revive`).
 */
export function deliverResult(said: unknown): void {
  const answers = takeResult(said) as unknown[];
  if (isTouching) for (let i = 0; i < answers.length; i++) data(queue, queue.length, answers[i]);
  else for (let i = 0; i < answers.length; i += 3) give(answers, i);
}

/**
 * In a program whose promises are touched, one answer comes when all that came of the one before is done: what stands still
 * for a promise has other code run inside of it, and the less of that, the less can need what stands still itself.
 */
let isTouching = false;
let queue: unknown[] = [];
let next = 0;

export function expectTouches(): void {
  isTouching = true;
}

/** Hands out the answer that comes next, or the one of a call; false if it is not there. */
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

/** What the host says: a value, or JSON of one. It never says a plain text. */
export function takeResult(said: unknown): unknown {
  return typeof said === "string" ? parse(said) : said;
}
