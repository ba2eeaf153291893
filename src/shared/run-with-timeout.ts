import { createContext, Script } from "node:vm";

import { isRecord } from "../model/json.ts";

export const TIMED_OUT: unique symbol = Symbol("timed out");

/**
 * The result of `work`, or `TIMED_OUT`. `work` runs on this thread and can be stopped anywhere, inside a regular
 * expression too: V8 ends a script that has run too long together with all that it called. What it was changing is left
 * as it was at that moment. Costs about 0.1 ms. May be nested; the outer time counts.
 */
export function runSyncWithTimeout<T>(timeoutMs: number, work: () => T): T | typeof TIMED_OUT {
  let result: T | typeof TIMED_OUT = TIMED_OUT;
  const outer = scope.work;
  scope.work = () => {
    result = work();
  };
  try {
    script.runInContext(context, { timeout: Math.max(1, Math.ceil(timeoutMs)) });
    return result;
  } catch (error) {
    // The error is of the script's realm, and so no `instanceof Error` here.
    if (isRecord(error) && error["code"] === "ERR_SCRIPT_EXECUTION_TIMEOUT") return TIMED_OUT;
    throw error;
  } finally {
    scope.work = outer;
  }
}

const scope: { work?: (() => void) | undefined } = {};
const context = createContext(scope, { name: "bounded work" });
const script = new Script("work()");

/**
 * Waits until work settles or `ms` milliseconds have passed; ignores its result and its error. Returns true if the work has
 * settled.
 */
export async function waitAtMost(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), ms)));
  const settled = work.then(
    () => true,
    () => true,
  );
  const hasSettled = await Promise.race([settled, over]);
  clearTimeout(timer);
  return hasSettled;
}
