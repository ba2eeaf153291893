import { expectAnswer, forget, nextId } from "./answers.ts";
import { host } from "./host.ts";
import { OP } from "./host-protocol.ts";
import { create, define, NativeError } from "./primordials.ts";
import { callInItsOwnTurn } from "./turns.ts";

/** Timers that a snippet may have running at once. */
const MOST = 1_000;

const numberOfTimer = create(null) as Record<number, number>;
let running = 0;

/** `setTimeout` and its family. The host keeps the time; a timer that is left over when the snippet ends is dropped. */
export function defineTimers(fail: (reason: unknown) => void): void {
  const start = (name: string, again: boolean) =>
    define(globalThis, name, (callback: unknown, delay?: unknown, ...args: unknown[]): number => {
      if (typeof callback !== "function")
        throw new NativeError(`Cannot start a timer without a function: write ${name}(() => …, ms)`);
      if (running >= MOST) throw new NativeError(`Cannot have more than ${MOST} timers at once`);
      const timer = nextId();
      running++;
      arm(timer, millisecondsOf(delay), again, () => callInItsOwnTurn(callback as () => void, args, fail));
      return timer;
    });
  start("setTimeout", false);
  start("setInterval", true);
  define(globalThis, "clearTimeout", clear);
  define(globalThis, "clearInterval", clear);
}

function arm(timer: number, milliseconds: number, again: boolean, fire: () => void): void {
  const fulfil = (): void => {
    if (again) arm(timer, milliseconds, again, fire);
    else stop(timer);
    fire();
  };
  const id = expectAnswer(fulfil, fulfil, "");
  numberOfTimer[timer] = id;
  host(OP.timer, id, `${milliseconds}`, "");
}

function clear(timer: unknown): void {
  if (typeof timer === "number") stop(timer);
}

function stop(timer: number): void {
  const id = numberOfTimer[timer];
  if (id === undefined) return;
  delete numberOfTimer[timer];
  running--;
  forget(id);
  host(OP.timer, id, "-1", "");
}

function millisecondsOf(delay: unknown): number {
  const number = +(delay as number);
  return number > 1 && number < 2_147_483_647 ? number : 1;
}
