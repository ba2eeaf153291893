import { registerCall, forgetCall, nextId } from "./call-results.ts";
import { host } from "./host.ts";
import { OP } from "./host-protocol.ts";
import { create, define, functionText, indexOf, NativeError } from "./primordials.ts";
import { callInMicrotask } from "./microtask.ts";
import { report } from "./misreads.ts";

/** Maximum of timers that a program may have running at once. */
const MAX_TIMERS = 1_000;

const timerIds = create(null) as Record<number, number>;
const callbacks = create(null) as Record<number, object>;
let running = 0;

/** Defines `setTimeout` and its family. The host keeps the time; timers left when the program ends are dropped. */
export function defineTimers(fail: (reason: unknown) => void): void {
  const start = (name: string, again: boolean) =>
    define(globalThis, name, (callback: unknown, delay?: unknown, ...args: unknown[]): number => {
      if (typeof callback !== "function")
        throw new NativeError(`Cannot start a timer without a function: write ${name}(() => …, ms)`);
      if (running >= MAX_TIMERS) throw new NativeError(`Cannot have more than ${MAX_TIMERS} timers at once`);
      const timer = nextId();
      running++;
      callbacks[timer] = callback;
      arm(timer, toMilliseconds(delay), again, () => callInMicrotask(callback as () => void, args, fail));
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
  const id = registerCall(fulfil, fulfil, "");
  timerIds[timer] = id;
  host(OP.timer, id, `${milliseconds}`, "");
}

function clear(timer: unknown): void {
  if (typeof timer === "number") stop(timer);
}

function stop(timer: number): void {
  const id = timerIds[timer];
  if (id === undefined) return;
  delete timerIds[timer];
  delete callbacks[timer];
  running--;
  forgetCall(id);
  host(OP.timer, id, "-1", "");
}

/** Tells the host how many timers with calls the end of the program drops. A timer that ends a wait is often left on purpose. */
export function reportOpenTimers(): void {
  let count = 0;
  for (const timer in callbacks) if (mayCall(callbacks[timer] as object)) count++;
  if (count > 0) report("timer", "", count);
}

function mayCall(callback: object): boolean {
  try {
    return indexOf(functionText(callback), "device.", 0) >= 0;
  } catch {
    return false; // a proxy without a name
  }
}

function toMilliseconds(delay: unknown): number {
  const number = +(delay as number);
  return number > 1 && number < 2_147_483_647 ? number : 1;
}
