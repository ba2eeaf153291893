import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import type { ConsoleEventName, ProblemDetails } from "../../messages.ts";
import { request, toProblem } from "../api.ts";
import { onEvent, onStale } from "./events.ts";

/** Data of the server that a page shows. */
export interface Resource<Data> {
  /** `undefined` until the first answer. */
  readonly data: Signal<Data | undefined>;
  /** The error of the last request; the data of an earlier one stays. */
  readonly error: Signal<ProblemDetails | undefined>;
  readonly reload: () => void;
}

interface ResourceOptions {
  /** Events after which the data is loaded again, at most once in `EVENT_PAUSE_MS`. */
  readonly reloadOn?: readonly ConsoleEventName[];
}

/** Milliseconds between two requests that events cause. */
const EVENT_PAUSE_MS = 400;

/** Loads data from a path below `/console/api`, again when the path changes or an event arrives. */
export function useResource<Data>(path: string, { reloadOn = [] }: ResourceOptions = {}): Resource<Data> {
  const data = useSignal<Data | undefined>(undefined);
  const error = useSignal<ProblemDetails | undefined>(undefined);
  const reload = useRef(() => {});
  useEffect(() => {
    let controller: AbortController | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = async (): Promise<void> => {
      controller?.abort();
      controller = new AbortController();
      const { signal } = controller;
      try {
        data.value = await request<Data>(path, { signal });
        error.value = undefined;
      } catch (thrown) {
        if (!signal.aborted) error.value = toProblem(thrown);
      }
    };
    const schedule = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void load();
      }, EVENT_PAUSE_MS);
    };
    reload.current = () => void load();
    const stops = [...reloadOn.map((name) => onEvent(name, schedule)), onStale(schedule)];
    void load();
    return () => {
      controller?.abort();
      clearTimeout(timer);
      for (const stop of stops) stop();
    };
  }, [path]);
  return { data, error, reload: () => reload.current() };
}
