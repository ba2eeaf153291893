/** The time that calls take in one turn of the event loop before other work gets its turn. */
const MAX_TURN_MS = 5;

/** Work for later turns. */
const waiting: (() => void)[] = [];

/** When the first work of this turn began; `undefined` before it. */
let startedAt: number | undefined;

/**
 * Runs work now, or in a later turn of the event loop if that of this turn has taken too long: a program that makes thousands of
 * calls at once must not stop the process. All programs take turns together.
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
  return waiting.length === 0 && performance.now() - startedAt < MAX_TURN_MS;
}

function beginTurn(): void {
  startedAt = undefined;
  if (waiting.length === 0) return;
  startedAt = performance.now();
  setImmediate(beginTurn);
  workOn();
}

/** Does the work that waits, one after the other: a tick comes after all that the one before has resolved. */
function workOn(): void {
  waiting.shift()?.();
  if (waiting.length > 0 && startedAt !== undefined && performance.now() - startedAt < MAX_TURN_MS)
    process.nextTick(workOn);
}
