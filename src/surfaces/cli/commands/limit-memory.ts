import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import type { Runtime } from "../../../runtime.ts";

/** How much the heap may grow until V8 collects garbage, in percent of what the last collection left. */
const HEAP_GROWTH_PERCENT = 80;

/** Milliseconds without a run and a call after which a process collects its garbage. */
const REST_MS = 10_000;

/**
 * Keeps the memory of a process that serves small. V8 lets the heap grow to several times of what is in use, and does not
 * collect garbage in a process that rests. `collectGarbage` is called once after each rest.
 */
export function limitMemory(runtime: Pick<Runtime, "on">, restMs = REST_MS, collectGarbage = getCollector()): void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);
  let timer: NodeJS.Timeout | undefined;
  let busyAt = 0;
  const check = (): void => {
    const left = busyAt + restMs - performance.now();
    timer = left > 0 ? setTimeout(check, left).unref() : undefined;
    if (timer === undefined) collectGarbage();
  };
  const begin = (): void => {
    busyAt = performance.now();
    timer ??= setTimeout(check, restMs).unref();
  };
  runtime.on("run", begin);
  runtime.on("call", begin);
}

/** Node offers the collector only in contexts that are created under this flag. */
function getCollector(): () => void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  setFlagsFromString("--no-expose-gc");
  return () => collect();
}
