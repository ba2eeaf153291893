import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

import type { ConsoleEventName, ProblemDetails } from "../../messages.ts";
import { request, toProblem } from "../api.ts";
import { useReload } from "../state/reload.ts";
import { ErrorNotice, Skeleton } from "./elements.tsx";

/** Milliseconds until the next attempt after the server could not be reached. */
const RETRY_MS = 2_000;

interface LoadProps<Data> {
  /** A path below `/console/api`. */
  readonly path: string;
  /** Events after which the data is loaded again. */
  readonly reloadOn?: readonly ConsoleEventName[];
  /** Milliseconds between two loads, for data without an event. */
  readonly everyMs?: number;
  /** Lines that stand in place of the data until it arrives. */
  readonly lines?: number;
  readonly children: (data: Data, reload: () => void) => ComponentChildren;
}

/**
 * Loads data of the server, and shows it. After an error, the data of an earlier answer stays below the notice. While a new path
 * is loaded, that of the last one stays.
 */
export function Load<Data>({ path, reloadOn = [], everyMs, lines = 8, children }: LoadProps<Data>) {
  const data = useSignal<Data | undefined>(undefined);
  const error = useSignal<ProblemDetails | undefined>(undefined);
  const reload = useReload(
    path,
    reloadOn,
    (signal) => {
      let [lastStarted, lastShown] = [0, 0];
      const load = async (): Promise<void> => {
        const number = ++lastStarted;
        try {
          const answer = await request<Data>(path, { signal });
          if (number < lastShown || signal.aborted) return;
          lastShown = number;
          data.value = answer;
          error.value = undefined;
        } catch (thrown) {
          if (signal.aborted) return;
          if (lastShown === 0) data.value = undefined;
          error.value = toProblem(thrown);
          if (error.value.code === "UNREACHABLE") setTimeout(() => signal.aborted || void load(), RETRY_MS);
        }
      };
      return () => void load();
    },
    everyMs,
  );
  return (
    <>
      {error.value !== undefined && <ErrorNotice error={error.value} onRetry={reload} />}
      {data.value !== undefined && children(data.value, reload)}
      {data.value === undefined && error.value === undefined && <Skeleton lines={lines} />}
    </>
  );
}
