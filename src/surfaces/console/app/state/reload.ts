import { useEffect, useRef } from "preact/hooks";

import type { ConsoleEventName } from "../../messages.ts";
import { onEvent, onStale } from "./events.ts";

/** Milliseconds between two loads that events cause. */
const EVENT_PAUSE_MS = 400;

/**
 * Loads now, and again after the events, and while the page is visible every `everyMs`. `start` creates the function that loads; a new `key` starts it again. The signal aborts when
 * the key changes or the page is left. Returns the function that loads at once.
 */
export function useReload(
  key: string,
  reloadOn: readonly ConsoleEventName[],
  start: (signal: AbortSignal) => () => void,
  everyMs?: number,
): () => void {
  const current = useRef((): void => {});
  useEffect(() => {
    const controller = new AbortController();
    const load = start(controller.signal);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const schedule = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        load();
      }, EVENT_PAUSE_MS);
    };
    const stops = [...reloadOn.map((name) => onEvent(name, schedule)), onStale(schedule)];
    const interval = everyMs === undefined ? undefined : setInterval(() => document.hidden || load(), everyMs);
    current.current = load;
    load();
    return () => {
      controller.abort();
      clearTimeout(timer);
      clearInterval(interval);
      for (const stop of stops) stop();
    };
  }, [key]);
  return () => current.current();
}
