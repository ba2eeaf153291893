/** The time that calls take in one turn of the event loop before other work gets its turn. */
const MAX_TURN_MS = 5;

/** Work for later. */
const waiting: (() => void)[] = [];

/** When the first work of this turn began; `undefined` before it. */
let startedAt: number | undefined;

/**
 * Works that begin before the first of them is done, as how long one takes is not known before. With one, a hundred calls at once
 * take 15 % longer; with four, turns take twice as long.
 */
const MAX_BEGUN = 2;

/** Works that have begun, until what they have resolved is done. */
let begun = 0;

/**
 * Runs work now, or after other work, in a later turn of the event loop if that of this turn has taken too long: a program that makes
 * thousands of calls at once must not stop the process. All programs take turns together.
 */
export function runInTurn(work: () => void): void {
  if (hasTurn()) work();
  else waiting.push(work);
}

/** Resolves when work may continue in the same way; `undefined` if that is now. */
export function waitForTurn(): Promise<void> | undefined {
  return hasTurn() ? undefined : new Promise((resolve) => waiting.push(resolve));
}

function hasTurn(): boolean {
  if (startedAt === undefined) {
    startedAt = performance.now();
    setImmediate(beginTurn);
  }
  if (begun >= MAX_BEGUN || waiting.length > 0 || !hasTime()) return false;
  begin();
  return true;
}

function hasTime(): boolean {
  return startedAt !== undefined && performance.now() - startedAt < MAX_TURN_MS;
}

function beginTurn(): void {
  startedAt = undefined;
  if (waiting.length === 0) return;
  startedAt = performance.now();
  setImmediate(beginTurn);
  workOn();
}

function workOn(): void {
  while (begun < MAX_BEGUN && hasTime()) {
    const work = waiting.shift();
    if (work === undefined) return;
    begin();
    work();
  }
}

/**
 * Continues after the microtasks, in which the work is done that follows a promise. Node empties its queue of ticks before that of
 * microtasks: only a tick that a microtask asks for comes after all of them.
 */
function begin(): void {
  if (begun++ === 0) queueMicrotask(() => process.nextTick(end));
}

function end(): void {
  begun = 0;
  workOn();
}
