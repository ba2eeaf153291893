import { revive } from "./crossing.ts";
import { callError, type CallFailure } from "./errors.ts";
import { create, parse } from "./primordials.ts";

/** What waits for an answer of the host, by number. The host knows only the numbers. */
interface Waiting {
  readonly fulfil: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  /** Where in the snippet the call stands, if the host cannot know: it was told later. */
  readonly stack: string | undefined;
}

const waiting = create(null) as Record<number, Waiting>;
let last = 0;

export function nextId(): number {
  return ++last;
}

/** Registers what shall happen when an answer is in; returns its number. */
export function expectAnswer(fulfil: Waiting["fulfil"], reject: Waiting["reject"], stack?: string): number {
  const id = nextId();
  waiting[id] = { fulfil, reject, stack };
  return id;
}

/** From now on an answer with this number finds nobody. */
export function forget(id: number): void {
  delete waiting[id];
}

/**
 * Hands out answers that became ready together: `[id, ok, value, id, ok, value, …]`, perhaps as JSON. `ok` is 0 for a
 * failure, 1 for a value, 2 for a value that holds bytes or dates (see `revive`).
 */
export function deliver(said: unknown): void {
  const answers = valueOf(said) as unknown[];
  for (let i = 0; i < answers.length; i += 3) {
    const id = answers[i] as number;
    const call = waiting[id];
    if (call === undefined) continue;
    forget(id);
    const ok = answers[i + 1];
    if (ok === 0) call.reject(callError(answers[i + 2] as CallFailure, call.stack));
    else call.fulfil(ok === 2 ? revive(answers[i + 2]) : answers[i + 2]);
  }
}

/** What the host says: a value, or JSON of one. It never says a plain text. */
export function valueOf(said: unknown): unknown {
  return typeof said === "string" ? parse(said) : said;
}
